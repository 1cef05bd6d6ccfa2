//! A rank that is slow in most regions.

use super::finding::{Certainty, Finding, FindingKind, Words};
use super::load_balance::explains_imbalance_of_work;
use super::phrases::on_host;
use super::rule::Rule;
use super::run::{ByRank, Run};
use crate::facts::numbers::{float, float_of, median, whole};
use crate::facts::statistics::spread::HostId;
use crate::words::units::{counted, percent_cell, time};

/// The minimum excess of a straggler's time over that of the median rank, as a part of it ...
const SLOWER_BY: f64 = 0.10;
/// ... and the minimum part of the regions in which it does.
const REGIONS_PART: f64 = 0.75;
/// The minimum number of regions. With fewer, a slow rank looks like a rank with more work.
const REGIONS_MIN: usize = 3;
/// The minimum number of ranks. With fewer, there is no meaningful median.
const RANKS_MIN: usize = 3;

pub(crate) struct StragglerRule;

impl Rule for StragglerRule {
    fn kind(&self) -> FindingKind {
        FindingKind::Straggler
    }

    fn find(&self, run: &Run<'_>) -> Vec<Finding> {
        let Some(of) = &run.ranks else { return Vec::new() };
        let Some(found) = straggler(&regions(run, of)) else { return Vec::new() };
        let at = of.used[found.rank];
        let Ok(rank) = u32::try_from(at) else { return Vec::new() };
        let words = words(run, &found, rank, of.host(at));
        let finding = Finding::new(self.kind(), found.lost_ns, words).because_of([rank]);
        vec![finding.with_certainty(Certainty::Estimated)]
    }

    fn explains(&self, own: &Finding, other: &Finding) -> bool {
        // The effect of a slow rank on each region is reported once.
        let is_in_region = other.kind == FindingKind::Imbalance && other.ranks == own.ranks;
        is_in_region || explains_imbalance_of_work(own, other)
    }
}

/// Returns the exclusive time of each rank, region by region: of those that are large, that all
/// ranks visited, and in which they do not wait for each other, since a straggler waits least.
fn regions(run: &Run<'_>, of: &ByRank<'_>) -> Vec<Vec<u64>> {
    let is_looked_at = |index| {
        !run.is_communication(index)
            && of.used.iter().all(|&rank| of.totals.visits(index, rank) > 0)
    };
    let looked_at = run.large().filter(|index| is_looked_at(*index));
    looked_at
        .map(|index| of.used.iter().map(|&rank| of.exclusive_ns[index.row()][rank]).collect())
        .collect()
}

/// A rank that is slow in most regions.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Straggler {
    /// The position of the rank.
    rank: usize,
    /// The number of regions in which it is slow.
    slow_regions: usize,
    /// The number of regions examined.
    regions: usize,
    /// The time by which it exceeds the median rank in all regions together, as a part of the
    /// median: 0.25 is a quarter more.
    slower_by: f64,
    /// The time by which it exceeds the median rank, in nanoseconds.
    lost_ns: f64,
}

/// Returns the rank that is slower than the median by [`SLOWER_BY`] in at least [`REGIONS_PART`] of
/// the regions, if any; of several, the one that loses the most time.
///
/// # Cost
/// Sorts the times of each region: `n log n` in the number of ranks.
fn straggler(regions: &[Vec<u64>]) -> Option<Straggler> {
    let ranks = regions.iter().map(Vec::len).min().unwrap_or(0);
    if ranks < RANKS_MIN || regions.len() < REGIONS_MIN {
        return None;
    }
    let float = |times_ns: &Vec<u64>| times_ns.iter().map(|&ns| float(ns)).collect::<Vec<_>>();
    let regions: Vec<Vec<f64>> = regions.iter().map(float).collect();
    let medians: Vec<f64> = regions.iter().map(|times_ns| median(times_ns)).collect();
    let median_ns: f64 = medians.iter().sum();
    let of_rank = |rank: usize| {
        let slow = |(times_ns, median_ns): (&Vec<f64>, &f64)| {
            times_ns[rank] >= median_ns * (1.0 + SLOWER_BY) && times_ns[rank] > 0.0
        };
        let slow_regions = regions.iter().zip(&medians).filter(|&pair| slow(pair)).count();
        let lost_ns = regions.iter().map(|times_ns| times_ns[rank]).sum::<f64>() - median_ns;
        let slower_by = lost_ns / median_ns;
        Straggler { rank, slow_regions, regions: regions.len(), slower_by, lost_ns }
    };
    let most = REGIONS_PART * float_of(regions.len());
    let slow = |found: &Straggler| {
        float_of(found.slow_regions) >= most && found.slower_by >= SLOWER_BY && median_ns > 0.0
    };
    (0..ranks).map(of_rank).filter(slow).max_by(|a, b| a.lost_ns.total_cmp(&b.lost_ns))
}

fn words(run: &Run<'_>, found: &Straggler, rank: u32, host: HostId) -> Words {
    let Straggler { slow_regions, regions, slower_by, lost_ns, .. } = *found;
    Words {
        headline: format!("Rank {rank}{} is slow everywhere", on_host(run, host)),
        evidence: format!(
            "It takes {} more time than the median rank, and is slower in {slow_regions} of {}: \
             {} in all.",
            percent_cell(slower_by),
            counted(regions as u64, "region"),
            time(whole(lost_ns)),
        ),
        advice: "Look at its host and at its part of the input.".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns regions with the same times on all ranks except the last, which takes `percent` of
    /// that time in the first `slow` of them.
    fn regions(count: usize, slow: usize, percent: u64) -> Vec<Vec<u64>> {
        let of = |region: usize| {
            let ns = 1_000 * (region as u64 + 1);
            vec![ns, ns, ns, if region < slow { ns * percent / 100 } else { ns }]
        };
        (0..count).map(of).collect()
    }

    #[test]
    fn a_straggler_is_slow_enough_in_enough_regions() {
        let found = straggler(&regions(4, 4, 111)).expect("eleven percent in all of them");
        assert_eq!((found.rank, found.slow_regions, found.regions), (3, 4, 4));
        assert!((found.slower_by - 0.11).abs() < 1e-12 && (found.lost_ns - 1_100.0).abs() < 1e-9);
        assert_eq!(straggler(&regions(4, 4, 109)), None);
        // Three of four regions are enough, two of four are not.
        assert!(straggler(&regions(4, 3, 130)).is_some());
        assert_eq!(straggler(&regions(4, 2, 200)), None);
    }

    #[test]
    fn few_regions_or_ranks_make_no_straggler() {
        assert!(straggler(&regions(REGIONS_MIN, REGIONS_MIN, 200)).is_some());
        assert_eq!(straggler(&regions(REGIONS_MIN - 1, REGIONS_MIN, 200)), None);
        assert!(straggler(&vec![vec![10, 10, 20]; 3]).is_some());
        assert_eq!(straggler(&vec![vec![10, 20]; 3]), None);
        assert_eq!(straggler(&[]), None);
        assert_eq!(straggler(&vec![vec![0, 0, 0]; 3]), None);
    }

    #[test]
    fn of_two_stragglers_the_one_that_loses_most_is_told() {
        let found = straggler(&vec![vec![100, 100, 100, 150, 140]; 3]).expect("two of them");
        assert_eq!(found.rank, 3);
    }
}
