//! A sorted set of tuples: the part of a relation that a rank holds.
//!
//! The set is a few sorted runs, each at least twice as long as the next. A batch of tuples is
//! sorted, reduced to the tuples that the runs lack, and becomes the shortest run; runs of similar
//! length are merged. Each tuple is thus moved a logarithmic number of times, always in order,
//! which memory handles better than the nodes of a tree.

use std::cmp::Ordering;

use super::Tuple;

/// Tuples in sorted runs.
#[derive(Debug, Default)]
pub(crate) struct Index<const N: usize> {
    /// Sorted and disjoint; the longest first.
    runs: Vec<Vec<Tuple<N>>>,
}

/// The ratio of lengths from which a run is searched for each tuple of a batch; a shorter run is
/// merged linearly.
const SEARCHED_FROM: usize = 8;

impl<const N: usize> Index<N> {
    pub(crate) fn len(&self) -> usize {
        self.runs.iter().map(Vec::len).sum()
    }

    /// Adds tuples and returns those that were not there yet, in order.
    pub(crate) fn insert(&mut self, mut tuples: Vec<Tuple<N>>) -> Vec<Tuple<N>> {
        tuples.sort_unstable();
        tuples.dedup();
        self.runs.iter().for_each(|run| subtract(&mut tuples, run));
        if !tuples.is_empty() {
            self.runs.push(tuples.clone());
            self.merge_runs();
        }
        tuples
    }

    /// Removes and returns the tuples for which `is_to_go` holds.
    pub(crate) fn take(&mut self, is_to_go: impl Fn(&Tuple<N>) -> bool) -> Vec<Tuple<N>> {
        let mut taken = Vec::new();
        for run in &mut self.runs {
            taken.extend(run.extract_if(.., |tuple| is_to_go(tuple)));
        }
        self.runs.retain(|run| !run.is_empty());
        self.runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
        self.merge_runs();
        taken
    }

    /// Returns the tuples with this value in column 0, run by run.
    pub(crate) fn with_key(&self, key: u32) -> impl Iterator<Item = &Tuple<N>> {
        self.runs.iter().flat_map(move |run| {
            let begin = run.partition_point(|tuple| tuple[0] < key);
            run[begin..].iter().take_while(move |tuple| tuple[0] == key)
        })
    }

    /// Iterates over all tuples, run by run.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tuple<N>> {
        self.runs.iter().flatten()
    }

    fn merge_runs(&mut self) {
        while let [.., before, last] = &mut self.runs[..]
            && before.len() < 2 * last.len()
        {
            let merged = merge(before, last);
            self.runs.truncate(self.runs.len() - 2);
            self.runs.push(merged);
        }
    }
}

/// Removes from sorted `tuples` those that are in the sorted `run`.
fn subtract<const N: usize>(tuples: &mut Vec<Tuple<N>>, run: &[Tuple<N>]) {
    let mut rest = run;
    if run.len() / SEARCHED_FROM > tuples.len() {
        tuples.retain(|tuple| {
            rest = &rest[rest.partition_point(|other| other < tuple)..];
            rest.first() != Some(tuple)
        });
        return;
    }
    tuples.retain(|tuple| {
        while let [first, after @ ..] = rest
            && first < tuple
        {
            rest = after;
        }
        rest.first() != Some(tuple)
    });
}

fn merge<const N: usize>(a: &[Tuple<N>], b: &[Tuple<N>]) -> Vec<Tuple<N>> {
    let (mut a, mut b) = (a, b);
    let mut merged = Vec::with_capacity(a.len() + b.len());
    while let ([first, after @ ..], [other, others @ ..]) = (a, b) {
        match first.cmp(other) {
            Ordering::Greater => {
                merged.push(*other);
                b = others;
            }
            Ordering::Less | Ordering::Equal => {
                merged.push(*first);
                a = after;
            }
        }
    }
    merged.extend_from_slice(a);
    merged.extend_from_slice(b);
    merged
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(batches in prop::collection::vec(prop::collection::vec([0_u32..20, 0_u32..20], 0..60), 0..12)) {
            let (mut index, mut oracle) = (Index::default(), BTreeSet::new());
            for batch in batches {
                let new: BTreeSet<_> = batch.iter().copied().filter(|tuple| !oracle.contains(tuple)).collect();
                oracle.extend(&new);
                prop_assert_eq!(index.insert(batch), Vec::from_iter(new));
                prop_assert_eq!(index.len(), oracle.len());
                prop_assert!(index.runs.windows(2).all(|pair| pair[0].len() >= 2 * pair[1].len()));
            }
            prop_assert_eq!(&index.iter().copied().collect::<BTreeSet<_>>(), &oracle);
            for key in 0..21 {
                let found: BTreeSet<_> = index.with_key(key).copied().collect();
                prop_assert_eq!(found, oracle.iter().copied().filter(|tuple| tuple[0] == key).collect());
            }
            let taken: BTreeSet<_> = index.take(|tuple| tuple[1] % 3 == 0).into_iter().collect();
            prop_assert_eq!(taken, oracle.iter().copied().filter(|tuple| tuple[1] % 3 == 0).collect());
            prop_assert!(index.iter().all(|tuple| tuple[1] % 3 != 0));
        }

        #[test]
        fn a_batch_loses_what_a_run_has(run: BTreeSet<[u32; 1]>, long in 0_u32..200, batch: BTreeSet<[u32; 1]>) {
            let run: BTreeSet<_> = run.into_iter().chain((0..long).map(|n| [n * 3])).collect();
            let mut left: Vec<_> = batch.iter().chain(run.iter().step_by(7)).copied().collect();
            left.sort_unstable();
            left.dedup();
            let expected: Vec<_> = left.iter().copied().filter(|tuple| !run.contains(tuple)).collect();
            subtract(&mut left, &Vec::from_iter(run));
            prop_assert_eq!(left, expected);
        }
    }
}
