//! The result on a rank: what its waiting was due to, by the callpath of the wait.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::primitive::AtomicU64;
use tinyprof_segment::sequence;

use super::cause::Cause;
use super::list::{Word, add};

/// The way in which a cause has made a rank wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The rank waited for the one whose activity was longer.
    Direct,
    /// It waited for a rank that had waited itself.
    Propagated,
}

/// Time and the number of waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The time waited, in ns.
    pub ns: u64,
    /// The waits of which this was a cause.
    pub count: u64,
}

/// A cause of a rank's waiting at a callpath.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayCost {
    /// The callpath of the waits.
    pub callpath: u64,
    /// The rank and the activity that caused them.
    pub cause: Cause,
    /// Waits for the rank itself.
    pub direct: Cost,
    /// Waits for ranks that had waited, directly or not, for it.
    pub propagated: Cost,
}

impl DelayCost {
    /// Returns the time waited, in ns.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.direct.ns.saturating_add(self.propagated.ns)
    }
}

// The words: the sequence counter, the number of waits, what has no entry, then sets of entries.
const SEQUENCE: usize = 0;
const OTHER: usize = 1;
const HEAD: usize = 8;
/// An entry: callpath, cause, time and count of direct waits, and of propagated ones.
const ENTRY: usize = 6;
const CALLPATH: usize = 0;
const CAUSE: usize = 1;
const SUMS: usize = 2;
/// The entries among which a new one looks for a place, and the least gives way.
const WAYS: usize = 8;
/// The golden ratio, for hashes: their upper bits depend on all bits.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// A bounded table of delay costs, in words that others read.
///
/// A full set of entries evicts its smallest; evicted costs are added to `[other]`.
/// As a new entry inherits the rank of the one before, one with a large share stays.
#[derive(Debug)]
pub struct Costs<'m> {
    words: &'m [AtomicU64],
    inherited_ns: Box<[u64]>,
}

impl<'m> Costs<'m> {
    /// The entries of the recorder's table, which has 24 KiB.
    pub const ENTRIES: usize = 512;

    /// Returns the words of a table of at least this many entries.
    #[must_use]
    pub const fn words(entries: usize) -> usize {
        HEAD + entries.div_ceil(WAYS) * WAYS * ENTRY
    }

    /// Returns the table in these words, all 0.
    ///
    /// # Panics
    /// If there are fewer words than for one entry.
    #[must_use]
    pub fn new(words: &'m [AtomicU64]) -> Self {
        let entries = words.len().saturating_sub(HEAD) / ENTRY / WAYS * WAYS;
        assert!(entries > 0, "a table of costs has at least {} words", Self::words(1));
        Self { words, inherited_ns: vec![0; entries].into_boxed_slice() }
    }

    /// Adds the parts of a wait.
    pub(super) fn add(&mut self, callpath: u64, parts: impl Iterator<Item = (Cause, Kind, u64)>) {
        if !sequence::begin_update(&self.words[SEQUENCE]) {
            return;
        }
        for (cause, kind, ns) in parts {
            let sum = match kind {
                Kind::Direct => 0,
                Kind::Propagated => 2,
            };
            let at = match cause {
                Cause::OTHER => OTHER + sum,
                _ => self.entry(callpath, cause) + SUMS + sum,
            };
            add(&self.words[at], ns);
            add(&self.words[at + 1], 1);
        }
        sequence::end_update(&self.words[SEQUENCE]);
    }

    /// Returns where the entry of a callpath and a cause is, which is made if there is none.
    fn entry(&mut self, callpath: u64, cause: Cause) -> usize {
        let mixed = (cause.to_word().wrapping_mul(FACTOR) ^ callpath).wrapping_mul(FACTOR);
        let sets = self.inherited_ns.len() / WAYS;
        let set = (mixed >> 40) as usize % sets * WAYS;
        let words = self.words;
        for number in set..set + WAYS {
            let found = [CAUSE, CALLPATH].map(|word| words[at(number) + word].get());
            if found == [cause.to_word(), callpath] {
                return at(number);
            }
            // A free entry is all 0, as is that of cause and callpath 0.
            if found == [0, 0] {
                words[at(number) + CALLPATH].store(callpath, Relaxed);
                words[at(number) + CAUSE].store(cause.to_word(), Relaxed);
                return at(number);
            }
        }
        self.replace(set, callpath, cause)
    }

