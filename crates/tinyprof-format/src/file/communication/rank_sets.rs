//! Sets of the ranks of a part, each stored once.
//!
//! In regular programs most keys have the same ranks: all of them, or all that have a left
//! neighbour. A set is a list of runs of neighbouring ranks:
//!
//! ```text
//! sets (a varint)
//! runs of each set
//! gaps: first rank of the run, minus the one after the run before    one for each run of each set
//! lengths                                                            one for each run of each set
//! ```

use std::collections::HashMap;
use std::ops::Range;

use crate::bytes::{Cursor, Malformed, Sink, column};

/// The runs of a set, in ascending order.
type Runs = Vec<Range<u64>>;

/// The different sets of a section, numbered by their first use.
#[derive(Debug, Default)]
pub(super) struct RankSets {
    sets: Vec<Runs>,
    numbers: HashMap<Runs, u64>,
}

impl RankSets {
    /// Returns the number of the set of these ranks, which ascend.
    pub(super) fn number_of(&mut self, ranks: impl Iterator<Item = u64>) -> u64 {
        let mut runs: Runs = Vec::new();
        for rank in ranks {
            match runs.last_mut() {
                Some(run) if run.end == rank => run.end += 1,
                _ => runs.push(rank..rank + 1),
            }
        }
        let next = self.sets.len() as u64;
        *self.numbers.entry(runs).or_insert_with_key(|runs| {
            self.sets.push(runs.clone());
            next
        })
    }

    /// Appends all sets.
    pub(super) fn write(&self, sink: &mut Sink) {
        sink.varint(self.sets.len() as u64);
        let runs = self.sets.iter().map(|runs| runs.len() as u64);
        column::write_u64(sink, &runs.collect::<Vec<_>>());
        let gaps = self.sets.iter().flat_map(|runs| {
            let before = std::iter::once(0).chain(runs.iter().map(|run| run.end));
            runs.iter().zip(before).map(|(run, before)| run.start - before)
        });
        column::write_u64(sink, &gaps.collect::<Vec<_>>());
        let lengths = self.sets.iter().flatten().map(|run| run.end - run.start);
        column::write_u64(sink, &lengths.collect::<Vec<_>>());
    }
}

/// The sets of a section that is read.
#[derive(Debug)]
pub(super) struct FoundSets {
    runs: Vec<Range<usize>>,
    /// The position behind the last run of each set.
    ends: Vec<usize>,
    /// The number of ranks in each set.
    lengths: Vec<usize>,
}

impl FoundSets {
    /// Takes the output of [`RankSets::write`] for a part of `ranks` ranks.
    pub(super) fn read(cursor: &mut Cursor<'_>, ranks: usize) -> Result<Self, Malformed> {
        let start = cursor.clone();
        let sets = cursor.count(column::MAX_VALUES, "the number of sets of ranks")?;
        let runs_of_sets = column::read_u64(cursor, sets, "the runs of ranks")?;
        let total = runs_of_sets.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
        let total = total.and_then(|n| usize::try_from(n).ok());
        let Some(total) = total.filter(|&n| n <= column::MAX_VALUES) else {
            return Err(start.malformed("sets of ranks claim more runs than can be"));
        };
        let gaps = column::read_u64(cursor, total, "the gaps between ranks")?;
        let lengths = column::read_u64(cursor, total, "the lengths of runs of ranks")?;
        cursor.claim_temporary(total, size_of::<Range<usize>>(), "the runs of ranks")?;
        cursor.claim_temporary(sets, 2 * size_of::<usize>(), "the sets of ranks")?;
        let mut found = Self {
            runs: Vec::with_capacity(total),
            ends: Vec::with_capacity(sets),
            lengths: Vec::with_capacity(sets),
        };
        let mut numbers = gaps.into_iter().zip(lengths);
        for runs in runs_of_sets {
            let (mut next, mut members) = (0_u64, 0_u64);
            for (gap, length) in numbers.by_ref().take(usize::try_from(runs).unwrap_or(0)) {
                let first = next.checked_add(gap);
                let run = first.and_then(|first| Some(first..first.checked_add(length)?));
                let Some(run) = run.filter(|run| length > 0 && run.end <= ranks as u64) else {
                    return Err(start.malformed("a run has a rank that the part does not have"));
                };
                next = run.end;
                members += length;
                // Both fit, as they are not above the number of ranks.
                let [first, end] = [run.start, run.end].map(|n| usize::try_from(n).unwrap_or(0));
                found.runs.push(first..end);
            }
            if members == 0 {
                return Err(start.malformed("a set of ranks is empty"));
            }
            found.ends.push(found.runs.len());
            found.lengths.push(usize::try_from(members).unwrap_or(0));
        }
        Ok(found)
    }

    /// Returns the number of ranks in a set; none if there is no such set.
    pub(super) fn length(&self, number: u64) -> Option<usize> {
        self.lengths.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the ranks of a set, ascending; none if there is no such set.
    pub(super) fn ranks(&self, number: u64) -> impl Iterator<Item = usize> {
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied();
        let end = self.ends.get(number).copied().unwrap_or(0);
        self.runs[start.unwrap_or(0).min(end)..end].iter().flat_map(Clone::clone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(sets: &[&[u64]]) -> Vec<u8> {
        let mut all = RankSets::default();
        let numbers: Vec<u64> = sets.iter().map(|set| all.number_of(set.iter().copied())).collect();
        let first = |set: &&[u64]| sets.iter().position(|other| other == set).unwrap() as u64;
        assert_eq!(numbers, sets.iter().map(first).collect::<Vec<_>>());
        let mut sink = Sink::default();
        all.write(&mut sink);
        sink.into_vec()
    }

    #[test]
    fn sets_come_back_and_are_stored_once() {
        let sets: [&[u64]; 4] = [&[0, 1, 2, 3], &[1, 3], &[3], &[0, 1, 2, 3]];
        let bytes = written(&sets);
        let mut cursor = Cursor::new(&bytes, 0);
        let found = FoundSets::read(&mut cursor, 4).unwrap();
        cursor.finish("the sets").unwrap();
        for (number, set) in (0..3).zip(sets) {
            let ranks: Vec<u64> = found.ranks(number).map(|rank| rank as u64).collect();
            assert_eq!((ranks.as_slice(), found.length(number)), (set, Some(set.len())));
        }
        assert_eq!((found.length(3), found.ranks(3).count()), (None, 0));
    }

    #[test]
    fn the_neighbours_in_a_square_take_few_bytes() {
        let left: Vec<u64> = (0..4096).filter(|rank| rank % 64 > 0).collect();
        let up: Vec<u64> = (64..4096).collect();
        assert!(written(&[&left]).len() < 10 && written(&[&up]).len() < 10);
    }

    #[test]
    fn hostile_sets_are_errors() {
        let check = |bytes: &[u8], expected: &str| {
            let error = FoundSets::read(&mut Cursor::new(bytes, 0), 4).expect_err("hostile sets");
            assert!(error.reason.contains(expected), "{error:?}");
        };
        check(&[1, 0, 0, 0, 0, 0, 0], "empty");
        check(&[1, 0, 1, 0, 0, 0, 5], "does not have");
        check(&[1, 0, 1, 0, 0, 0, 0], "does not have");
        check(&[1, 0, 1, 0, 4, 0, 1], "does not have");
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        check(&[&[2, 0][..], &most].concat(), "more runs");
    }
}
