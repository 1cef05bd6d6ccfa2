//! The edges between ranks of one callpath, by themselves.

use tinyprof_format::model::{CallpathValues, EdgeKind};
use tinyprof_vocabulary::Pattern;

use crate::facts::numbers::ratio;

/// Returns the pattern of waiting at an edge; none if nobody waits there.
#[must_use]
pub const fn waiting_pattern(kind: EdgeKind) -> Option<Pattern> {
    Some(match kind {
        EdgeKind::Message | EdgeKind::MessageToAny => Pattern::LateSender,
        EdgeKind::Barrier => Pattern::WaitAtBarrier,
        EdgeKind::AllToAll => Pattern::WaitAtAllToAll,
        EdgeKind::FromRoot => Pattern::LateBroadcast,
        EdgeKind::ToRoot => Pattern::EarlyReduce,
        EdgeKind::Scan => Pattern::EarlyScan,
        EdgeKind::Receiver => Pattern::LateReceiver,
        EdgeKind::Fence => Pattern::WaitAtFence,
        EdgeKind::Post => Pattern::LatePost,
        EdgeKind::Complete => Pattern::EarlyWait,
        EdgeKind::Lock => Pattern::LockContention,
        _ => return None,
    })
}

/// Returns the number of messages and operations of a callpath of which the partner is known.
pub(crate) fn followed(values: &CallpathValues) -> u64 {
    let waits = values.edges.iter().filter(|(key, _)| key.kind.waits());
    waits.fold(0, |sum, (_, edge)| sum.saturating_add(edge.count))
}

/// Returns the waiting of a callpath beyond that without measurement, in ns; negative if a delay
/// has shortened it.
pub(crate) fn excess_ns(values: &CallpathValues) -> f64 {
    let waits = values.edges.iter().filter(|(key, _)| key.kind.waits());
    waits.fold(0.0, |sum, (_, edge)| {
        sum + ratio(edge.sum_ns.into(), 1) - ratio(edge.compensated_ns.into(), 1)
    })
}
