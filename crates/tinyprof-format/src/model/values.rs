//! The measurements of one callpath on one rank.

use std::collections::BTreeMap;

use super::span::{Span, merge_overlapping};
use super::{Edge, EdgeKey, MessageKey, MetricValues, Traffic};

/// The sums over the visits of one execution. Times are inclusive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExecutionSummary {
    /// The first execution that this summary covers, 0-based.
    pub execution: u32,
    /// The number of executions that it covers: 1, or more where a long run was folded.
    pub executions: u32,
    /// The number of visits; never 0.
    pub visits: u64,
    /// The sum over the visits, in nanoseconds. It is an estimate where a budget let only some
    /// visits be timed.
    pub sum_ns: u64,
    /// The shortest timed visit, in nanoseconds.
    pub min_ns: u64,
    /// The longest timed visit, in nanoseconds.
    pub max_ns: u64,
    /// The sum of the squares of the times of the visits, in square nanoseconds.
    pub sum_squares_ns2: f64,
    /// The variance of the estimate `sum_ns`, in square nanoseconds; 0 where every visit was timed.
    pub sum_variance_ns2: f64,
}

impl ExecutionSummary {
    /// Returns the summary of a single visit of `ns` nanoseconds.
    ///
    /// Every summary of exactly one visit equals this one, so such rows store only the sum.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
    pub fn of_one_visit(execution: u32, ns: u64) -> Self {
        let squared = ns as f64 * ns as f64;
        Self {
            execution,
            executions: 1,
            visits: 1,
            sum_ns: ns,
            min_ns: ns,
            max_ns: ns,
            sum_squares_ns2: squared,
            sum_variance_ns2: 0.0,
        }
    }

    /// Returns the number of visits of all `summaries`.
    #[must_use]
    pub fn visits_of(summaries: &[Self]) -> u64 {
        summaries.iter().fold(0, |sum, e| sum.saturating_add(e.visits))
    }

    /// Returns the inclusive time of all `summaries`, in nanoseconds.
    #[must_use]
    pub fn inclusive_ns_of(summaries: &[Self]) -> u64 {
        summaries.iter().fold(0, |sum, e| sum.saturating_add(e.sum_ns))
    }

    /// Returns the variance of [`inclusive_ns_of`](Self::inclusive_ns_of), in square nanoseconds.
    #[must_use]
    pub fn sum_variance_ns2_of(summaries: &[Self]) -> f64 {
        summaries.iter().fold(0.0, |sum, e| sum + e.sum_variance_ns2)
    }

    /// Adds the visits of `other`, which may cover the same executions or others.
    ///
    /// Variances add, because the errors of two estimates are independent.
    pub fn absorb(&mut self, other: &Self) {
        (self.execution, self.executions) = self.span().united(other.span());
        self.visits = self.visits.saturating_add(other.visits);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_squares_ns2 += other.sum_squares_ns2;
        self.sum_variance_ns2 += other.sum_variance_ns2;
    }

    const fn span(&self) -> Span {
        Span { execution: self.execution, executions: self.executions }
    }
}

/// One element of a series: one visit, or several neighbouring visits where a long series was
/// folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesBucket {
    /// The execution of the first visit in the bucket, 0-based.
    pub execution: u32,
    /// The number of visits: 1 unless folded, never 0.
    pub visits: u32,
    /// The sum over the visits, in nanoseconds.
    pub sum_ns: u64,
    /// The shortest visit, in nanoseconds.
    pub min_ns: u64,
    /// The longest visit, in nanoseconds.
    pub max_ns: u64,
}

impl SeriesBucket {
    /// Returns the bucket of a single visit of `ns` nanoseconds.
    #[must_use]
    pub const fn of_one_visit(execution: u32, ns: u64) -> Self {
        Self { execution, visits: 1, sum_ns: ns, min_ns: ns, max_ns: ns }
    }
}

/// Everything measured of one callpath on one rank. Empty if the rank never visited the callpath.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallpathValues {
    /// Summaries in the order of their executions.
    pub executions: Vec<ExecutionSummary>,
    /// The series, in the order of the visits; empty in mode `total`.
    pub series: Vec<SeriesBucket>,
    /// The varying metrics, by key. Keys come from the program and are no more trusted than names.
    pub metrics: BTreeMap<String, MetricValues>,
    /// Messages and other transfers, by kind, partner and size class.
    pub messages: BTreeMap<MessageKey, Traffic>,
    /// Edges from other callpaths, of this rank and others.
    pub edges: BTreeMap<EdgeKey, Edge>,
}

