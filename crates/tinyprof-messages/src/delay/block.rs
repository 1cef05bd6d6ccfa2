//! All that a rank keeps of causes, in words that survive it and that others read: its page, its
//! table of costs, and what could not be found out.

use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use tinyprof_segment::primitive::AtomicU64;
use tinyprof_segment::sequence;

use super::costs::{Costs, DelayCosts};
use super::kept::Kept;
use super::layout::{SEQUENCE, Sizes};
use super::ledger::{Ledger, Losses};
use super::list::add;
use super::page::Page;
use super::parts::path_of;
use super::record::RankCauses;

/// The attempts to read a block. Each fails only if its rank has entered or left a call meanwhile.
const TRIES: usize = 10_000;

// The words at the begin: 1 more than the rank, and what was not found out.
const RANK: usize = 0;
const LOSSES: Range<usize> = 1..6;
const HEAD: usize = 8;

/// The words of a rank.
#[derive(Clone, Copy, Debug)]
pub struct Block<'m> {
    words: &'m [AtomicU64],
    sizes: Sizes,
}

impl<'m> Block<'m> {
    /// Returns the number of words of a block.
    #[must_use]
    pub const fn words(sizes: &Sizes) -> usize {
        HEAD + sizes.words() + Costs::words(Costs::ENTRIES)
    }

    /// Returns the block in these words, which are 0 at first.
    ///
    /// # Panics
    /// If there are fewer words than [`words`](Self::words).
    #[must_use]
    pub fn new(words: &'m [AtomicU64], sizes: Sizes) -> Self {
        Self { words: &words[..Self::words(&sizes)], sizes }
    }

    /// Begins to write the block, as a rank in the world. Its words are 0.
    #[must_use]
    pub fn begin(&self, rank: u32) -> (Ledger<'m>, Costs<'m>) {
        self.words[RANK].store(u64::from(rank) + 1, Release);
        (Ledger::new(self.page_words(), self.sizes, rank), Costs::new(self.table()))
    }

    /// Returns the page, for other ranks.
    #[must_use]
    pub fn page(&self) -> Page<'m> {
        Page::new(self.page_words(), self.sizes)
    }

    /// Notes what the ledger could not find out.
    pub fn note(&self, losses: &Losses) {
        let Losses { unread, late, forgotten, .. } = *losses;
        for (word, number) in self.losses().iter().zip([unread, late, forgotten]) {
            word.store(number, Relaxed);
        }
    }

    /// Adds waiting that was too short to be looked at.
    #[inline]
    pub fn add_short(&self, ns: u64) {
        add(&self.losses()[3], ns);
    }

    /// Adds waiting of which nobody looked for the cause. Any thread may call it.
    pub fn add_unfollowed(&self, ns: u64) {
        self.losses()[4].fetch_add(ns, Relaxed);
    }

    /// Returns what the block says now, with the rank; `None` if no rank writes it, or if it kept
    /// changing. Any thread, and another process, may call it. Allocates.
    #[must_use]
    pub fn read(&self) -> Option<(u32, RankCauses)> {
        let rank = self.words[RANK].load(Acquire).checked_sub(1)?;
        let rank = u32::try_from(rank).ok()?;
        let path = retry(|| {
            let page = self.page_words();
            let parts = || path_of(Ledger::parts_in(page, self.sizes, rank));
            sequence::try_read(&page[SEQUENCE], parts)
        })?;
        let costs = retry(|| DelayCosts::read(self.table()))?;
        let losses = Losses::of_words(self.losses());
        Some((rank, RankCauses { costs, path, losses }))
    }

    /// Copies what the block says to words that survive the rank. Owner only, between two changes.
    ///
    /// # Cost
    /// 2 us, and twice 27 KiB of memory.
    pub fn keep(&self, kept: &Kept<'_>) {
        let rank = self.words[RANK].load(Relaxed);
        let of = u32::try_from(rank.saturating_sub(1)).unwrap_or(u32::MAX);
        let path = Ledger::parts_in(self.page_words(), self.sizes, of);
        kept.write(rank, self.losses(), path, self.table());
    }

    fn losses(&self) -> &'m [AtomicU64] {
        &self.words[LOSSES]
    }

    fn page_words(&self) -> &'m [AtomicU64] {
        &self.words[HEAD..HEAD + self.sizes.words()]
    }

    fn table(&self) -> &'m [AtomicU64] {
        &self.words[HEAD + self.sizes.words()..]
    }
}

fn retry<T>(read: impl Fn() -> Option<T>) -> Option<T> {
    (0..TRIES).find_map(|_| {
        let read = read();
        if read.is_none() {
            std::hint::spin_loop();
        }
        read
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delay::{Activity, Wait};

    #[test]
    fn a_block_says_what_its_ledger_says() {
        let sizes = Sizes { activities: 4, causes: 4, path: 4, partners: 2, finest: 1_000 };
        let words: Vec<AtomicU64> = (0..Block::words(&sizes)).map(|_| AtomicU64::new(0)).collect();
        let block = Block::new(&words, sizes);
        assert_eq!(block.read(), None, "nobody writes it");
        let (mut ledger, mut costs) = block.begin(3);
        let activity = Activity::from_number(5);
        ledger.add(activity, 40, 40);
        let wait = Wait {
            callpath: 9,
            activity,
            partner: 1,
            entered_ns: 40,
            left_ns: 100,
            waited_ns: 50,
            partner_ns: 90,
            lost_ns: 0,
            is_mutual: false,
            is_over: false,
        };
        ledger.wait(&wait, None, &mut costs);
        block.note(&ledger.losses());
        block.add_short(7);
        block.add_unfollowed(8);
        let (rank, found) = block.read().unwrap();
        let losses = Losses { unread: 1, short_ns: 7, unfollowed_ns: 8, ..Losses::default() };
        assert_eq!((rank, found.losses), (3, losses));
        assert_eq!(found.costs.entries[0].direct.ns, 50);
        assert_eq!(found.path.iter().map(|part| part.ns).sum::<u64>(), 100);
    }
}
