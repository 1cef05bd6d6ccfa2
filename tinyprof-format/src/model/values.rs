//! What was measured of one callpath on one rank.

/// What the visits of one execution add up to. Times are inclusive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExecutionSummary {
    /// The first execution that this summary covers, 0-based.
    pub execution: u32,
    /// How many executions it covers: 1, or more where a long run was folded.
    pub executions: u32,
    /// The number of visits; never 0.
    pub visits: u64,
    /// The sum over the visits, in nanoseconds.
    pub sum_ns: u64,
    /// The shortest visit, in nanoseconds.
    pub min_ns: u64,
    /// The longest visit, in nanoseconds.
    pub max_ns: u64,
    /// The sum of the squares of the visits' times, in square nanoseconds.
    pub sum_squares_ns2: f64,
}

impl ExecutionSummary {
    /// The summary of a single visit of `ns` nanoseconds.
    ///
    /// Whatever holds exactly one visit equals this, so that such rows need to store only the sum.
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
        }
    }

    /// Adds the visits of `other`, which covers the same executions or others.
    pub fn absorb(&mut self, other: &Self) {
        let end = (self.execution.saturating_add(self.executions))
            .max(other.execution.saturating_add(other.executions));
        self.execution = self.execution.min(other.execution);
        self.executions = end - self.execution;
        self.visits = self.visits.saturating_add(other.visits);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_squares_ns2 += other.sum_squares_ns2;
    }
}

/// One element of a series: a visit, or several neighbouring visits where a long series was folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesBucket {
    /// The execution of the first visit in the bucket, 0-based.
    pub execution: u32,
    /// The number of visits; 1 unless folded, never 0.
    pub visits: u32,
    /// The sum over the visits, in nanoseconds.
    pub sum_ns: u64,
    /// The shortest visit, in nanoseconds.
    pub min_ns: u64,
    /// The longest visit, in nanoseconds.
    pub max_ns: u64,
}

impl SeriesBucket {
    /// The bucket that holds a single visit of `ns` nanoseconds.
    #[must_use]
    pub const fn of_one_visit(execution: u32, ns: u64) -> Self {
        Self { execution, visits: 1, sum_ns: ns, min_ns: ns, max_ns: ns }
    }
}

/// Everything measured of one callpath on one rank. Empty where the rank never visited the callpath.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallpathValues {
    /// Summaries in the order of their executions.
    pub executions: Vec<ExecutionSummary>,
    /// The series, in the order of the visits; empty in mode `total`.
    pub series: Vec<SeriesBucket>,
}

impl CallpathValues {
    /// Whether the rank never visited the callpath.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.executions.is_empty()
    }

    /// The number of visits over all executions.
    #[must_use]
    pub fn visits(&self) -> u64 {
        self.executions.iter().fold(0, |sum, e| sum.saturating_add(e.visits))
    }

    /// The inclusive time over all executions, in nanoseconds.
    #[must_use]
    pub fn inclusive_ns(&self) -> u64 {
        self.executions.iter().fold(0, |sum, e| sum.saturating_add(e.sum_ns))
    }

    /// Adds what another thread or process measured of the same callpath.
    ///
    /// Summaries of equal execution ranges are added; where the two folded differently, the overlapping
    /// ranges become one. Series follow each other: `other`'s visits come after ours in each execution.
    pub fn absorb(&mut self, other: Self) {
        self.executions.extend(other.executions);
        self.executions.sort_by_key(|e| e.execution);
        let mut merged: Vec<ExecutionSummary> = Vec::with_capacity(self.executions.len());
        for summary in self.executions.drain(..) {
            match merged.last_mut() {
                Some(last) if summary.execution - last.execution < last.executions => last.absorb(&summary),
                _ => merged.push(summary),
            }
        }
        self.executions = merged;
        self.series.extend(other.series);
        self.series.sort_by_key(|b| b.execution);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_executions_are_added_and_others_kept_apart() {
        let mut ours = CallpathValues {
            executions: vec![ExecutionSummary::of_one_visit(0, 10), ExecutionSummary::of_one_visit(2, 30)],
            series: vec![SeriesBucket::of_one_visit(0, 10), SeriesBucket::of_one_visit(2, 30)],
        };
        ours.absorb(CallpathValues {
            executions: vec![ExecutionSummary::of_one_visit(0, 5), ExecutionSummary::of_one_visit(1, 7)],
            series: vec![SeriesBucket::of_one_visit(0, 5), SeriesBucket::of_one_visit(1, 7)],
        });
        let seen: Vec<_> =
            ours.executions.iter().map(|e| (e.execution, e.visits, e.sum_ns, e.min_ns, e.max_ns)).collect();
        assert_eq!(seen, [(0, 2, 15, 5, 10), (1, 1, 7, 7, 7), (2, 1, 30, 30, 30)]);
        assert_eq!(ours.series.iter().map(|b| b.sum_ns).collect::<Vec<_>>(), [10, 5, 7, 30]);
        assert_eq!((ours.visits(), ours.inclusive_ns()), (4, 52));
    }
}
