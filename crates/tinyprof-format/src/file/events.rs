//! The events of a part's ranks: the last section, left out where no rank kept any.
//!
//! For each rank the length of its events in bytes (a varint; 0: none), then all of them:
//!
//! ```text
//! origin ns | threads without memory | threads        varints
//! for each thread:
//! number | policy | memory bytes | stopped ns + 1 (0: not) | cut      varints
//! cells (a varint), then columns with one value for each:
//!     class | depth | kept | lost | begin of the first lost ns | end of the last lost ns
//! callpaths (a varint), then the id of each (8 bytes)
//! visits (a varint), then columns with one value for each:
//!     position of the callpath | depth | begin, from that of the visit before, ns | duration ns
//! ```
//!
//! Each rank encodes its own events, and aggregators pass the bytes on.

mod decode;
#[cfg(test)]
pub(super) mod tests;

use std::collections::HashMap;

pub(super) use decode::decode_section;

use crate::bytes::{Sink, column};
use crate::model::{CallpathId, EventCell, RankEvents, ThreadEvents, VisitEvent};

/// Encodes the events of a rank.
pub(super) fn encode(events: &RankEvents) -> Vec<u8> {
    let mut sink = Sink::default();
    sink.varint(events.origin_ns);
    sink.varint(events.threads_without_memory);
    sink.varint(events.threads.len() as u64);
    events.threads.iter().for_each(|thread| encode_thread(&mut sink, thread));
    sink.into_vec()
}

fn encode_thread(sink: &mut Sink, thread: &ThreadEvents) {
    sink.varint(thread.thread.into());
    sink.varint(thread.policy.number());
    sink.varint(thread.memory_bytes);
    sink.varint(thread.stopped_ns.map_or(0, |ns| ns.saturating_add(1)));
    sink.varint(thread.cut);
    sink.varint(thread.cells.len() as u64);
    let mut by_cell = |of: &dyn Fn(&EventCell) -> u64| {
        column::write_u64(sink, &thread.cells.iter().map(of).collect::<Vec<_>>());
    };
    by_cell(&|cell| cell.class.number());
    by_cell(&|cell| cell.depth.into());
    by_cell(&|cell| cell.kept);
    by_cell(&|cell| cell.lost);
    by_cell(&|cell| cell.lost_first_ns);
    by_cell(&|cell| cell.lost_last_ns);
    encode_visits(sink, &thread.visits);
}

fn encode_visits(sink: &mut Sink, visits: &[VisitEvent]) {
    let mut positions: HashMap<CallpathId, u64> = HashMap::new();
    let mut callpaths = Vec::new();
    let of_visits = visits.iter().map(|visit| {
        *positions.entry(visit.callpath).or_insert_with(|| {
            callpaths.push(visit.callpath);
            callpaths.len() as u64 - 1
        })
    });
    let of_visits: Vec<u64> = of_visits.collect();
    sink.varint(callpaths.len() as u64);
    callpaths.iter().for_each(|callpath| sink.u64(callpath.to_bits()));
    sink.varint(visits.len() as u64);
    column::write_u64(sink, &of_visits);
    let mut by_visit = |numbers: Vec<u64>| column::write_u64(sink, &numbers);
    by_visit(visits.iter().map(|visit| visit.depth.into()).collect());
    let before = std::iter::once(0).chain(visits.iter().map(|visit| visit.begin_ns));
    by_visit(
        visits.iter().zip(before).map(|(v, before)| v.begin_ns.wrapping_sub(before)).collect(),
    );
    by_visit(visits.iter().map(|visit| visit.duration_ns).collect());
}

/// Encodes the section of ranks, of which each has encoded its events; none if no rank kept any.
pub(super) fn encode_section(ranks: &[Option<impl AsRef<[u8]>>]) -> Option<Vec<u8>> {
    if ranks.iter().all(Option::is_none) {
        return None;
    }
    let mut sink = Sink::default();
    for rank in ranks {
        let bytes = rank.as_ref().map_or(&[][..], AsRef::as_ref);
        sink.varint(bytes.len() as u64);
        sink.bytes(bytes);
    }
    Some(sink.into_vec())
}
