//! A rank's page: the words that the ranks of a host share, for reading.
//!
//! One rank writes a page, any rank reads it, at any time, under the sequence counter of
//! [`tinyprof_segment::sequence`]. A rank that has waited reads the page of the rank that it has
//! waited for, which goes on meanwhile.

use tinyprof_segment::primitive::AtomicU64;
use tinyprof_segment::sequence;

use super::instance::Instance;
use super::layout::{ANCHOR_HEAD, ANCHORS, PARTNER_HEAD, SEQUENCE, STATES, Sizes, WAITS, WAYS};
use super::list::{List, Word};
use super::log;
use super::pulled::{Origin, Pulled};

/// The attempts to read a page. Each fails only if its rank has entered or left a call meanwhile.
const TRIES: usize = 16;

/// A question of a rank about another one.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// The rank that wants it.
    pub(super) reader: u32,
    /// The moment at which the other one came: what it did afterwards does not count.
    pub(super) until_ns: u64,
    /// When it has synchronised with the other one, as far as it knows.
    pub(super) since_ns: u64,
    /// The operations of all ranks of a communicator that it has left last.
    pub(super) instances: [Instance; ANCHORS],
}

/// The page of a rank, for reading.
#[derive(Clone, Copy, Debug)]
pub struct Page<'m> {
    words: &'m [AtomicU64],
    sizes: Sizes,
}

impl<'m> Page<'m> {
    /// Returns the page in these words, which are 0 at first.
    ///
    /// # Panics
    /// If there are fewer words than [`Sizes::words`].
    #[must_use]
    pub fn new(words: &'m [AtomicU64], sizes: Sizes) -> Self {
        Self { words: &words[..sizes.words()], sizes }
    }

    /// Copies what a rank wants to know. Returns false if the page changed in each of 16 attempts;
    /// then `pulled` is of no meaning.
    ///
    /// # Cost
    /// That of reading the entries in use: no allocation, no waiting.
    #[must_use]
    pub fn pull(&self, wanted: &Wanted, pulled: &mut Pulled) -> bool {
        let sequence = &self.words[SEQUENCE];
        (0..TRIES).any(|_| {
            let copied = sequence::try_read(sequence, || self.copy(wanted, pulled));
            copied.is_some() || {
                std::hint::spin_loop();
                false
            }
        })
    }

    /// Returns when the rank came back to MPI for the last time in this time, after it had been out
    /// of it for at least `ns_min`. `None` if it did not, or if nobody knows any more.
    #[must_use]
    pub fn came_ns(&self, time_ns: [u64; 2], ns_min: u64) -> Option<u64> {
        let (sequence, log) = (&self.words[SEQUENCE], &self.words[self.sizes.log()]);
        (0..TRIES)
            .find_map(|_| sequence::try_read(sequence, || log::gap_end(log, time_ns, ns_min)))
            .flatten()
    }