    #[cold]
    #[inline(never)]
    fn replace(&mut self, set: usize, callpath: u64, cause: Cause) -> usize {
        let words = self.words;
        let order = |number: usize| {
            let sums = at(number) + SUMS;
            words[sums].get() + words[sums + 2].get() + self.inherited_ns[number]
        };
        let least = (set..set + WAYS).map(|number| (order(number), number)).min();
        let (least_ns, number) = least.unwrap_or((0, set));
        self.inherited_ns[number] = least_ns;
        for sum in 0..4 {
            let word = &words[at(number) + SUMS + sum];
            add(&words[OTHER + sum], word.get());
            word.store(0, Relaxed);
        }
        words[at(number) + CALLPATH].store(callpath, Relaxed);
        words[at(number) + CAUSE].store(cause.to_word(), Relaxed);
        at(number)
    }
}

const fn at(number: usize) -> usize {
    HEAD + number * ENTRY
}

/// The delay costs of a rank, as plain values: what a profile stores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayCosts {
    /// The entries, by callpath and cause.
    pub entries: Vec<DelayCost>,
    /// Direct waiting of no entry.
    pub other_direct: Cost,
    /// Propagated waiting of no entry.
    pub other_propagated: Cost,
}

impl DelayCosts {
    /// Reads the words of a table; `None` if it changed meanwhile. The caller is its writer, or
    /// holds a copy.
    #[must_use]
    pub fn read(words: &[AtomicU64]) -> Option<Self> {
        sequence::try_read(words.get(SEQUENCE)?, || {
            let cost = |at: usize| {
                let [ns, count] = [at, at + 1].map(|at| words.get(at).map_or(0, Word::get));
                Cost { ns, count }
            };
            let entries = words.get(HEAD..).unwrap_or_default().chunks_exact(ENTRY).enumerate();
            let entries = entries.map(|(number, entry)| DelayCost {
                callpath: entry[CALLPATH].get(),
                cause: Cause::from_word(entry[CAUSE].get()),
                direct: cost(at(number) + SUMS),
                propagated: cost(at(number) + SUMS + 2),
            });
            let mut entries: Vec<DelayCost> = entries
                .filter(|entry| entry.direct.count > 0 || entry.propagated.count > 0)
                .collect();
            entries.sort_unstable_by_key(|entry| (entry.callpath, entry.cause));
            Self { entries, other_direct: cost(OTHER), other_propagated: cost(OTHER + 2) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delay::cause::Activity;

    fn table(entries: usize) -> Vec<AtomicU64> {
        (0..Costs::words(entries)).map(|_| AtomicU64::new(0)).collect()
    }

    fn cause(number: u64) -> Cause {
        Cause::new(0, Activity::from_number(number))
    }

    #[test]
    fn direct_and_propagated_costs_of_a_callpath_and_a_cause_are_one_entry() {
        let words = table(64);
        let mut costs = Costs::new(&words);
        costs.add(5, [(cause(0), Kind::Direct, 30), (cause(0), Kind::Propagated, 4)].into_iter());
        costs.add(5, [(cause(0), Kind::Direct, 1), (Cause::OTHER, Kind::Direct, 9)].into_iter());
        costs.add(0, [(cause(0), Kind::Direct, 2)].into_iter());
        let found = DelayCosts::read(&words).unwrap();
        let [first, second] = found.entries[..] else { panic!("{found:?}") };
        assert_eq!((first.callpath, first.direct), (0, Cost { ns: 2, count: 1 }));
        assert_eq!(second.direct, Cost { ns: 31, count: 2 });
        assert_eq!(second.propagated, Cost { ns: 4, count: 1 });
        assert_eq!(found.other_direct, Cost { ns: 9, count: 1 });
    }

    #[test]
    fn a_full_table_keeps_the_largest_and_every_sum() {
        let words = table(8);
        let mut costs = Costs::new(&words);
        for round in 0..100 {
            let small =
                (10 * round..10 * round + 10).map(|at| (cause(at + 1), Kind::Propagated, 5));
            costs.add(7, small.chain([(cause(1 << 20), Kind::Direct, 300)]));
        }
        let found = DelayCosts::read(&words).unwrap();
        let largest = found.entries.iter().max_by_key(|entry| entry.total_ns()).unwrap();
        assert_eq!((largest.cause, largest.direct.ns), (cause(1 << 20), 30_000));
        let propagated: u64 = found.entries.iter().map(|entry| entry.propagated.ns).sum();
        assert_eq!(propagated + found.other_propagated.ns, 5_000);
        assert_eq!(found.other_direct.ns, 0);
    }

    #[test]
    fn words_that_are_no_table_are_read_as_far_as_they_go() {
        assert_eq!(DelayCosts::read(&[]), None);
        let one = [AtomicU64::new(0)];
        assert_eq!(DelayCosts::read(&one), Some(DelayCosts::default()));
    }
}
