//! What stands out in a run: functions of plain values, each with the threshold from which it
//! speaks.
//!
//! The thresholds are explained in `docs/hints.md`. A hint that is wrong costs its reader more than
//! one that is missing, so each of them needs an effect that is both great and clear.

mod hint;
mod of_ranks;
mod profile;

pub use hint::{Hint, HintKind};
pub(super) use of_ranks::hints_of_statistics;
pub(super) use profile::hints_of_profile;

/// So many hints are given: what comes after them is rarely worth a look before these are mended.
pub const HINTS_MAX: usize = 3;
/// Regions below this part of the total time are not looked at, except for their size.
pub const REGION_SHARE_MIN: f64 = 0.01;
/// Names in sentences are cut to so many columns.
const NAME_COLUMNS: usize = 40;

/// A straggler takes at least this much more time than the median rank ...
pub const STRAGGLER_SLOWER_BY: f64 = 0.10;
/// ... in at least this part of the regions.
pub const STRAGGLER_REGIONS_PART: f64 = 0.75;
/// With fewer regions nobody can tell a slow rank from one with more work.
pub const STRAGGLER_REGIONS_MIN: usize = 3;
/// With fewer ranks there is no median to compare with.
pub const STRAGGLER_RANKS_MIN: usize = 3;
/// A region is imbalanced when its slowest rank is this far above the mean ...
pub const IMBALANCE_MIN: f64 = 0.25;
/// ... and this part of the mean rank's total time lies between the two.
pub const IMBALANCE_LOSS_PART: f64 = 0.02;
/// A region grows when its last quarter takes this much more time than its first ...
pub const GROWTH_MIN: f64 = 0.20;
/// ... and later iterations are longer than earlier ones this consistently (Spearman's rank
/// correlation) ...
pub const GROWTH_ORDER_MIN: f64 = 0.5;
/// ... which is also this many standard errors from none.
pub const GROWTH_ORDER_ERRORS: f64 = 2.0;
/// With fewer iterations nothing is said of growth.
pub const GROWTH_ITERATIONS_MIN: usize = 8;
/// The first iteration is slow when it takes this many times the median of the others.
pub const FIRST_TIMES_MEDIAN: f64 = 2.0;
/// With fewer iterations nothing is said of the first.
pub const FIRST_ITERATIONS_MIN: usize = 4;
/// A region is too small for its measurement when a visit is shorter than this, in nanoseconds ...
pub const SMALL_VISIT_NS: f64 = 500.0;
/// ... and the measurement of its visits takes this part of the total time.
pub const SMALL_COST_PART: f64 = 0.01;
/// What the measurement of one visit is taken to cost where the profile does not tell, in
/// nanoseconds: see `docs/overhead.md`.
pub const VISIT_COST_NS: f64 = 25.0;

/// A rank that is slow in most regions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Straggler {
    /// The rank.
    pub rank: u32,
    /// In how many of the regions it is slow.
    pub slow_regions: usize,
    /// How many regions were looked at.
    pub regions: usize,
    /// How much more time than the median rank it takes in all regions together: 0.25 is a quarter
    /// more.
    pub slower_by: f64,
    /// The time that it takes more than the median rank, in nanoseconds.
    pub lost_ns: f64,
}

/// The rank that is slower than the median by [`STRAGGLER_SLOWER_BY`] in at least
/// [`STRAGGLER_REGIONS_PART`] of the regions, if there is one; of several the one that loses most
/// time.
///
/// `regions` has the exclusive time of each rank, in nanoseconds, for every region that all ranks
/// visited. Regions in which ranks wait for each other should not be among them: a straggler waits
/// least.
///
/// # Cost
/// The regions are sorted one by one: `n log n` in the number of ranks.
#[must_use]
pub fn straggler(regions: &[Vec<u64>]) -> Option<Straggler> {
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

/// The time between the slowest rank and the mean, in nanoseconds, where a region is imbalanced.
///
/// `total_ns` is the total time of the mean rank. None below [`IMBALANCE_MIN`] or
/// [`IMBALANCE_LOSS_PART`].
#[must_use]
pub fn imbalanced(max_ns: f64, mean_ns: f64, total_ns: f64) -> Option<f64> {
    let lost_ns = max_ns - mean_ns;
    let clear = mean_ns > 0.0 && lost_ns >= IMBALANCE_MIN * mean_ns;
    (clear && total_ns > 0.0 && lost_ns >= IMBALANCE_LOSS_PART * total_ns).then_some(lost_ns)
}

/// A region that takes more and more time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The mean of the first quarter, in nanoseconds a visit. The very first is left out: it is
    /// often special.
    pub early_ns: f64,
    /// The mean of the last quarter, in nanoseconds a visit.
    pub late_ns: f64,
    /// The first iteration from which on all are longer than those of the first quarter by half of
    /// what they grow.
    pub since: usize,
    /// What the growth has cost, in nanoseconds: the sum of what iterations took more than the
    /// first quarter.
    pub lost_ns: f64,
}

/// Whether the iterations of a region take more and more time; `times_ns` has one value each.
///
/// # Cost
/// `n log n` in the number of iterations.
#[must_use]
pub fn growing(times_ns: &[f64]) -> Option<Growth> {
    if times_ns.len() < GROWTH_ITERATIONS_MIN || times_ns.iter().any(|ns| !ns.is_finite()) {
        return None;
    }
    let rest = &times_ns[1..];
    let quarter = (rest.len() / 4).max(1);
    let (early_ns, late_ns) = (mean(&rest[..quarter]), mean(&rest[rest.len() - quarter..]));
    let grown = early_ns > 0.0 && late_ns >= early_ns * (1.0 + GROWTH_MIN);
    // Of values in no order the correlation has a standard error of 1 / sqrt(n - 1).
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
pub struct SlowFirst {
    /// The first, in nanoseconds.
    pub first_ns: f64,
    /// The median of the others, in nanoseconds.
    pub median_ns: f64,
}

/// Whether the first iteration takes at least [`FIRST_TIMES_MEDIAN`] times the median of the
/// others.
///
/// # Cost
/// `n log n` in the number of iterations.
#[must_use]
pub fn slow_first(times_ns: &[f64]) -> Option<SlowFirst> {
    let (&first_ns, rest) = times_ns.split_first()?;
    if times_ns.len() < FIRST_ITERATIONS_MIN {
        return None;
    }
    let median_ns = median(rest);
    (median_ns > 0.0 && first_ns >= FIRST_TIMES_MEDIAN * median_ns)
        .then_some(SlowFirst { first_ns, median_ns })
}

/// Whether measuring a region, which cost `cost_ns` nanoseconds, is too much for its size.
///
/// `visits` and `sum_ns` are those of all ranks together, `total_ns` is the total time of all
/// ranks.
#[must_use]
pub fn is_too_small(visits: u64, sum_ns: f64, cost_ns: f64, total_ns: f64) -> bool {
    let small = visits > 0 && sum_ns / float(visits) < SMALL_VISIT_NS;
    small && total_ns > 0.0 && cost_ns >= SMALL_COST_PART * total_ns
}

/// Spearman's rank correlation of values with their places, between -1 and 1. Equal values share a
/// rank.
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