    fn copy(&self, wanted: &Wanted, pulled: &mut Pulled) {
        let sizes = &self.sizes;
        let waits = self.words[WAITS].get();
        let states = (0..STATES as u64).map(|back| sizes.state(waits.wrapping_sub(back)));
        let mut states = states.filter(|state| self.words[state.since].get() <= wanted.until_ns);
        let state = states.next();
        pulled.is_late = state.is_none();
        let state = state.unwrap_or(sizes.state(waits.wrapping_add(1)));
        let [to_clock, to_base, to_blame, to_path] = pulled.state();
        List::new(&self.words[sizes.clock()]).copy_to(to_clock);
        let is_whole = log::take_back(&self.words[sizes.log()], wanted.until_ns, to_clock);
        for ([begin, end], to) in
            [(state.base, to_base), (state.blame, to_blame), (state.path, to_path)]
        {
            List::new(&self.words[begin..end]).copy_to(to);
        }
        pulled.is_late |= !is_whole;
        let mut since = (wanted.since_ns, None);
        if let Some(found) = self.partner(wanted.reader) {
            let at_ns = self.words[found + 1].get();
            if at_ns > since.0 && at_ns <= wanted.until_ns {
                since = (at_ns, Some(found));
            }
        }
        let mut origin = since.1.map_or(Origin::Unknown, |_| Origin::Partner(since.0));
        let mut begin = since.1.map(|found| found + PARTNER_HEAD);
        for number in 0..ANCHORS {
            let at = sizes.anchor(number);
            let instance =
                Instance { communicator: self.words[at].get(), number: self.words[at + 1].get() };
            let at_ns = self.words[at + 2].get();
            let is_known = instance.communicator != 0 && wanted.instances.contains(&instance);
            if is_known && at_ns > since.0 && at_ns <= wanted.until_ns {
                since.0 = at_ns;
                origin = Origin::Instance(instance, at_ns);
                begin = Some(at + ANCHOR_HEAD);
            }
        }
        pulled.origin = origin;
        let Some(begin) = begin else { return };
        let (clock, blame) = sizes.of_moment(begin);
        let [to_clock, to_blame, to_reader] = pulled.moment();
        List::new(&self.words[clock]).copy_to(to_clock);
        List::new(&self.words[blame]).copy_to(to_blame);
        if matches!(origin, Origin::Partner(_)) {
            let (clock, _) = sizes.of_moment(begin + sizes.moment());
            List::new(&self.words[clock]).copy_to(to_reader);
        }
    }

    /// Returns where the rank has noted when it synchronised with another one.
    pub(super) fn partner(&self, rank: u32) -> Option<usize> {
        let set = rank as usize % self.sizes.sets() * WAYS;
        let mut places = (set..set + WAYS).map(|number| self.sizes.partner(number));
        places.find(|place| self.words[*place].get() == u64::from(rank) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delay::cause::Activity;
    use crate::delay::ledger::Ledger;

    const SIZES: Sizes = Sizes { activities: 4, causes: 4, path: 4, partners: 2, finest: 1_000 };

    fn memory() -> Vec<AtomicU64> {
        (0..SIZES.words()).map(|_| AtomicU64::new(0)).collect()
    }

    #[test]
    fn a_reader_sees_a_page_between_changes_only() {
        let (words, mut pulled) = (memory(), Pulled::new(SIZES));
        let (end, wanted) =
            (AtomicU64::new(0), Ledger::new(&memory(), SIZES, 1).wanted(0, u64::MAX));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut ledger = Ledger::new(&words, SIZES, 0);
                for number in 0..200_000 {
                    ledger.add(Activity::from_number(number % 7 + 1), 3, number);
                }
                end.store(1, std::sync::atomic::Ordering::Release);
            });
            let page = Page::new(&words, SIZES);
            while end.load(std::sync::atomic::Ordering::Acquire) == 0 {
                if page.pull(&wanted, &mut pulled) {
                    let entries: u64 = pulled.clock().entries().map(|(_, ns)| ns).sum();
                    assert!(entries <= pulled.clock().total_ns());
                    assert_eq!(pulled.clock().total_ns() % 3, 0);
                }
            }
        });
        assert!(Page::new(&words, SIZES).pull(&wanted, &mut pulled));
        assert_eq!(pulled.clock().total_ns(), 600_000);
    }

    #[test]
    fn a_page_whose_owner_died_within_a_change_is_not_read() {
        let words = memory();
        let wanted = Ledger::new(&memory(), SIZES, 1).wanted(0, 0);
        assert!(sequence::begin_update(&words[SEQUENCE]));
        assert!(!Page::new(&words, SIZES).pull(&wanted, &mut Pulled::new(SIZES)));
    }

    #[test]
    fn pages_of_other_sizes_do_no_harm() {
        let words = memory();
        let mut ledger = Ledger::new(&words, SIZES, 0);
        (1..9).for_each(|number| ledger.add(Activity::from_number(number), 5, number));
        let small = Sizes { activities: 1, causes: 1, path: 1, partners: 1, finest: 1 };
        let mut pulled = Pulled::new(small);
        let wanted = Ledger::new(&memory(), SIZES, 1).wanted(0, 100);
        assert!(ledger.page().pull(&wanted, &mut pulled));
        assert_eq!(pulled.clock().used(), 1);
    }
}
