//! Lists of summaries in the order of executions.

/// The executions covered by a summary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) execution: u32,
    pub(super) executions: u32,
}

impl Span {
    /// Returns the first execution of both spans and the length of the range that covers both.
    pub(super) fn united(self, other: Self) -> (u32, u32) {
        let end = self.execution.saturating_add(self.executions);
        let end = end.max(other.execution.saturating_add(other.executions));
        let execution = self.execution.min(other.execution);
        (execution, end - execution)
    }
}

/// Adds summaries to a list in the order of executions. Summaries whose spans overlap become one.
pub(super) fn merge_overlapping<T>(
    list: &mut Vec<T>,
    more: Vec<T>,
    span: fn(&T) -> Span,
    absorb: fn(&mut T, &T),
) {
    let is_apart = |pair: &[T]| {
        let (before, next) = (span(&pair[0]), span(&pair[1]));
        next.execution >= before.execution && next.execution - before.execution >= before.executions
    };
    if list.is_empty() && more.windows(2).all(is_apart) {
        *list = more;
        return;
    }
    list.extend(more);
    list.sort_by_key(|summary| span(summary).execution);
    let mut merged: Vec<T> = Vec::with_capacity(list.len());
    for summary in list.drain(..) {
        match merged.last_mut() {
            Some(last)
                if span(&summary).execution - span(last).execution < span(last).executions =>
            {
                absorb(last, &summary);
            }
            _ => merged.push(summary),
        }
    }
    *list = merged;
}
