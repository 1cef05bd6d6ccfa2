//! Callpaths whose work went to other threads: their callees took longer than they did.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, CallpathTable, ESTIMATE_ERRORS};

use crate::facts::numbers::ratio;
use crate::facts::statistics::Statistics;

/// The part of a callpath's time by which its callees may exceed it because of the clock or of
/// rounding.
const LEAST_EXCESS: f64 = 0.01;

/// Returns the mean number of threads that worked for a callpath at once: the inclusive times of
/// its callees, added up over threads, divided by its own inclusive time, which is wall-clock time.
/// Contains only the callpaths whose callees took more time than they did: none, where all work is
/// that of a single thread.
pub(crate) fn threads_at_once(
    callpaths: &CallpathTable,
    statistics: &Statistics,
) -> BTreeMap<CallpathIndex, f64> {
    let rows = callpaths.len();
    let (mut below_ns, mut variance_ns2) = (vec![0_u128; rows], vec![0_u128; rows]);
    for (index, callpath) in callpaths.iter() {
        if let Some(parent) = callpath.parent {
            let inclusive = statistics.row(index.row()).inclusive;
            let (ns, ns2) = (&mut below_ns[parent.row()], &mut variance_ns2[parent.row()]);
            *ns = ns.saturating_add(inclusive.sum_ns);
            *ns2 = ns2.saturating_add(inclusive.variance_ns2);
        }
    }
    let at_once = |index: CallpathIndex| {
        let inclusive = statistics.row(index.row()).inclusive;
        let variance_ns2 = variance_ns2[index.row()].saturating_add(inclusive.variance_ns2);
        let excess_ns = ratio(below_ns[index.row()].saturating_sub(inclusive.sum_ns), 1);
        let least_ns = LEAST_EXCESS * ratio(inclusive.sum_ns, 1)
            + ESTIMATE_ERRORS * ratio(variance_ns2, 1).sqrt();
        (inclusive.sum_ns > 0 && excess_ns > least_ns)
            .then(|| (index, ratio(below_ns[index.row()], inclusive.sum_ns)))
    };
    callpaths.iter().filter_map(|(index, _)| at_once(index)).collect()
}
