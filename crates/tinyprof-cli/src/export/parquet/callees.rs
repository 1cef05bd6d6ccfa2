//! The times of callees, which have to be known when their caller is written.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, CallpathValues};

/// The times of the callees of a callpath together: by rank, the first execution of each summary
/// with its sum in nanoseconds, in ascending order.
pub(super) type Called = Vec<Vec<(u32, u64)>>;

/// The times of the callees that have been passed, by their callers that have not.
#[derive(Default)]
pub(super) struct Callees(BTreeMap<usize, Called>);

impl Callees {
    /// Adds the values by rank of a callee.
    pub(super) fn add(&mut self, caller: CallpathIndex, callee: &[CallpathValues]) {
        let called = self.0.entry(caller.row()).or_insert_with(|| vec![Vec::new(); callee.len()]);
        for (called, values) in called.iter_mut().zip(callee) {
            for summary in &values.executions {
                match called.binary_search_by_key(&summary.execution, |(first, _)| *first) {
                    Ok(at) => called[at].1 = called[at].1.saturating_add(summary.sum_ns),
                    Err(at) => called.insert(at, (summary.execution, summary.sum_ns)),
                }
            }
        }
    }

    /// Removes and returns the times of all callees of a callpath; none if it has no callees.
    pub(super) fn take(&mut self, caller: CallpathIndex) -> Option<Called> {
        self.0.remove(&caller.row())
    }
}
