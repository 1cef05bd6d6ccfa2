//! The precision of the times of a profile, and their rounding. The rank that owns the times rounds
//! them before it sends any.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{CallpathValues, EventMap, ExecutionSummary, SeriesBucket};
use crate::bytes::column::round;

/// The precision of the times of a profile. Counts and metrics are always exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precision {
    /// Nanoseconds, as measured.
    #[default]
    #[serde(rename = "exact")]
    Exact,
    /// Rounded to eight significant bits: off by at most 0.4 %.
    #[serde(rename = "8bit")]
    EightBit,
}

impl Precision {
    /// Returns the spelling in `TINYPROF_PRECISION` and the manifest: `exact` or `8bit`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::EightBit => "8bit",
        }
    }
}

impl EventMap {
    /// Returns the measurements rounded to `precision`.
    ///
    /// ```
    /// use tinyprof_format::model::{CallpathValues, EventMap, ExecutionSummary, Precision};
    ///
    /// let executions = vec![ExecutionSummary::of_one_visit(0, 1_000_001)];
    /// let values = vec![CallpathValues { executions, ..CallpathValues::default() }];
    /// let map = EventMap { values, ..EventMap::default() };
    /// assert_eq!(map.in_precision(Precision::Exact).values[0].inclusive_ns(), 1_000_001);
    /// assert_eq!(map.in_precision(Precision::EightBit).values[0].inclusive_ns(), 999_424);
    /// ```
    #[must_use]
    pub fn in_precision(&self, precision: Precision) -> Cow<'_, Self> {
        match precision {
            Precision::Exact => Cow::Borrowed(self),
            Precision::EightBit => {
                let mut map = self.clone();
                map.values.iter_mut().for_each(round_values);
                Cow::Owned(map)
            }
        }
    }
}

/// Returns `values` rounded to `precision`.
pub(crate) fn rounded(values: &CallpathValues, precision: Precision) -> Cow<'_, CallpathValues> {
    match precision {
        Precision::Exact => Cow::Borrowed(values),
        Precision::EightBit => {
            let mut values = values.clone();
            round_values(&mut values);
            Cow::Owned(values)
        }
    }
}

fn round_values(values: &mut CallpathValues) {
    let add_up = are_of_series(&values.executions, &values.series);
    for bucket in &mut values.series {
        bucket.sum_ns = round(bucket.sum_ns);
        bucket.min_ns = round(bucket.min_ns);
        bucket.max_ns = round(bucket.max_ns);
    }
    if add_up {
        // The sums then still match the series, and need not be stored beside it.
        values.executions = of_series(&values.series, values.executions.len());
    } else {
        values.executions.iter_mut().for_each(round_summary);
    }
}

/// Rounds a summary and adjusts its squares to the rounded sum. They serve to compute the variance,
/// a difference of both that the rounding error would otherwise hide.
#[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
fn round_summary(summary: &mut ExecutionSummary) {
    let rounded = round(summary.sum_ns);
    if *summary == ExecutionSummary::of_one_visit(summary.execution, summary.sum_ns) {
        *summary = ExecutionSummary::of_one_visit(summary.execution, rounded);
        return;
    }
    let visits = summary.visits.max(1) as f64;
    let square_of_mean = |sum_ns: u64| sum_ns as f64 * (sum_ns as f64 / visits);
    let spread = (summary.sum_squares_ns2 - square_of_mean(summary.sum_ns)).max(0.0);
    summary.sum_squares_ns2 = spread + square_of_mean(rounded);
    summary.sum_ns = rounded;
    summary.min_ns = round(summary.min_ns);
    summary.max_ns = round(summary.max_ns);
}

/// Returns true if the summaries are exactly those of the series, bit by bit.
pub(crate) fn are_of_series(executions: &[ExecutionSummary], series: &[SeriesBucket]) -> bool {
    let bits = |e: &ExecutionSummary| [e.sum_squares_ns2, e.sum_variance_ns2].map(f64::to_bits);
    let of_series = of_series(series, executions.len());
    series.iter().all(|b| *b == SeriesBucket::of_one_visit(b.execution, b.sum_ns))
        && executions == of_series
        && executions.iter().map(bits).eq(of_series.iter().map(bits))
}

