//! The facts of ranks: how much longer each takes than the median rank, in regions that all visit.

use super::super::hint::HintScope;
use super::super::phrases::on_host;
use super::super::run::{ByRank, Run};
use super::super::values::Values;
use super::Subject;
use crate::facts::numbers::{float, float_of, median};

/// The excess over the median rank's time from which on a rank is slow in a region, as a part.
const SLOWER_BY: f64 = 0.10;

pub(super) fn subjects(run: &Run<'_>) -> Vec<Subject> {
    let Some(of) = &run.ranks else { return Vec::new() };
    let excesses = excesses(&regions(run, of));
    let subject = |(excess, &at): (&Excess, &usize)| {
        let rank = u32::try_from(at).ok()?;
        let mut values = excess.values();
        values.number("number", f64::from(rank));
        values.text("on_host", on_host(run, of.host(at)));
        let ranks = std::iter::once(rank).collect();
        Some(Subject { ranks, ..Subject::new(HintScope::Rank, values) })
    };
    excesses.iter().zip(&of.used).filter_map(subject).collect()
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

/// How much longer a rank takes than the median rank.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Excess {
    slow_regions: usize,
    regions: usize,
    /// The excess in all regions together, in ns, and as a part of the median.
    ns: f64,
    slower_by: f64,
}

impl Excess {
    fn values(&self) -> Values {
        let mut values = Values::default();
        values.number("compared_regions", float_of(self.regions));
        values.number("slow_regions", float_of(self.slow_regions));
        values.number("slower_by", self.slower_by);
        values.number("excess_seconds", self.ns * 1e-9);
        values
    }
}

/// Returns the excess of each rank; none without regions, or if the median rank has no time.
///
/// # Cost
/// Sorts the times of each region: `n log n` in the number of ranks.
fn excesses(regions: &[Vec<u64>]) -> Vec<Excess> {
    let ranks = regions.iter().map(Vec::len).min().unwrap_or(0);
    let floats = |times_ns: &Vec<u64>| times_ns.iter().map(|&ns| float(ns)).collect::<Vec<_>>();
    let regions: Vec<Vec<f64>> = regions.iter().map(floats).collect();
    let medians: Vec<f64> = regions.iter().map(|times_ns| median(times_ns)).collect();
    let median_ns: f64 = medians.iter().sum();
    if median_ns <= 0.0 {
        return Vec::new();
    }
    let of_rank = |rank: usize| {
        let slow = |(times_ns, median_ns): (&Vec<f64>, &f64)| {
            times_ns[rank] >= median_ns * (1.0 + SLOWER_BY) && times_ns[rank] > 0.0
        };
        let slow_regions = regions.iter().zip(&medians).filter(|&pair| slow(pair)).count();
        let ns = regions.iter().map(|times_ns| times_ns[rank]).sum::<f64>() - median_ns;
        Excess { slow_regions, regions: regions.len(), ns, slower_by: ns / median_ns }
    };
    (0..ranks).map(of_rank).collect()
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
    fn a_rank_is_compared_with_the_median_rank() {
        let found = excesses(&regions(4, 4, 111))[3];
        assert_eq!((found.slow_regions, found.regions), (4, 4));
        assert!((found.slower_by - 0.11).abs() < 1e-12 && (found.ns - 1_100.0).abs() < 1e-9);
        assert_eq!(excesses(&regions(4, 4, 109))[3].slow_regions, 0);
        assert_eq!(excesses(&regions(4, 3, 130))[3].slow_regions, 3);
        assert_eq!(excesses(&regions(4, 3, 130))[0].slow_regions, 0);
    }

    #[test]
    fn without_times_nothing_is_known() {
        assert_eq!(excesses(&[]), []);
        assert_eq!(excesses(&vec![vec![0, 0, 0]; 3]), []);
    }
}
