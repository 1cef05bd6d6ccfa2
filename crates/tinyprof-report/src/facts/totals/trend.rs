//! The change of a callpath from visit to visit: growth, and a slow beginning.

use crate::facts::numbers::{float_of, median};
use crate::facts::totals::iterations::Iterations;

/// The maximum number of points of a series. Longer series are examined in this many points.
pub(crate) const POINTS_MAX: usize = 256;
/// The minimum of Spearman's rank correlation between the times and their order from which on these
/// rise ...
pub(crate) const GROWTH_ORDER_MIN: f64 = 0.5;
/// ... which is also at least this many standard errors above zero.
pub(crate) const GROWTH_ORDER_ERRORS: f64 = 2.0;
/// The minimum number of iterations in which growth is looked for.
pub(crate) const GROWTH_ITERATIONS_MIN: usize = 8;
/// The minimum number of iterations by which the first one is compared with the others.
pub(crate) const FIRST_ITERATIONS_MIN: usize = 4;

/// The changes of a callpath's visits; at least one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Trend {
    /// The number of adjacent visits that a point covers.
    pub(crate) visits_per_point: u64,
    pub(crate) growth: Option<Growth>,
    pub(crate) first: Option<First>,
}

impl Trend {
    /// Returns the changes of the mean rank, if there are any.
    pub(crate) fn of(iterations: &Iterations) -> Option<Self> {
        let means: Vec<f64> = iterations.points.iter().map(|point| point.mean).collect();
        let (growth, first) = (growing(&means), first_of(&means));
        let visits_per_point = iterations.visits_per_point;
        let is_known = growth.is_some() || first.is_some();
        is_known.then_some(Self { visits_per_point, growth, first })
    }
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
    let grown = early_ns > 0.0 && late_ns > early_ns;
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

/// The first iteration beside the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct First {
    /// The time of the first, in nanoseconds.
    pub(crate) first_ns: f64,
    /// The median of the others, in nanoseconds.
    pub(crate) median_ns: f64,
}

/// Returns the first iteration's time beside the median of the others, if that is no zero.
///
/// # Cost
/// `n log n` in the number of iterations.
#[must_use]
pub(crate) fn first_of(times_ns: &[f64]) -> Option<First> {
    let (&first_ns, rest) = times_ns.split_first()?;
    if times_ns.len() < FIRST_ITERATIONS_MIN {
        return None;
    }
    let median_ns = median(rest);
    (median_ns > 0.0 && first_ns > median_ns).then_some(First { first_ns, median_ns })
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `count` iterations that rise linearly from 100 ns by `percent` percent.
    fn ramp(count: usize, percent: f64) -> Vec<f64> {
        let rest = float_of(count - 1);
        (0..count).map(|i| 100.0 + percent * float_of(i.saturating_sub(1)) / rest).collect()
    }

    #[test]
    fn growth_is_that_of_a_quarter() {
        // The means of the first and last quarters are three quarters of the ramp apart.
        let found = growing(&ramp(41, 40.0)).expect("0.75 * 40 % are enough");
        assert!(found.late_ns / found.early_ns > 1.2);
        assert!((15..=26).contains(&found.since), "{found:?}");
        let little = growing(&ramp(41, 25.0)).expect("it is for the rule to judge");
        assert!(little.late_ns / little.early_ns < 1.2);
        assert_eq!(growing(&ramp(41, -40.0)), None);
    }

    #[test]
    fn a_step_is_growth_and_says_since_when() {
        let step = |at: usize| -> Vec<f64> {
            (0..40).map(|i| if i < at { 100.0 } else { 150.0 }).collect()
        };
        let found = growing(&step(30)).expect("a step");
        assert_eq!((found.since, found.early_ns, found.late_ns), (30, 100.0, 150.0));
        assert!((found.lost_ns - 500.0).abs() < 1e-9);
        // The last three alone are an event, not growth.
        assert_eq!(growing(&step(37)), None);
    }

    #[test]
    fn growth_in_no_order_or_of_few_iterations_is_none() {
        // The last quarter is longer because of one outlier.
        let mut outlier = vec![100.0; 40];
        outlier[35] = 1_000.0;
        assert_eq!(growing(&outlier), None);
        assert!(growing(&ramp(GROWTH_ITERATIONS_MIN, 60.0)).is_some());
        assert_eq!(growing(&ramp(GROWTH_ITERATIONS_MIN - 1, 60.0)), None);
        assert_eq!(growing(&[f64::NAN; 20]), None);
        // A random order of seven values is like this one time in ten.
        assert_eq!(growing(&[0.0, 100.0, 160.0, 130.0, 90.0, 150.0, 120.0, 170.0]), None);
    }

    #[test]
    fn a_first_iteration_is_compared_with_the_median_of_the_others() {
        let found = first_of(&[200.0, 90.0, 100.0, 110.0]);
        assert_eq!(found, Some(First { first_ns: 200.0, median_ns: 100.0 }));
        assert_eq!(first_of(&[99.0, 90.0, 100.0, 110.0]), None);
        assert_eq!(first_of(&[200.0, 90.0, 110.0]), None);
        assert_eq!(first_of(&[1.0, 0.0, 0.0, 0.0]), None);
        assert_eq!(first_of(&[]), None);
    }

    #[test]
    fn order_is_that_of_spearman() {
        let check = |values: &[f64], expected: f64| {
            assert!((order(values) - expected).abs() < 1e-12, "{values:?}");
        };
        check(&[1.0, 2.0, 3.0], 1.0);
        check(&[3.0, 2.0, 1.0], -1.0);
        check(&[2.0, 2.0, 2.0], 0.0);
        check(&[1.0, 3.0, 2.0], 0.5);
        // Ties share the mean of their ranks.
        check(&[1.0, 1.0, 2.0], 0.75_f64.sqrt());
    }
}
