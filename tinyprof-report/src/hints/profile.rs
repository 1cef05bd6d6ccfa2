//! Hints of a whole profile: the candidates, and the sentences.

use std::cmp::Reverse;

use crate::iterations::Iterations;
use crate::units::{counted, percent_cell, time, whole};
use crate::usage::exclusive_ns;
use crate::{Activity, HostId, Statistics};
use tinyprof_format::model::{CallpathIndex, Profile};

use super::of_ranks::{Facts, Ranks, costliest, on_host};
use super::of_run::Busiest;
use super::{Growth, Hint, HintKind, SlowFirst, Straggler, float, growing, slow_first, straggler};

/// The maximum number of points of a series. Longer series are examined in this many points.
const POINTS_MAX: usize = 256;

/// Returns at most [`HINTS_MAX`](super::HINTS_MAX) hints of a profile with these statistics and
/// hosts, the costliest first.
///
/// # Cost
/// Linear in the number of values, plus sorting each region's ranks.
pub(crate) fn hints_of_profile(
    profile: &Profile,
    statistics: &Statistics,
    facts: Facts<'_>,
) -> Vec<Hint> {
    let run = Run::of_profile(profile, Ranks::new(&profile.callpaths, statistics, facts));
    let mut found: Vec<Hint> = run.straggler().into_iter().collect();
    let of_straggler = found.first().and_then(|hint| hint.rank);
    for (index, _) in profile.callpaths.iter() {
        found.extend(run.over_ranks.too_small(index));
        if !run.over_ranks.is_large(index) {
            continue;
        }
        // The effect of a slow rank on each region is reported once.
        let imbalance = run.over_ranks.imbalance(index);
        found.extend(imbalance.filter(|hint| of_straggler.is_none() || hint.rank != of_straggler));
        if let Some(iterations) = Iterations::of_callpath(profile, index, POINTS_MAX) {
            found.extend(run.over_time(index, &iterations));
        }
    }
    found.extend(run.over_ranks.of_run(run.busiest()));
    costliest(found)
}

/// A profile with its data by callpath and rank.
struct Run<'a> {
    profile: &'a Profile,
    over_ranks: Ranks<'a>,
    /// The exclusive times, row by row, then by rank.
    exclusive_ns: Vec<Vec<u64>>,
    /// The ranks that have any time.
    ranks: Vec<usize>,
}

impl<'a> Run<'a> {
    fn of_profile(profile: &'a Profile, over_ranks: Ranks<'a>) -> Self {
        let mut by_row = vec![Vec::with_capacity(profile.ranks.len()); profile.callpaths.len()];
        let mut ranks = Vec::new();
        for rank in 0..profile.ranks.len() {
            for (row, ns) in by_row.iter_mut().zip(exclusive_ns(profile, rank)) {
                row.push(ns);
            }
            let mut roots =
                profile.callpaths.iter().filter(|(_, callpath)| callpath.parent.is_none());
            if roots.any(|(index, _)| profile.values(index, rank).inclusive_ns() > 0) {
                ranks.push(rank);
            }
        }
        Self { profile, over_ranks, exclusive_ns: by_row, ranks }
    }

    fn straggler(&self) -> Option<Hint> {
        let everywhere = |index: CallpathIndex| {
            let values = &self.profile.values[index.row()];
            self.ranks.iter().all(|&rank| !values[rank].is_absent())
        };
        let looked_at = |index: &CallpathIndex| {
            !self.over_ranks.is_communication(*index)
                && self.over_ranks.is_large(*index)
                && everywhere(*index)
        };
        let indices = self.profile.callpaths.iter().map(|(index, _)| index);
        let of_ranks = |index: CallpathIndex| -> Vec<u64> {
            self.ranks.iter().map(|&rank| self.exclusive_ns[index.row()][rank]).collect()
        };
        let regions: Vec<Vec<u64>> = indices.filter(looked_at).map(of_ranks).collect();
        let Straggler { rank, slow_regions, regions, slower_by, lost_ns } = straggler(&regions)?;
        let rank = self.ranks[rank as usize];
        let host = HostId::of_name(&self.profile.ranks[rank].host);
        let host = on_host(self.over_ranks.hosts.short_name(host));
        let rank = u32::try_from(rank).ok()?;
        Some(Hint {
            kind: HintKind::Straggler,
            callpath: None,
            rank: Some(rank),
            iteration: None,
            lost_ns,
            headline: format!("Rank {rank}{host} is slow everywhere"),
            evidence: format!(
                "It takes {} more time than the median rank, and is slower in {slow_regions} of {}: {} in all.",
                percent_cell(slower_by),
                counted(regions as u64, "region"),
                time(whole(lost_ns)),
            ),
            advice: "Look at its host and at its part of the input.".to_owned(),
        })
    }

    /// Returns the rank with the most useful time, the lowest of several.
    fn busiest(&self) -> Option<Busiest> {
        let useful_ns = |rank: usize| {
            let rows = self.exclusive_ns.iter().zip(&self.over_ranks.activities);
            let useful =
                rows.filter(|(_, activity)| matches!(activity, Some(Activity::Computation) | None));
            useful.fold(0_u64, |sum, (of_ranks, _)| sum.saturating_add(of_ranks[rank]))
        };
        let rank =
            self.ranks.iter().copied().max_by_key(|&rank| (useful_ns(rank), Reverse(rank)))?;
        let host = HostId::of_name(&self.profile.ranks[rank].host);
        Some(Busiest { rank: u32::try_from(rank).ok()?, host })
    }

    fn over_time(&self, index: CallpathIndex, iterations: &Iterations) -> Vec<Hint> {
        let means: Vec<f64> = iterations.points.iter().map(|point| point.mean_ns).collect();
        let visits = float(iterations.visits_per_point);
        let mut found = Vec::new();
        if let Some(Growth { early_ns, late_ns, since, lost_ns }) = growing(&means) {
            let since = since as u64 * iterations.visits_per_point;
            found.push(Hint {
                kind: HintKind::Growth,
                callpath: Some(index),
                rank: None,
                iteration: Some(since),
                lost_ns: lost_ns * visits,
                headline: format!("{} takes longer since iteration {since}", self.over_ranks.name(index)),
                evidence: format!(
                    "A visit takes {} in the first quarter and {} in the last, {} more; that cost {} a rank.",
                    time(whole(early_ns)),
                    time(whole(late_ns)),
                    percent_cell(late_ns / early_ns - 1.0),
                    time(whole(lost_ns * visits)),
                ),
                advice: "Look for data that grows with the iterations.".to_owned(),
            });
        }
        if let Some(SlowFirst { first_ns, median_ns }) = slow_first(&means) {
            let which = match iterations.visits_per_point {
                1 => "The first iteration".to_owned(),
                many => format!("The first {many} iterations"),
            };
            found.push(Hint {
                kind: HintKind::SlowFirst,
                callpath: Some(index),
                rank: None,
                iteration: Some(0),
                lost_ns: (first_ns - median_ns) * visits,
                headline: format!("{which} of {} took much longer", self.over_ranks.name(index)),
                evidence: format!(
                    "A visit took {}, where the median of the others is {}: {:.1} times as much.",
                    time(whole(first_ns)),
                    time(whole(median_ns)),
                    first_ns / median_ns,
                ),
                advice:
                    "Leave it out of comparisons, or do before the loop what only it has to do."
                        .to_owned(),
            });
        }
        found
    }
}
