//! Hints of a whole profile: the candidates, and the sentences.

use std::cmp::Reverse;

use crate::facts::numbers::float;
use crate::facts::numbers::whole;
use crate::facts::statistics::Statistics;
use crate::facts::statistics::spread::HostId;
use crate::facts::totals::Totals;
use crate::facts::totals::trend::{Growth, SlowFirst, Trend};
use crate::facts::usage::Activity;
use crate::words::units::{counted, percent_cell, time};
use tinyprof_format::model::CallpathIndex;

use super::of_ranks::{Facts, Ranks, costliest, on_host};
use super::of_run::Busiest;
use super::{Hint, HintKind, Straggler, straggler};

/// Returns at most [`HINTS_MAX`](super::HINTS_MAX) hints of a profile with these statistics and
/// hosts, the costliest first.
///
/// # Cost
/// Linear in callpaths x ranks, plus sorting each region's ranks.
pub(crate) fn hints_of_totals(
    totals: &Totals,
    statistics: &Statistics,
    facts: Facts<'_>,
) -> Vec<Hint> {
    let run = Run::of_totals(totals, Ranks::new(totals.callpaths(), statistics, facts));
    let mut found: Vec<Hint> = run.straggler().into_iter().collect();
    let of_straggler = found.first().and_then(|hint| hint.rank);
    for (index, _) in totals.callpaths().iter() {
        found.extend(run.over_ranks.too_small(index));
        if !run.over_ranks.is_large(index) {
            continue;
        }
        // The effect of a slow rank on each region is reported once.
        let imbalance = run.over_ranks.imbalance(index);
        found.extend(imbalance.filter(|hint| of_straggler.is_none() || hint.rank != of_straggler));
        if let Some(trend) = totals.trend(index) {
            found.extend(run.over_time(index, trend));
        }
    }
    found.extend(run.over_ranks.of_run(run.busiest()));
    found.extend(run.over_ranks.of_waits(&totals.waits(), &totals.barriers_first()));
    costliest(found)
}

/// A profile with its data by callpath and rank.
struct Run<'a> {
    totals: &'a Totals,
    over_ranks: Ranks<'a>,
    /// The exclusive times, row by row, then by rank.
    exclusive_ns: Vec<Vec<u64>>,
    /// The ranks that have any time.
    ranks: Vec<usize>,
}

impl<'a> Run<'a> {
    fn of_totals(totals: &'a Totals, over_ranks: Ranks<'a>) -> Self {
        let roots = totals.callpaths().children().roots().to_vec();
        let is_used = |rank: &usize| roots.iter().any(|&root| totals.inclusive_ns(root, *rank) > 0);
        let ranks = (0..totals.ranks().len()).filter(is_used).collect();
        Self { totals, over_ranks, exclusive_ns: totals.exclusive_ns(), ranks }
    }

    fn straggler(&self) -> Option<Hint> {
        let everywhere = |index: CallpathIndex| {
            self.ranks.iter().all(|&rank| self.totals.visits(index, rank) > 0)
        };
        let looked_at = |index: &CallpathIndex| {
            !self.over_ranks.is_communication(*index)
                && self.over_ranks.is_large(*index)
                && everywhere(*index)
        };
        let indices = self.totals.callpaths().iter().map(|(index, _)| index);
        let of_ranks = |index: CallpathIndex| -> Vec<u64> {
            self.ranks.iter().map(|&rank| self.exclusive_ns[index.row()][rank]).collect()
        };
        let regions: Vec<Vec<u64>> = indices.filter(looked_at).map(of_ranks).collect();
        let Straggler { rank, slow_regions, regions, slower_by, lost_ns } = straggler(&regions)?;
        let rank = self.ranks[rank as usize];
        let host = HostId::of_name(&self.totals.ranks()[rank].host);
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
        let host = HostId::of_name(&self.totals.ranks()[rank].host);
        Some(Busiest { rank: u32::try_from(rank).ok()?, host })
    }

    fn over_time(&self, index: CallpathIndex, trend: &Trend) -> Vec<Hint> {
        let visits = float(trend.visits_per_point);
        let mut found = Vec::new();
        if let Some(Growth { early_ns, late_ns, since, lost_ns }) = trend.growth {
            let since = since as u64 * trend.visits_per_point;
            found.push(Hint {
                kind: HintKind::Growth,
                callpath: Some(index),
                rank: None,
                iteration: Some(since),
                lost_ns: lost_ns * visits,
                headline: format!("{} takes longer since iteration {since}", self.over_ranks.name(index)),
                evidence: format!(
                    "A visit takes {} in the first quarter and {} in the last, {} more; that cost {} per rank.",
                    time(whole(early_ns)),
                    time(whole(late_ns)),
                    percent_cell(late_ns / early_ns - 1.0),
                    time(whole(lost_ns * visits)),
                ),
                advice: "Look for data that grows with the iterations.".to_owned(),
            });
        }
        if let Some(SlowFirst { first_ns, median_ns }) = trend.slow_first {
            let which = match trend.visits_per_point {
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
