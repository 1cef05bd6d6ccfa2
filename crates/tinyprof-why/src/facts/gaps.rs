//! Which gaps between calls are visits of what a rank does before a call.

use tinyprof_format::model::{CallpathValues, Edge, EdgeKind};

/// Gaps that are shorter than this part of those from another call are no visits of what a rank
/// does before a call: in a loop of `MPI_Irecv` it computes before the first one.
const VISIT_PART: f64 = 0.05;

fn mean_ns(gaps: &Edge) -> f64 {
    crate::ns(gaps.sum_ns.into()) / crate::ns(gaps.count.max(1).into())
}

/// Returns the mean of the longest gaps before a call, in ns.
pub(super) fn longest_mean_ns(values: &CallpathValues) -> f64 {
    let flows = values.edges.iter().filter(|(key, _)| key.kind == EdgeKind::Flow);
    flows.map(|(_, edge)| mean_ns(edge)).fold(0.0, f64::max)
}

/// Returns whether these gaps are visits, where the longest ones before the call are this long in
/// the mean, in ns.
pub(super) fn are_visits(gaps: &Edge, longest_ns: f64) -> bool {
    mean_ns(gaps) >= VISIT_PART * longest_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_call_of_a_loop_is_no_visit() {
        let gaps = |count, sum_ns| Edge { count, sum_ns, ..Edge::default() };
        assert!(are_visits(&gaps(10, 70_000_000), 7e6) && are_visits(&gaps(10, 7_000_000), 7e6));
        assert!(!are_visits(&gaps(20, 30_000), 7e6));
        assert!(are_visits(&gaps(20, 0), 0.0), "there are no longer ones");
    }
}