impl CallpathValues {
    /// Returns true if the rank never visited the callpath. A callpath with metrics or messages was
    /// visited, even if none of its visits has ended.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.executions.is_empty()
            && self.messages.is_empty()
            && self.edges.is_empty()
            && self.metrics.values().all(MetricValues::is_empty)
    }

    /// Returns the number of visits over all executions.
    #[must_use]
    pub fn visits(&self) -> u64 {
        ExecutionSummary::visits_of(&self.executions)
    }

    /// Returns the inclusive time over all executions, in nanoseconds.
    #[must_use]
    pub fn inclusive_ns(&self) -> u64 {
        ExecutionSummary::inclusive_ns_of(&self.executions)
    }

    /// Returns the variance of [`inclusive_ns`](Self::inclusive_ns), in square nanoseconds; 0 where
    /// every visit was timed.
    #[must_use]
    pub fn sum_variance_ns2(&self) -> f64 {
        ExecutionSummary::sum_variance_ns2_of(&self.executions)
    }

    /// Returns the standard error of [`inclusive_ns`](Self::inclusive_ns), in nanoseconds; 0 where
    /// every visit was timed.
    #[must_use]
    pub fn sum_standard_error_ns(&self) -> f64 {
        self.sum_variance_ns2().sqrt()
    }

    /// Adds the measurements of the same callpath from another thread or process.
    ///
    /// Summaries of equal execution ranges are added. Where the two were folded differently,
    /// overlapping ranges become one. Series are concatenated: in each execution, `other`'s visits
    /// come after ours. Metrics are added by key, in the same way.
    pub fn absorb(&mut self, other: Self) {
        merge_overlapping(
            &mut self.executions,
            other.executions,
            ExecutionSummary::span,
            ExecutionSummary::absorb,
        );
        if self.series.is_empty() {
            self.series = other.series;
        } else {
            self.series.extend(other.series);
        }
        self.series.sort_by_key(|b| b.execution);
        for (key, values) in other.metrics {
            self.metrics.entry(key).or_default().absorb(values);
        }
        for (key, traffic) in other.messages {
            self.messages.entry(key).or_default().absorb(traffic);
        }
        for (key, edge) in other.edges {
            self.edges.entry(key).or_default().absorb(&edge);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_executions_are_added_and_others_kept_apart() {
        let mut ours = CallpathValues {
            executions: vec![
                ExecutionSummary::of_one_visit(0, 10),
                ExecutionSummary::of_one_visit(2, 30),
            ],
            series: vec![SeriesBucket::of_one_visit(0, 10), SeriesBucket::of_one_visit(2, 30)],
            ..CallpathValues::default()
        };
        ours.absorb(CallpathValues {
            executions: vec![
                ExecutionSummary::of_one_visit(0, 5),
                ExecutionSummary::of_one_visit(1, 7),
            ],
            series: vec![SeriesBucket::of_one_visit(0, 5), SeriesBucket::of_one_visit(1, 7)],
            ..CallpathValues::default()
        });
        let seen: Vec<_> = ours
            .executions
            .iter()
            .map(|e| (e.execution, e.visits, e.sum_ns, e.min_ns, e.max_ns))
            .collect();
        assert_eq!(seen, [(0, 2, 15, 5, 10), (1, 1, 7, 7, 7), (2, 1, 30, 30, 30)]);
        assert_eq!(ours.series.iter().map(|b| b.sum_ns).collect::<Vec<_>>(), [10, 5, 7, 30]);
        assert_eq!((ours.visits(), ours.inclusive_ns()), (4, 52));
    }

    #[test]
    fn variances_add_and_their_root_is_the_standard_error() {
        let of = |execution, sum_variance_ns2| CallpathValues {
            executions: vec![ExecutionSummary {
                sum_variance_ns2,
                ..ExecutionSummary::of_one_visit(execution, 10)
            }],
            ..CallpathValues::default()
        };
        let mut ours = of(0, 9.0);
        ours.absorb(of(0, 7.0));
        ours.absorb(of(1, 0.0));
        ours.absorb(of(2, 33.0));
        assert_eq!(ours.executions.len(), 3);
        assert_eq!(ours.sum_standard_error_ns().to_bits(), 7.0_f64.to_bits());
    }

    #[test]
    fn metrics_are_added_by_key_and_make_a_callpath_present() {
        use crate::model::MetricSummary;
        let of = |key: &str, value| CallpathValues {
            metrics: [(
                key.to_owned(),
                MetricValues {
                    executions: vec![MetricSummary::of_one_value(0, value)],
                    series: Vec::new(),
                },
            )]
            .into(),
            ..CallpathValues::default()
        };
        let mut ours = of("mem", 1.0);
        ours.absorb(of("mem", 2.0));
        ours.absorb(of("", 4.0));
        let sums: Vec<_> = ours.metrics.iter().map(|(key, m)| (key.as_str(), m.sum())).collect();
        assert_eq!(sums, [("", 4.0), ("mem", 3.0)]);
        assert!(!ours.is_absent());
        ours.metrics = [("mem".to_owned(), MetricValues::default())].into();
        assert!(ours.is_absent());
    }
}
