//! The variation of a callpath's executions on the same rank.

use tinyprof_format::model::ExecutionSummary;

use crate::facts::numbers::ratio;

/// The deviations of executions, accumulated over ranks. Integers, so that ranks can be added in
/// any order with the same result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variation {
    /// The executions in which the callpath was visited, summed over ranks.
    pub executions: u64,
    /// The sum over ranks of the squared deviations of a rank's executions from their mean, in
    /// square nanoseconds.
    pub deviations_ns2: u128,
    /// The degrees of freedom: the sum over ranks of the number of summaries, less one each.
    /// Without folding, summaries are executions.
    pub degrees: u64,
}

impl Variation {
    /// Returns the variation of one rank. A summary that covers several executions counts as their
    /// mean, as many times. If executions are independent of each other, that estimates the same
    /// variance.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "deviations need no 53 exact bits, are not negative, and what is too large becomes the largest"
    )]
    pub fn of_one_rank(summaries: &[ExecutionSummary]) -> Self {
        let count = |summary: &ExecutionSummary| f64::from(summary.executions.max(1));
        let executions = summaries
            .iter()
            .fold(0_u64, |sum, s| sum.saturating_add(u64::from(s.executions.max(1))));
        let sum_ns: f64 = summaries.iter().map(|s| s.sum_ns as f64).sum();
        let mean_ns = sum_ns / (executions.max(1) as f64);
        let squared =
            |s: &ExecutionSummary| count(s) * (s.sum_ns as f64 / count(s) - mean_ns).powi(2);
        let deviations_ns2: f64 = summaries.iter().map(squared).sum();
        Self {
            executions,
            deviations_ns2: deviations_ns2.round() as u128,
            degrees: (summaries.len() as u64).saturating_sub(1),
        }
    }

    /// Adds the variation of other ranks. Associative and commutative, and the default is its
    /// neutral element.
    pub const fn merge(&mut self, other: &Self) {
        self.executions = self.executions.saturating_add(other.executions);
        self.deviations_ns2 = self.deviations_ns2.saturating_add(other.deviations_ns2);
        self.degrees = self.degrees.saturating_add(other.degrees);
    }

    /// Returns the pooled standard deviation of an execution as a part of the mean execution;
    /// `sum_ns` is the time of all executions together. None if no rank has two executions, or they
    /// took no time.
    #[must_use]
    pub(crate) fn coefficient(&self, sum_ns: u128) -> Option<f64> {
        let mean_ns = ratio(sum_ns, u128::from(self.executions));
        (self.degrees > 0 && mean_ns > 0.0)
            .then(|| ratio(self.deviations_ns2, u128::from(self.degrees)).sqrt() / mean_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executions(ns: &[u64]) -> Vec<ExecutionSummary> {
        (0..)
            .zip(ns)
            .map(|(execution, &ns)| ExecutionSummary::of_one_visit(execution, ns))
            .collect()
    }

    #[test]
    fn ranks_that_differ_do_not_vary_and_executions_do() {
        let check = |ranks: &[&[u64]], expected: Option<f64>| {
            let (mut all, mut sum_ns) = (Variation::default(), 0);
            for rank in ranks {
                all.merge(&Variation::of_one_rank(&executions(rank)));
                sum_ns += rank.iter().map(|&ns| u128::from(ns)).sum::<u128>();
            }
            let found = all.coefficient(sum_ns);
            let near = found
                .zip(expected)
                .is_none_or(|(found, expected)| (found - expected).abs() < 1e-12);
            assert!(found.is_some() == expected.is_some() && near, "{ranks:?}: {found:?}");
        };
        check(&[&[10, 10], &[30, 30]], Some(0.0));
        // Deviations of 5 twice, one degree of freedom: the root of 50, of a mean of 15.
        check(&[&[10, 20]], Some(50_f64.sqrt() / 15.0));
        // Two ranks give the same deviation with twice the certainty.
        check(&[&[10, 20], &[10, 20]], Some(50_f64.sqrt() / 15.0));
        check(&[&[10, 20], &[40]], Some(50_f64.sqrt() * 3.0 / 70.0));
        check(&[&[10], &[20]], None);
        check(&[&[0, 0]], None);
        check(&[], None);
    }

    #[test]
    fn a_summary_of_several_executions_counts_as_often_as_their_mean() {
        let folded = [
            ExecutionSummary { executions: 4, ..ExecutionSummary::of_one_visit(0, 40) },
            ExecutionSummary { executions: 4, ..ExecutionSummary::of_one_visit(4, 80) },
        ];
        let found = Variation::of_one_rank(&folded);
        assert_eq!(found, Variation { executions: 8, deviations_ns2: 8 * 25, degrees: 1 });
        assert_eq!(found.coefficient(120), Some(200_f64.sqrt() / 15.0));
    }
}
