//! The facts of a run as rules see them.

use std::cmp::Reverse;

use tinyprof_format::model::{CallpathIndex, CallpathTable};

use crate::facts::numbers::ratio;
use crate::facts::occupancy::Occupancy;
use crate::facts::overhead::Overhead;
use crate::facts::statistics::Statistics;
use crate::facts::statistics::efficiency::Efficiency;
use crate::facts::statistics::hosts::Hosts;
use crate::facts::statistics::rank::RankStatistics;
use crate::facts::statistics::regions::{Region, costliest};
use crate::facts::statistics::spread::{HostId, Spread};
use crate::facts::totals::Totals;
use crate::facts::totals::waits::Waiting;
use crate::facts::usage::Activity;

/// The minimum exclusive time of a region as a part of the total time. Smaller regions are ignored,
/// except by the finding about too small regions.
pub(crate) const REGION_SHARE_MIN: f64 = 0.01;

/// The facts of a run besides its statistics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) hosts: &'a Hosts,
    pub(crate) overhead: Option<&'a Overhead>,
    pub(crate) occupancy: Option<Occupancy>,
}

/// The facts of a run.
pub(crate) struct Run<'a> {
    pub(crate) callpaths: &'a CallpathTable,
    pub(crate) activities: Vec<Option<Activity>>,
    pub(crate) statistics: &'a Statistics,
    pub(crate) efficiency: Option<Efficiency>,
    pub(crate) hosts: &'a Hosts,
    pub(crate) overhead: Option<&'a Overhead>,
    pub(crate) occupancy: Option<Occupancy>,
    /// The facts of each rank; none if only statistics over ranks are known.
    pub(crate) ranks: Option<ByRank<'a>>,
}

/// The facts of each rank of a run.
pub(crate) struct ByRank<'a> {
    pub(crate) totals: &'a Totals,
    /// The exclusive times, row by row, then by rank, with those of samples in the regions around.
    pub(crate) exclusive_ns: Vec<Vec<u64>>,
    /// Their spreads, row by row, if there are samples.
    with_samples: Option<Vec<Spread>>,
    /// The ranks that have any time.
    pub(crate) used: Vec<usize>,
    /// Who waits for whom, the longest first.
    pub(crate) waits: Vec<Waiting>,
    /// The barriers, each with an operation right behind it in which all ranks wait for each other.
    pub(crate) after_barriers: Vec<(CallpathIndex, CallpathIndex)>,
}

impl<'a> Run<'a> {
    /// Returns a run of which only statistics over ranks are known.
    pub(crate) fn of_statistics(
        callpaths: &'a CallpathTable,
        statistics: &'a Statistics,
        Facts { hosts, overhead, occupancy }: Facts<'a>,
    ) -> Self {
        let activities = Activity::of_callpaths(callpaths);
        let efficiency = Efficiency::of_statistics(callpaths, statistics);
        let ranks = None;
        Self { callpaths, activities, statistics, efficiency, hosts, overhead, occupancy, ranks }
    }

    /// Returns a run with these totals, statistics and facts.
    pub(crate) fn of_totals(
        totals: &'a Totals,
        statistics: &'a Statistics,
        facts: Facts<'a>,
    ) -> Self {
        let ranks = Some(ByRank::of_totals(totals));
        Self { ranks, ..Self::of_statistics(totals.callpaths(), statistics, facts) }
    }

    /// Returns true if ranks wait for each other there: the rank that takes longest is then early,
    /// not slow.
    pub(crate) fn is_communication(&self, index: CallpathIndex) -> bool {
        self.activities[index.row()] == Some(Activity::Communication)
    }

    /// Returns the total time of all ranks, in nanoseconds.
    pub(crate) fn total_ns(&self) -> f64 {
        ratio(self.statistics.times().total_ns, 1)
    }

    /// Returns a time as a part of that of all ranks.
    pub(crate) fn part(&self, ns: u128) -> f64 {
        let total_ns = self.total_ns();
        if total_ns > 0.0 { ratio(ns, 1) / total_ns } else { 0.0 }
    }

    /// Returns the number of ranks that have any time.
    pub(crate) fn count(&self) -> u32 {
        self.statistics.times().ranks
    }

