//! The time of each activity on each rank.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, Edge};
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
    all: BTreeMap<Doing, OfRanks>,
    /// The activity of each rank between the start of MPI and its first call, and its time in ns.
    first: BTreeMap<u32, (Doing, u64)>,
}

/// An activity on all ranks.
#[derive(Clone, Debug, Default)]
struct OfRanks {
    visits: Vec<Visits>,
    /// The least that each rank has needed for its visits, in ns: as often as the shortest one.
    /// Empty if that is not known.
    least_ns: Vec<u64>,
    /// The squares of the visits of each rank, added up, in square ns. Empty if they are not known.
    squares_ns2: Vec<f64>,
    /// The longest single visit on any rank, in ns, and that rank.
    longest_ns: u64,
    longest_rank: usize,
}

impl Activities {
    pub(crate) const fn new(ranks: usize) -> Self {
        Self { ranks, all: BTreeMap::new(), first: BTreeMap::new() }
    }

    /// Adds visits of a rank.
    pub(crate) fn add(&mut self, doing: Doing, rank: usize, visits: Visits, longest_ns: u64) {
        if visits.ns == 0 && visits.count == 0 {
            return;
        }
        let ranks = self.ranks;
        let new = || OfRanks { visits: vec![Visits::default(); ranks], ..OfRanks::default() };
        let of_ranks = self.all.entry(doing).or_insert_with(new);
        if let Some(sum) = of_ranks.visits.get_mut(rank) {
            sum.count = sum.count.saturating_add(visits.count);
            sum.ns = sum.ns.saturating_add(visits.ns);
            if longest_ns > of_ranks.longest_ns {
                (of_ranks.longest_ns, of_ranks.longest_rank) = (longest_ns, rank);
            }
        }
    }

    /// Adds the least that a rank has needed for its visits, in ns.
    pub(crate) fn add_least(&mut self, doing: Doing, rank: usize, least_ns: u64) {
        let Some(of_ranks) = self.all.get_mut(&doing) else { return };
        of_ranks.least_ns.resize(self.ranks, 0);
        if let Some(sum_ns) = of_ranks.least_ns.get_mut(rank) {
            *sum_ns = sum_ns.saturating_add(least_ns);
        }
    }

    /// Adds the gaps of a rank between two calls. Those that are no visits count with their time.
    pub(crate) fn add_gaps(&mut self, doing: Doing, rank: usize, edge: &Edge, are_visits: bool) {
        let count = if are_visits { edge.count } else { 0 };
        self.add(doing, rank, Visits { count, ns: edge.sum_ns }, edge.max_ns);
        let Some(of_ranks) = self.all.get_mut(&doing) else { return };
        of_ranks.squares_ns2.resize(self.ranks, 0.0);
        if let Some(sum_ns2) = of_ranks.squares_ns2.get_mut(rank) {
            *sum_ns2 += edge.sum_squares_ns2;
        }
        self.add_least(doing, rank, edge.min_ns.saturating_mul(edge.count).min(edge.sum_ns));
    }

    /// Notes what a rank does between the start of MPI and its first call, which [`add_gaps`] adds
    /// as well. Where several threads call MPI, the longest counts.
    ///
    /// [`add_gaps`]: Self::add_gaps
    pub(crate) fn begin(&mut self, doing: Doing, rank: u32, ns: u64) {
        let first = self.first.entry(rank).or_insert((doing, ns));
        if ns > first.1 {
            *first = (doing, ns);
        }
    }

    /// Returns the time of a rank between the start of MPI and its first call, in ns.
    pub(crate) fn first_ns(&self, rank: u32) -> u64 {
        self.first.get(&rank).map_or(0, |(_, ns)| *ns)
    }

    /// Returns whether nearly all that a rank does of an activity is between the start of MPI and
    /// its first call.
    pub(crate) fn is_first(&self, doing: Doing, rank: u32) -> bool {
        let visits = self.of(doing).and_then(|visits| visits.get(rank as usize));
        let is_most = |ns: u64| visits.is_some_and(|visits| ns >= visits.ns / 10 * 9);
        self.first.get(&rank).is_some_and(|(first, ns)| *first == doing && is_most(*ns))
    }

    /// Returns all activities, with their visits by rank.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Doing, &[Visits])> {
        self.all.iter().map(|(doing, of_ranks)| (*doing, of_ranks.visits.as_slice()))
    }

    /// Returns the visits of an activity by rank; none if no rank has any.
    pub(crate) fn of(&self, doing: Doing) -> Option<&[Visits]> {
        self.all.get(&doing).map(|of_ranks| of_ranks.visits.as_slice())
    }

    /// Returns the longest visit of an activity on any rank, in ns; 0 if it is not known.
    pub(crate) fn longest_ns(&self, doing: Doing) -> u64 {
        self.all.get(&doing).map_or(0, |of_ranks| of_ranks.longest_ns)
    }

    /// Returns the rank that has the longest visit of an activity; none if it is not known.
    pub(crate) fn longest_rank(&self, doing: Doing) -> Option<u32> {
        let of_ranks = self.all.get(&doing).filter(|of_ranks| of_ranks.longest_ns > 0)?;
        u32::try_from(of_ranks.longest_rank).ok()
    }

    /// Returns the least that a rank has needed for its visits of an activity, in ns: as often as
    /// the shortest one. 0 if it is not known.
    pub(crate) fn least_ns(&self, doing: Doing, rank: u32) -> u64 {
        let least_ns = self.all.get(&doing).map_or(&[][..], |of_ranks| &of_ranks.least_ns);
        least_ns.get(rank as usize).copied().unwrap_or(0)
    }

    /// Returns by how much the visits of a rank without the longest one differ from their mean: the
    /// squares, added up, in square ns. 0 if it is not known.
    pub(crate) fn scatter_ns2(&self, doing: Doing, rank: u32) -> f64 {
        let Some(of_ranks) = self.all.get(&doing) else { return 0.0 };
        let (Some(visits), Some(squares_ns2)) =
            (of_ranks.visits.get(rank as usize), of_ranks.squares_ns2.get(rank as usize))
        else {
            return 0.0;
        };
        let longest_ns = crate::ns(of_ranks.longest_ns.into());
        let others = crate::ns(visits.count.saturating_sub(1).max(1).into());
        let others_ns = (crate::ns(visits.ns.into()) - longest_ns).max(0.0);
        (squares_ns2 - longest_ns * longest_ns - others_ns * others_ns / others).max(0.0)
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
