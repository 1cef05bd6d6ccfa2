//! A rank that is killed leaves two copies of its causes, written in turns, so that one is
//! always whole.
//!
//! ```text
//!  | sequence | copy | copy |
//!
//!  copy    | rank + 1 | losses | parts in use | cause, ns | ... | table of costs |
//! ```
//!
//! The sequence counter is that of the newest copy, times 2. It is stored behind the copy, so in
//! the file of a killed rank it names a copy that is whole. The other one is being written.

use std::ops::Range;
use std::sync::atomic::Ordering::{Relaxed, Release};

use tinyprof_segment::primitive::{AtomicU64, fence};
use tinyprof_segment::sequence;

use super::cause::Cause;
use super::costs::{Costs, DelayCosts};
use super::layout::Sizes;
use super::ledger::Losses;
use super::list::Word;
use super::parts::path_of;
use super::record::RankCauses;

const SEQUENCE: usize = 0;
/// The words before the copies: a line of the cache.
const HEAD: usize = 8;

// The words of a copy.
const RANK: usize = 0;
const LOSSES: Range<usize> = 1..6;
const USED: usize = 6;
const PARTS: usize = 8;

/// The words in which a rank keeps copies of its causes.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'m> {
    words: &'m [AtomicU64],
    sizes: Sizes,
}

impl<'m> Kept<'m> {
    /// Returns the number of words.
    #[must_use]
    pub const fn words(sizes: &Sizes) -> usize {
        HEAD + 2 * copy_words(sizes)
    }

    /// Returns the copies in these words, which are 0 at first. `None` if there are fewer words
    /// than [`words`](Self::words).
    #[must_use]
    pub fn new(words: &'m [AtomicU64], sizes: Sizes) -> Option<Self> {
        Some(Self { words: words.get(..Self::words(&sizes))?, sizes })
    }

    /// Writes the older copy anew. Owner only.
    pub(super) fn write(
        &self,
        rank: u64,
        losses: &[AtomicU64],
        path: impl Iterator<Item = (Cause, u64)>,
        costs: &[AtomicU64],
    ) {
        let sequence = self.words[SEQUENCE].load(Relaxed).wrapping_add(2);
        // A reader that finds a word of this copy finds the counter of the one before, too.
        fence(Release);
        let copy = &self.words[self.copy(sequence)];
        copy[RANK].store(rank, Relaxed);
        for (to, from) in copy[LOSSES].iter().zip(losses) {
            to.store(from.get(), Relaxed);
        }
        let mut used = 0;
        let (parts, table) = copy[PARTS..].split_at(2 * parts_max(&self.sizes));
        for (to, (cause, ns)) in parts.chunks_exact(2).zip(path.filter(|(_, ns)| *ns > 0)) {
            to[0].store(cause.to_word(), Relaxed);
            to[1].store(ns, Relaxed);
            used += 1;
        }
        copy[USED].store(used, Relaxed);
        for (to, from) in table.iter().zip(costs) {
            to.store(from.get(), Relaxed);
        }
        sequence::publish(&self.words[SEQUENCE], sequence);
    }

    /// Returns the newest copy, with the rank; `None` if there is none, or if new ones kept coming.
    /// Any thread, and another process, may call it, and on words that were damaged. Allocates.
    #[must_use]
    pub fn read(&self) -> Option<(u32, RankCauses)> {
        sequence::retry(|| sequence::try_read(&self.words[SEQUENCE], || self.newest()))?
    }

    fn newest(&self) -> Option<(u32, RankCauses)> {
        let copy = &self.words[self.copy(self.words[SEQUENCE].get())];
        let rank = u32::try_from(copy[RANK].get().checked_sub(1)?).ok()?;
        let losses = Losses::of_words(&copy[LOSSES]);
        let (parts, table) = copy[PARTS..].split_at(2 * parts_max(&self.sizes));
        let used = usize::try_from(copy[USED].get()).unwrap_or(usize::MAX);
        let parts = parts.chunks_exact(2).take(used);
        let path = path_of(parts.map(|part| (Cause::from_word(part[0].get()), part[1].get())));
        Some((rank, RankCauses { costs: DelayCosts::read(table)?, path, losses }))
    }

    /// Returns where the copy of this sequence counter is.
    fn copy(&self, sequence: u64) -> Range<usize> {
        let begin = HEAD + if sequence & 2 == 0 { 0 } else { copy_words(&self.sizes) };
        begin..begin + copy_words(&self.sizes)
    }
}

/// Returns the parts of a path that a rank has at most: those that it took over, its own, and what
/// is in neither list.
const fn parts_max(sizes: &Sizes) -> usize {
    sizes.path + sizes.activities + 2
}

const fn copy_words(sizes: &Sizes) -> usize {
    PARTS + 2 * parts_max(sizes) + Costs::words(Costs::ENTRIES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delay::{Activity, Block, Wait};

    const SIZES: Sizes = Sizes { activities: 4, causes: 4, path: 4, partners: 2, finest: 1_000 };

    fn memory(words: usize) -> Vec<AtomicU64> {
        (0..words).map(|_| AtomicU64::new(0)).collect()
    }

    fn wait(left_ns: u64) -> Wait {
        Wait {
            callpath: 9,
            activity: Activity::from_number(5),
            partner: 1,
            entered_ns: left_ns - 60,
            left_ns,
            waited_ns: 50,
            partner_ns: left_ns - 10,
            lost_ns: 0,
            is_mutual: false,
            is_over: false,
        }
    }

    #[test]
    fn a_copy_is_what_the_block_said() {
        let (words, kept) = (memory(Block::words(&SIZES)), memory(Kept::words(&SIZES)));
        let (block, kept) = (Block::new(&words, SIZES), Kept::new(&kept, SIZES).unwrap());
        assert_eq!(kept.read(), None, "nothing was kept");
        let (mut ledger, mut costs) = block.begin(3);
        for round in 1..=5 {
            ledger.add(Activity::from_number(round), 40, 100 * round - 60);
            ledger.wait(&wait(100 * round), None, &mut costs);
            block.note(&ledger.losses());
            let before = kept.read();
            block.keep(&kept);
            assert_eq!(kept.read(), block.read(), "round {round}");
            assert_ne!(kept.read(), before);
        }
    }

    #[test]
    fn a_copy_that_was_not_finished_leaves_the_one_before() {
        let (words, kept) = (memory(Block::words(&SIZES)), memory(Kept::words(&SIZES)));
        let block = Block::new(&words, SIZES);
        let (mut ledger, mut costs) = block.begin(0);
        ledger.wait(&wait(100), None, &mut costs);
        let whole = Kept::new(&kept, SIZES).unwrap();
        block.keep(&whole);
        let (found, sequence) = (whole.read(), kept[SEQUENCE].get());
        ledger.wait(&wait(200), None, &mut costs);
        block.keep(&whole);
        assert_ne!(whole.read(), found);
        // Killed before the last store.
        kept[SEQUENCE].store(sequence, Relaxed);
        assert_eq!(whole.read(), found);
    }

    #[test]
    fn damaged_words_are_no_causes_or_other_ones() {
        let words: Vec<AtomicU64> =
            (0..Kept::words(&SIZES)).map(|at| AtomicU64::new(u64::MAX - 1 - at as u64)).collect();
        let kept = Kept::new(&words, SIZES).unwrap();
        assert_eq!(kept.read(), None);
        words[SEQUENCE].store(2, Relaxed);
        words[kept.copy(2).start].store(1, Relaxed);
        drop(kept.read());
        assert!(Kept::new(&words[1..], SIZES).is_none(), "too few words");
    }
}
