//! Detection of notable findings in a run: functions of plain values, each with its threshold.
//!
//! `docs/hints.md` explains the thresholds. A wrong hint costs its reader more than a missing one,
//! so each hint needs an effect that is both large and clear.

mod hint;
mod of_ranks;
mod of_run;
mod of_waits;
mod totals;

pub use hint::{Hint, HintKind};
pub(super) use of_ranks::{Facts, hints_of_statistics};
pub(super) use totals::hints_of_totals;

use crate::facts::numbers::{float, float_of, median};

/// The maximum number of hints. Further ones are rarely worth a look before these are fixed.
pub const HINTS_MAX: usize = 3;
/// The minimum exclusive time of a region as a part of the total time. Smaller regions are ignored,
/// except by the hint about too small regions.
pub(crate) const REGION_SHARE_MIN: f64 = 0.01;
/// The maximum width of a name in a sentence, in columns.
const NAME_COLUMNS: usize = 40;

/// The minimum excess of a straggler's time over that of the median rank, as a part of it ...
pub(crate) const STRAGGLER_SLOWER_BY: f64 = 0.10;
/// ... and the minimum part of the regions in which it does.
pub(crate) const STRAGGLER_REGIONS_PART: f64 = 0.75;
/// The minimum number of regions. With fewer, a slow rank looks like a rank with more work.
pub(crate) const STRAGGLER_REGIONS_MIN: usize = 3;
/// The minimum number of ranks. With fewer, there is no meaningful median.
pub(crate) const STRAGGLER_RANKS_MIN: usize = 3;
/// The minimum imbalance of a region: the slowest rank is this far above the mean ...
pub(crate) const IMBALANCE_MIN: f64 = 0.25;
/// ... and the difference is at least this part of the mean rank's total time.
pub(crate) const IMBALANCE_LOSS_PART: f64 = 0.02;
/// The maximum mean time of a visit of a region that is too small to be measured, in nanoseconds
/// ...
pub(crate) const SMALL_VISIT_NS: f64 = 500.0;
/// ... and the minimum part of the total time that measuring its visits took.
pub(crate) const SMALL_COST_PART: f64 = 0.01;
/// The efficiency below which its cause is reported: parallel efficiency, or a factor of it.
pub(crate) const EFFICIENCY_MIN: f64 = 0.80;
/// The minimum time of input and output as a part of the total time.
pub(crate) const INPUT_OUTPUT_PART: f64 = 0.20;
/// The minimum number of ranks on a host for each of its CPUs that is too many. Slightly more ranks
/// than CPUs may be on purpose.
pub(crate) const CROWDED_PART: f64 = 1.25;
/// The minimum time of writing profiles as a part of the mean rank's total time.
pub(crate) const WRITING_PART: f64 = 0.10;
/// The minimum time of waiting for the same reason as a part of the time of all ranks.
pub(crate) const WAITING_PART: f64 = 0.05;
/// The part of a load imbalance that a single rank or region must explain to be reported in place
/// of it.
pub(crate) const EXPLAINED_PART: f64 = 0.5;

/// A rank that is slow in most regions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Straggler {
    /// The rank.
    pub(crate) rank: u32,
    /// The number of regions in which it is slow.
    pub(crate) slow_regions: usize,
    /// The number of regions examined.
    pub(crate) regions: usize,
    /// The time by which it exceeds the median rank in all regions together, as a part of the
    /// median: 0.25 is a quarter more.
    pub(crate) slower_by: f64,
    /// The time by which it exceeds the median rank, in nanoseconds.
    pub(crate) lost_ns: f64,
}

/// Returns the rank that is slower than the median by [`STRAGGLER_SLOWER_BY`] in at least
/// [`STRAGGLER_REGIONS_PART`] of the regions, if any; of several, the one that loses the most time.
///
/// `regions` has the exclusive time of each rank, in nanoseconds, for every region that all ranks
/// visited. It should not contain regions in which ranks wait for each other: a straggler waits
/// least.
///
/// # Cost
/// Sorts the times of each region: `n log n` in the number of ranks.
#[must_use]
pub(crate) fn straggler(regions: &[Vec<u64>]) -> Option<Straggler> {
    let ranks = regions.iter().map(Vec::len).min().unwrap_or(0);
    if ranks < STRAGGLER_RANKS_MIN || regions.len() < STRAGGLER_REGIONS_MIN {
        return None;
    }
    let float = |times_ns: &Vec<u64>| times_ns.iter().map(|&ns| float(ns)).collect::<Vec<_>>();
    let regions: Vec<Vec<f64>> = regions.iter().map(float).collect();
    let medians: Vec<f64> = regions.iter().map(|times_ns| median(times_ns)).collect();
    let median_ns: f64 = medians.iter().sum();
    let of_rank = |rank: usize| {
        let slow = |(times_ns, median_ns): (&Vec<f64>, &f64)| {
            times_ns[rank] >= median_ns * (1.0 + STRAGGLER_SLOWER_BY) && times_ns[rank] > 0.0
        };
        let slow_regions = regions.iter().zip(&medians).filter(|&pair| slow(pair)).count();
        let lost_ns = regions.iter().map(|times_ns| times_ns[rank]).sum::<f64>() - median_ns;
        let slower_by = lost_ns / median_ns;
        Straggler { rank: number(rank), slow_regions, regions: regions.len(), slower_by, lost_ns }
    };
    let most = STRAGGLER_REGIONS_PART * float_of(regions.len());
    let slow = |found: &Straggler| {
        float_of(found.slow_regions) >= most
            && found.slower_by >= STRAGGLER_SLOWER_BY
            && median_ns > 0.0
    };
    (0..ranks).map(of_rank).filter(slow).max_by(|a, b| a.lost_ns.total_cmp(&b.lost_ns))
}

/// Returns the time between the slowest rank and the mean, in nanoseconds, if a region is
/// imbalanced.
///
/// `total_ns` is the total time of the mean rank. None below [`IMBALANCE_MIN`] or
/// [`IMBALANCE_LOSS_PART`].
#[must_use]
pub(crate) fn imbalanced(max_ns: f64, mean_ns: f64, total_ns: f64) -> Option<f64> {
    let lost_ns = max_ns - mean_ns;
    let clear = mean_ns > 0.0 && lost_ns >= IMBALANCE_MIN * mean_ns;
    (clear && total_ns > 0.0 && lost_ns >= IMBALANCE_LOSS_PART * total_ns).then_some(lost_ns)
}

/// Returns true if measuring a region, which cost `cost_ns` nanoseconds, is out of proportion to
/// its size.
///
/// `visits` and `sum_ns` are those of all ranks together, `total_ns` is the total time of all
/// ranks.
#[must_use]
pub(crate) fn is_too_small(visits: u64, sum_ns: f64, cost_ns: f64, total_ns: f64) -> bool {
    let small = visits > 0 && sum_ns / float(visits) < SMALL_VISIT_NS;
    small && total_ns > 0.0 && cost_ns >= SMALL_COST_PART * total_ns
}

fn number(rank: usize) -> u32 {
    u32::try_from(rank).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
