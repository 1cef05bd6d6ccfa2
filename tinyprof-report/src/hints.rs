//! Detection of notable findings in a run: functions of plain values, each with its threshold.
//!
//! `docs/hints.md` explains the thresholds. A wrong hint costs its reader more than a missing one,
//! so each hint needs an effect that is both large and clear.

mod hint;
mod occupancy;
mod of_ranks;
mod of_run;
mod profile;

pub use hint::{Hint, HintKind};
pub(super) use occupancy::Occupancy;
pub(super) use of_ranks::{Facts, hints_of_statistics};
pub(super) use profile::hints_of_profile;

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
/// The minimum growth of a region from its first quarter to its last ...
pub(crate) const GROWTH_MIN: f64 = 0.20;
/// ... and the minimum of Spearman's rank correlation between the times and their order ...
pub(crate) const GROWTH_ORDER_MIN: f64 = 0.5;
/// ... which is also at least this many standard errors above zero.
pub(crate) const GROWTH_ORDER_ERRORS: f64 = 2.0;
/// The minimum number of iterations for a hint about growth.
pub(crate) const GROWTH_ITERATIONS_MIN: usize = 8;
/// The minimum ratio of the first iteration to the median of the others.
pub(crate) const FIRST_TIMES_MEDIAN: f64 = 2.0;
/// The minimum number of iterations for a hint about the first one.
pub(crate) const FIRST_ITERATIONS_MIN: usize = 4;
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

/// A region whose visits take longer and longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Growth {
    /// The mean of the first quarter, in nanoseconds a visit. Excludes the very first visit, which
    /// is often special.
    pub(crate) early_ns: f64,
    /// The mean of the last quarter, in nanoseconds a visit.
    pub(crate) late_ns: f64,
    /// The first iteration from which on all iterations exceed the mean of the first quarter by at
    /// least half of the growth.
    pub(crate) since: usize,
    /// The cost of the growth, in nanoseconds: the sum over the iterations of the time above the
    /// mean of the first quarter.
    pub(crate) lost_ns: f64,
}

/// Returns the growth of a region whose iterations take longer and longer, if it does; `times_ns`
/// has one value for each iteration.
///
/// # Cost
/// `n log n` in the number of iterations.
#[must_use]
pub(crate) fn growing(times_ns: &[f64]) -> Option<Growth> {
    if times_ns.len() < GROWTH_ITERATIONS_MIN || times_ns.iter().any(|ns| !ns.is_finite()) {
        return None;
    }
    let rest = &times_ns[1..];
    let quarter = (rest.len() / 4).max(1);
    let (early_ns, late_ns) = (mean(&rest[..quarter]), mean(&rest[rest.len() - quarter..]));
    let grown = early_ns > 0.0 && late_ns >= early_ns * (1.0 + GROWTH_MIN);
    // For values in random order, the correlation has a standard error of 1 / sqrt(n - 1).
    let by_chance = GROWTH_ORDER_ERRORS / float_of(rest.len() - 1).sqrt();
    if !grown || order(rest) < GROWTH_ORDER_MIN.max(by_chance) {
        return None;
    }
    let half_ns = f64::midpoint(early_ns, late_ns);
    let since = times_ns.iter().rposition(|&ns| ns < half_ns).map_or(0, |at| at + 1);
    let lost_ns = rest.iter().map(|&ns| (ns - early_ns).max(0.0)).sum();
    Some(Growth { early_ns, late_ns, since, lost_ns })
}

/// A first iteration that takes much longer than the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SlowFirst {
    /// The time of the first, in nanoseconds.
    pub(crate) first_ns: f64,
    /// The median of the others, in nanoseconds.
    pub(crate) median_ns: f64,
}

/// Returns the first iteration's time if it is at least [`FIRST_TIMES_MEDIAN`] times the median of
/// the others.
///
/// # Cost
/// `n log n` in the number of iterations.
#[must_use]
pub(crate) fn slow_first(times_ns: &[f64]) -> Option<SlowFirst> {
    let (&first_ns, rest) = times_ns.split_first()?;
    if times_ns.len() < FIRST_ITERATIONS_MIN {
        return None;
    }
    let median_ns = median(rest);
    (median_ns > 0.0 && first_ns >= FIRST_TIMES_MEDIAN * median_ns)
        .then_some(SlowFirst { first_ns, median_ns })
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

/// Returns Spearman's rank correlation of the values with their positions, between -1 and 1. Equal
/// values share a rank.
fn order(values: &[f64]) -> f64 {
    let mut places: Vec<usize> = (0..values.len()).collect();
    places.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut at = 0;
    while at < places.len() {
        let same = places[at..]
            .iter()
            .take_while(|&&p| values[p].total_cmp(&values[places[at]]).is_eq())
            .count();
        let shared = float_of(at) + float_of(same - 1) / 2.0;
        for &place in &places[at..at + same] {
            ranks[place] = shared;
        }
        at += same;
    }
    let middle = float_of(values.len() - 1) / 2.0;
    let (mut both, mut of_ranks, mut of_places) = (0.0, 0.0, 0.0);
    for (place, rank) in ranks.iter().enumerate() {
        let (rank, place) = (rank - middle, float_of(place) - middle);
        both += rank * place;
        of_ranks += rank * rank;
        of_places += place * place;
    }
    let spread = (of_ranks * of_places).sqrt();
    if spread > 0.0 { both / spread } else { 0.0 }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / float_of(values.len())
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[expect(clippy::cast_precision_loss, reason = "thresholds need no more than 53 bits")]
const fn float(ns: u64) -> f64 {
    ns as f64
}

const fn float_of(count: usize) -> f64 {
    float(count as u64)
}

fn number(rank: usize) -> u32 {
    u32::try_from(rank).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