/// Returns the summaries of a series whose buckets hold one visit each. `executions` is their
/// number.
pub(crate) fn of_series(series: &[SeriesBucket], executions: usize) -> Vec<ExecutionSummary> {
    let mut summaries: Vec<ExecutionSummary> = Vec::with_capacity(executions);
    for bucket in series {
        let visit = ExecutionSummary::of_one_visit(bucket.execution, bucket.sum_ns);
        match summaries.last_mut().filter(|last| last.execution == bucket.execution) {
            Some(last) => last.absorb(&visit),
            None => summaries.push(visit),
        }
    }
    summaries
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn times() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0_u32..60).prop_map(|(value, shift)| value >> 4 >> shift)
    }

    fn in_bound(found: u64, exact: u64) -> bool {
        u128::from(found.abs_diff(exact)) * 1000 <= u128::from(exact) * 4
    }

    fn rounded(values: &CallpathValues) -> CallpathValues {
        let map = EventMap { values: vec![values.clone()], ..EventMap::default() };
        map.in_precision(Precision::EightBit).values[0].clone()
    }

    #[expect(clippy::cast_precision_loss, reason = "an oracle for floats")]
    fn variance(e: &ExecutionSummary) -> f64 {
        e.sum_squares_ns2 / e.visits as f64 - (e.sum_ns as f64 / e.visits as f64).powi(2)
    }

    proptest! {
        #[test]
        fn times_are_off_by_four_per_mille_at_most_and_counts_are_exact(
            visits in prop::collection::vec((0_u32..3, times()), 1..50),
            fold in any::<bool>(),
        ) {
            let mut series: Vec<_> = visits.iter().map(|&(e, ns)| SeriesBucket::of_one_visit(e, ns)).collect();
            series.sort_by_key(|b| b.execution);
            let executions = of_series(&series, 3);
            if fold {
                series.iter_mut().for_each(|b| *b = SeriesBucket { visits: 2, min_ns: b.sum_ns / 3, ..*b });
            }
            let exact = CallpathValues { executions, series, ..CallpathValues::default() };
            let found = rounded(&exact);
            prop_assert_eq!(are_of_series(&found.executions, &found.series), !fold);
            prop_assert_eq!(found.series.len(), exact.series.len());
            for (found, exact) in found.series.iter().zip(&exact.series) {
                prop_assert_eq!((found.execution, found.visits), (exact.execution, exact.visits));
                prop_assert!(in_bound(found.sum_ns, exact.sum_ns) && in_bound(found.min_ns, exact.min_ns));
                prop_assert!(in_bound(found.max_ns, exact.max_ns));
            }
            prop_assert_eq!(found.executions.len(), exact.executions.len());
            for (found, exact) in found.executions.iter().zip(&exact.executions) {
                prop_assert_eq!(
                    (found.execution, found.executions, found.visits),
                    (exact.execution, exact.executions, exact.visits)
                );
                prop_assert!(in_bound(found.sum_ns, exact.sum_ns) && in_bound(found.min_ns, exact.min_ns));
                prop_assert!(in_bound(found.max_ns, exact.max_ns));
            }
        }
    }

    #[test]
    fn a_small_variance_around_a_large_mean_is_kept() {
        let visits = (0..1000).map(|i| SeriesBucket::of_one_visit(0, 1_000_037 + i % 7));
        let executions = of_series(&visits.collect::<Vec<_>>(), 1);
        let exact = CallpathValues { executions, ..CallpathValues::default() };
        let found = rounded(&exact);
        assert_ne!(found.executions[0].sum_ns, exact.executions[0].sum_ns);
        let (found, exact) = (variance(&found.executions[0]), variance(&exact.executions[0]));
        assert!((found / exact - 1.0).abs() < 0.01, "{found} and {exact} square nanoseconds");
    }
}