    /// Returns the mean of a time over the ranks.
    pub(crate) fn a_rank_ns(&self, sum_ns: u128) -> f64 {
        ratio(sum_ns, self.count().max(1).into())
    }

    /// Returns true if the callpath's exclusive time is large enough for a finding. Samples are
    /// part of the region around them, whose time does not differ by chance.
    pub(crate) fn is_large(&self, index: CallpathIndex) -> bool {
        !self.callpaths.get(index).region.is_sampled()
            && ratio(self.exclusive(index).sum_ns, 1) >= REGION_SHARE_MIN * self.total_ns()
    }

    /// Returns the callpaths that are large enough for a finding.
    pub(crate) fn large(&self) -> impl Iterator<Item = CallpathIndex> {
        self.all().filter(|index| self.is_large(*index))
    }

    /// Returns all callpaths.
    pub(crate) fn all(&self) -> impl Iterator<Item = CallpathIndex> {
        self.callpaths.iter().map(|(index, _)| index)
    }

    pub(crate) fn row(&self, index: CallpathIndex) -> RankStatistics {
        self.statistics.row(index.row())
    }

    /// Returns the exclusive times of a callpath over ranks, with those of the samples in it, as
    /// far as the times of each rank are known.
    pub(crate) fn exclusive(&self, index: CallpathIndex) -> Spread {
        let with_samples = self.ranks.as_ref().and_then(|of| of.with_samples.as_ref());
        with_samples.map_or_else(|| self.row(index).exclusive, |all| all[index.row()])
    }

    /// Returns the two costliest regions with this activity.
    pub(crate) fn regions_of(&self, activity: Activity) -> Vec<Region<'_>> {
        costliest(self.callpaths, self.statistics, 2, |index| {
            self.activities[index.row()] == Some(activity)
        })
    }

    /// Returns the rank with the most useful time, the lowest of several, and its host.
    pub(crate) fn busiest(&self) -> Option<(u32, HostId)> {
        let of = self.ranks.as_ref()?;
        let useful_ns = |rank: usize| {
            let rows = of.exclusive_ns.iter().zip(&self.activities);
            let useful =
                rows.filter(|(_, activity)| matches!(activity, Some(Activity::Computation) | None));
            useful.fold(0_u64, |sum, (of_ranks, _)| sum.saturating_add(of_ranks[rank]))
        };
        let used = of.used.iter().copied();
        let rank = used.max_by_key(|&rank| (useful_ns(rank), Reverse(rank)))?;
        Some((u32::try_from(rank).ok()?, of.host(rank)))
    }
}

impl<'a> ByRank<'a> {
    fn of_totals(totals: &'a Totals) -> Self {
        let roots = totals.callpaths().children().roots().to_vec();
        let exclusive_ns = totals.exclusive_with_samples_ns();
        let is_used = |rank: &usize| roots.iter().any(|&root| totals.inclusive_ns(root, *rank) > 0);
        Self {
            totals,
            with_samples: with_samples(totals, &exclusive_ns),
            exclusive_ns,
            used: (0..totals.ranks().len()).filter(is_used).collect(),
            waits: totals.waits(),
            after_barriers: totals.barriers_first(),
        }
    }

    pub(crate) fn host(&self, rank: usize) -> HostId {
        HostId::of_name(&self.totals.ranks()[rank].host)
    }
}

/// Returns the spreads of exclusive times; none without samples, where statistics have them.
fn with_samples(totals: &Totals, exclusive_ns: &[Vec<u64>]) -> Option<Vec<Spread>> {
    if !totals.callpaths().rows().iter().any(|row| row.region.is_sampled()) {
        return None;
    }
    let hosts: Vec<HostId> =
        totals.ranks().iter().map(|facts| HostId::of_name(&facts.host)).collect();
    let of_row = |(index, _): (CallpathIndex, _)| {
        let came = (0..hosts.len()).filter(|&rank| totals.visits(index, rank) > 0);
        let of_rank = |rank: usize| {
            let number = u32::try_from(rank).unwrap_or(u32::MAX);
            Spread::of_one_rank(number, hosts[rank], exclusive_ns[index.row()][rank])
        };
        let merged = came.map(of_rank).reduce(|mut all, one| {
            all.merge(&one);
            all
        });
        merged.unwrap_or_default()
    };
    Some(totals.callpaths().iter().map(of_row).collect())
}
