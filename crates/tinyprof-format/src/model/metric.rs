//! Varying metrics: numbers that a region records under a key, one per visit (the paper's varying
//! metrics).
//!
//! They are kept apart from times. A sum of floats depends on the order of its terms, so sums are
//! formed in the order of the program and never regrouped.

use super::span::{Span, merge_overlapping};

/// The sums over the values of one execution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricSummary {
    /// The first execution that this summary covers, 0-based.
    pub execution: u32,
    /// The number of executions that it covers: 1, or more where a long run was folded.
    pub executions: u32,
    /// The number of values; never 0.
    pub values: u64,
    /// The sum of the values, in their own unit.
    pub sum: f64,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
    /// The sum of the squares of the values.
    pub sum_squares: f64,
}

impl MetricSummary {
    /// Returns the summary of a single value.
    ///
    /// Every summary of exactly one value equals this one, so such rows store only the sum.
    #[must_use]
    pub const fn of_one_value(execution: u32, value: f64) -> Self {
        let sum_squares = value * value;
        Self {
            execution,
            executions: 1,
            values: 1,
            sum: value,
            min: value,
            max: value,
            sum_squares,
        }
    }

    /// Adds the values of `other`, which may cover the same executions or others.
    pub fn absorb(&mut self, other: &Self) {
        (self.execution, self.executions) = self.span().united(other.span());
        self.values = self.values.saturating_add(other.values);
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum_squares += other.sum_squares;
    }

    const fn span(&self) -> Span {
        Span { execution: self.execution, executions: self.executions }
    }
}

/// One element of a metric's series: one value, or several neighbouring values where a long series
/// was folded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetricBucket {
    /// The execution of the first value in the bucket, 0-based.
    pub execution: u32,
    /// The number of values: 1 unless folded, never 0.
    pub values: u32,
    /// The sum of the values, in their own unit.
    pub sum: f64,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
}

impl MetricBucket {
    /// Returns the bucket of a single value.
    #[must_use]
    pub const fn of_one_value(execution: u32, value: f64) -> Self {
        Self { execution, values: 1, sum: value, min: value, max: value }
    }
}

/// Everything recorded under one key at one callpath on one rank.
///
/// ```
/// use tinyprof_format::model::{MetricSummary, MetricValues};
///
/// let of = |execution, value| MetricSummary::of_one_value(execution, value);
/// let mut memory = MetricValues { executions: vec![of(0, 2.0)], series: Vec::new() };
/// memory.absorb(MetricValues { executions: vec![of(0, 4.0), of(1, 6.0)], series: Vec::new() });
/// assert_eq!((memory.values(), memory.sum(), memory.mean()), (3, 12.0, Some(4.0)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricValues {
    /// Summaries in the order of their executions.
    pub executions: Vec<MetricSummary>,
    /// The series, in the order of the visits; empty in mode `total`.
    pub series: Vec<MetricBucket>,
}

impl MetricValues {
    /// Returns true if nothing was recorded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.executions.is_empty() && self.series.is_empty()
    }

    /// Returns the number of values over all executions.
    #[must_use]
    pub fn values(&self) -> u64 {
        self.executions.iter().fold(0, |sum, e| sum.saturating_add(e.values))
    }

    /// Returns the sum over all executions, in their order; 0 if nothing was recorded.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.executions.iter().map(|e| e.sum).reduce(|sum, next| sum + next).unwrap_or(0.0)
    }

    /// Returns the mean of the values; none if nothing was recorded.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a mean needs no more than 53 bits of its divisor"
    )]
    pub fn mean(&self) -> Option<f64> {
        let values = self.values();
        (values > 0).then(|| self.sum() / values as f64)
    }

    /// Adds values recorded under the same key at the same callpath by another thread or process,
    /// by the rules of [`CallpathValues::absorb`](super::CallpathValues::absorb).
    pub fn absorb(&mut self, other: Self) {
        merge_overlapping(
            &mut self.executions,
            other.executions,
            MetricSummary::span,
            MetricSummary::absorb,
        );
        self.series.extend(other.series);
        self.series.sort_by_key(|b| b.execution);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_executions_are_added_and_others_kept_apart() {
        let of = |list: &[(u32, f64)]| MetricValues {
            executions: list
                .iter()
                .map(|&(e, value)| MetricSummary::of_one_value(e, value))
                .collect(),
            series: list.iter().map(|&(e, value)| MetricBucket::of_one_value(e, value)).collect(),
        };
        let mut ours = of(&[(0, 10.0), (2, -3.0)]);
        ours.absorb(of(&[(0, 0.5), (1, f64::INFINITY)]));
        let seen: Vec<_> =
            ours.executions.iter().map(|e| (e.execution, e.values, e.sum, e.min)).collect();
        assert_eq!(
            seen,
            [(0, 2, 10.5, 0.5), (1, 1, f64::INFINITY, f64::INFINITY), (2, 1, -3.0, -3.0)]
        );
        assert_eq!(ours.executions[0].sum_squares.to_bits(), 100.25_f64.to_bits());
        let series: Vec<_> = ours.series.iter().map(|b| b.sum).collect();
        assert_eq!(series, [10.0, 0.5, f64::INFINITY, -3.0]);
        assert_eq!(MetricValues::default().mean(), None);
    }

    #[test]
    fn sums_follow_the_order_of_the_executions_and_keep_the_sign_of_zero() {
        let of = |values: &[f64]| MetricValues {
            executions: (0..)
                .zip(values)
                .map(|(e, &value)| MetricSummary::of_one_value(e, value))
                .collect(),
            series: Vec::new(),
        };
        assert_eq!(of(&[1e100, -1e100, 1.0]).sum().to_bits(), 1.0_f64.to_bits());
        assert_eq!(of(&[1e100, 1.0, -1e100]).sum().to_bits(), 0.0_f64.to_bits());
        assert_eq!(of(&[-0.0]).sum().to_bits(), (-0.0_f64).to_bits());
    }
}
