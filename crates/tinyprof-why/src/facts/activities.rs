//! The time of each activity on each rank.

use std::collections::BTreeMap;

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::delay::Visits;

/// What a rank does between two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Doing {
    /// The computation before a call of MPI, since the one before it.
    Before(CallpathIndex),
    /// The time in a region, or in a call of MPI without its waiting.
    In(CallpathIndex),
}

impl Doing {
    /// Returns the callpath that says where the activity is.
    pub(crate) const fn callpath(self) -> CallpathIndex {
        match self {
            Self::Before(callpath) | Self::In(callpath) => callpath,
        }
    }
}

/// The visits and the time of each activity, by rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activities {
    ranks: usize,
    of_ranks: BTreeMap<Doing, Vec<Visits>>,
    /// The longest single visit on any rank, in ns.
    longest_ns: BTreeMap<Doing, u64>,
}

impl Activities {
    pub(crate) const fn new(ranks: usize) -> Self {
        Self { ranks, of_ranks: BTreeMap::new(), longest_ns: BTreeMap::new() }
    }

    /// Adds visits of a rank.
    pub(crate) fn add(&mut self, doing: Doing, rank: usize, visits: Visits, longest_ns: u64) {
        if visits.ns == 0 && visits.count == 0 {
            return;
        }
        let ranks = self.ranks;
        let of_ranks = self.of_ranks.entry(doing).or_insert_with(|| vec![Visits::default(); ranks]);
        if let Some(sum) = of_ranks.get_mut(rank) {
            sum.count = sum.count.saturating_add(visits.count);
            sum.ns = sum.ns.saturating_add(visits.ns);
            let longest = self.longest_ns.entry(doing).or_default();
            *longest = longest_ns.max(*longest);
        }
    }

    /// Returns all activities, with their visits by rank.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Doing, &[Visits])> {
        self.of_ranks.iter().map(|(doing, of_ranks)| (*doing, of_ranks.as_slice()))
    }

    /// Returns the visits of an activity by rank; none if no rank has any.
    pub(crate) fn of(&self, doing: Doing) -> Option<&[Visits]> {
        self.of_ranks.get(&doing).map(Vec::as_slice)
    }

    /// Returns the longest visit of an activity on any rank, in ns; 0 if it is not known.
    pub(crate) fn longest_ns(&self, doing: Doing) -> u64 {
        self.longest_ns.get(&doing).copied().unwrap_or(0)
    }

    /// Returns the activity that takes the most time of all ranks.
    pub(crate) fn busiest(&self) -> Option<Doing> {
        self.iter().max_by_key(|(_, of_ranks)| all_ns(of_ranks)).map(|(doing, _)| doing)
    }

    /// Returns the number of ranks.
    pub(crate) const fn ranks(&self) -> usize {
        self.ranks
    }
}

/// Returns the time of all ranks in an activity, in ns.
pub(crate) fn all_ns(of_ranks: &[Visits]) -> u128 {
    of_ranks.iter().map(|visits| u128::from(visits.ns)).sum()
}
