//! The executions of a root region as the values of a sample. They are taken one by one, or in
//! batches of equal width if a long run was folded, since a sum cannot be taken apart.

use std::collections::BTreeSet;

/// The executions that a summary covers: the first one, and their number.
pub(super) type Span = (u32, u32);

/// The executions of one root region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batches {
    width: u64,
    /// The number of each batch that has executions, and its count of executions.
    batches: Vec<(u64, u64)>,
}

impl Batches {
    /// Returns batches wide enough for the widest span. All spans of the root region and of the
    /// callpaths below it count, from all ranks, since each rank folds on its own.
    pub(super) fn of(spans: &BTreeSet<Span>) -> Self {
        let widest =
            spans.iter().map(|(_, executions)| u64::from(*executions)).max().unwrap_or(1).max(1);
        let width = widest.next_power_of_two();
        let mut batches: Vec<(u64, u64)> = Vec::new();
        let mut covered_to = 0;
        for &(first, executions) in spans {
            // A summary of no execution makes no sense, but needs a batch all the same.
            let end = u64::from(first) + u64::from(executions.max(1));
            let mut at = covered_to.max(u64::from(first));
            while at < end {
                let batch = at / width;
                let next = end.min((batch + 1) * width);
                match batches.last_mut() {
                    Some((last, count)) if *last == batch => *count += next - at,
                    _ => batches.push((batch, next - at)),
                }
                at = next;
            }
            covered_to = covered_to.max(end);
        }
        // A last batch cut short by the end of the run would spread more than the others.
        if let [.., (_, before), (_, last)] = batches.as_mut_slice()
            && last < before
            && width > 1
        {
            *before += *last;
            batches.pop();
        }
        Self { width, batches }
    }

    /// Returns the number of executions of each batch.
    pub(super) fn counts(&self) -> impl Iterator<Item = u64> {
        self.batches.iter().map(|(_, count)| *count)
    }

    /// Returns the position of the batch of a summary that begins at this execution.
    pub(super) fn position(&self, execution: u32) -> usize {
        let number = u64::from(execution).checked_div(self.width).unwrap_or(0);
        self.batches.partition_point(|(batch, _)| *batch <= number).saturating_sub(1)
    }

    pub(super) const fn are_folded(&self) -> bool {
        self.width > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(spans: &[Span], counts: &[u64], positions: &[(u32, usize)]) {
        let batches = Batches::of(&spans.iter().copied().collect());
        assert_eq!(batches.counts().collect::<Vec<_>>(), counts, "{spans:?}");
        for (execution, position) in positions {
            assert_eq!(batches.position(*execution), *position, "{execution} of {spans:?}");
        }
    }

    #[test]
    fn executions_are_told_apart_as_far_as_they_can_be() {
        check(&[], &[], &[]);
        check(&[(3, 0)], &[1], &[(3, 0)]);
        check(&[(0, 1), (1, 1), (2, 1)], &[1, 1, 1], &[(0, 0), (2, 2)]);
        // Another root region may have had the executions in between.
        check(&[(0, 1), (4, 1), (6, 1)], &[1, 1, 1], &[(4, 1), (6, 2)]);
        check(&[(0, 2), (2, 2), (4, 2)], &[2, 2, 2], &[(0, 0), (2, 1), (4, 2)]);
        // One rank folds by two, the other does not.
        check(&[(0, 1), (0, 2), (1, 1), (2, 1), (3, 1)], &[2, 2], &[(1, 0), (2, 1), (3, 1)]);
        // The remainder at the end goes to the batch before it.
        check(&[(0, 2), (2, 2), (4, 1)], &[2, 3], &[(4, 1)]);
        check(&[(0, u32::MAX), (u32::MAX, u32::MAX)], &[8_589_934_590], &[(u32::MAX, 0)]);
    }
}
