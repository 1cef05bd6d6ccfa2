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
//! then, if any of them has messages, for each thread:
//! callpaths (a varint), then the id of each (8 bytes)
//! messages (a varint), then columns with one value for each:
//!     position of the callpath | time, from that of the message before, ns | 1 if received
//!     | partner (zigzag) | communicator | tag (zigzag)
//!     | number, from that of the message before (zigzag) | bytes
//! ```
//!
//! Each rank encodes its own events, and aggregators pass the bytes on.

mod decode;
#[cfg(test)]
pub(super) mod tests;

use std::collections::HashMap;

pub(super) use decode::decode_section;

use super::keys::zigzag;
use crate::bytes::{Sink, column};
use crate::model::{CallpathId, EventCell, MessageEvent, RankEvents, ThreadEvents, VisitEvent};

/// Encodes the events of a rank.
pub(super) fn encode(events: &RankEvents) -> Vec<u8> {
    let mut sink = Sink::default();
    sink.varint(events.origin_ns);
    sink.varint(events.threads_without_memory);
    sink.varint(events.threads.len() as u64);
    events.threads.iter().for_each(|thread| encode_thread(&mut sink, thread));
    if events.threads.iter().any(|thread| !thread.messages.is_empty()) {
        events.threads.iter().for_each(|thread| encode_messages(&mut sink, &thread.messages));
    }
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
    let of_visits = encode_callpaths(sink, visits.iter().map(|visit| visit.callpath));
    sink.varint(visits.len() as u64);
    column::write_u64(sink, &of_visits);
    let mut by_visit = |numbers: Vec<u64>| column::write_u64(sink, &numbers);
    by_visit(visits.iter().map(|visit| visit.depth.into()).collect());
    by_visit(differences(visits.iter().map(|visit| visit.begin_ns)));
    by_visit(visits.iter().map(|visit| visit.duration_ns).collect());
}

fn encode_messages(sink: &mut Sink, messages: &[MessageEvent]) {
    let of_messages = encode_callpaths(sink, messages.iter().map(|message| message.callpath));
    sink.varint(messages.len() as u64);
    column::write_u64(sink, &of_messages);
    let mut by_message = |numbers: Vec<u64>| column::write_u64(sink, &numbers);
    by_message(differences(messages.iter().map(|message| message.at_ns)));
    let ends = || messages.iter().map(|message| message.end);
    by_message(ends().map(|end| end.is_receive.into()).collect());
    by_message(ends().map(|end| zigzag(end.partner.into())).collect());
    by_message(ends().map(|end| end.communicator.into()).collect());
    by_message(ends().map(|end| zigzag(end.tag.into())).collect());
    let numbers = differences(ends().map(|end| end.number));
    by_message(numbers.into_iter().map(|number| zigzag(number.cast_signed())).collect());
    by_message(ends().map(|end| end.bytes).collect());
}

/// Encodes the callpaths of events, each once. Returns the position of that of each event.
fn encode_callpaths(sink: &mut Sink, events: impl Iterator<Item = CallpathId>) -> Vec<u64> {
    let mut positions: HashMap<CallpathId, u64> = HashMap::new();
    let mut callpaths = Vec::new();
    let of_events = events.map(|callpath| {
        *positions.entry(callpath).or_insert_with(|| {
            callpaths.push(callpath);
            callpaths.len() as u64 - 1
        })
    });
    let of_events = of_events.collect();
    sink.varint(callpaths.len() as u64);
    callpaths.iter().for_each(|callpath| sink.u64(callpath.to_bits()));
    of_events
}

/// Returns each number as the difference to the one before, which is 0 at first.
fn differences(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut before = 0_u64;
    numbers.map(|number| number.wrapping_sub(std::mem::replace(&mut before, number))).collect()
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
