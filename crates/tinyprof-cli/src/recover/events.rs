//! The events that the threads of a killed process had kept.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tinyprof_events::read;
use tinyprof_format::model::{
    EventCell, EventMap, MessageEvent, RankEvents, ThreadEvents, VisitEvent,
};
use tinyprof_format::segment::Segment;
use tinyprof_segment::clock::Moment;

/// Adds the events of these segments to the event map of their process, if there are any.
pub(super) fn add_events(map: &mut EventMap, segments: &[Segment<'_>], now: Moment) {
    let threads: Vec<ThreadEvents> =
        segments.iter().filter_map(|segment| thread_events(segment, now)).collect();
    let Some(first) = segments.first().filter(|_| !threads.is_empty()) else { return };
    let origin_ns = first.header().start_ns;
    let events = RankEvents { origin_ns, threads_without_memory: 0, threads };
    map.facts.events = Some(Arc::new(events));
}

fn thread_events(segment: &Segment<'_>, now: Moment) -> Option<ThreadEvents> {
    let words: Vec<AtomicU64> = segment.event_words()?.into_iter().map(AtomicU64::new).collect();
    let recording = read(&words)?;
    let callpaths = segment.callpath_lines();
    let cells = recording.cells.iter().map(|cell| EventCell {
        class: cell.cell.class(),
        depth: cell.cell.depth(),
        kept: cell.kept,
        lost: cell.lost,
        lost_first_ns: cell.lost_first,
        lost_last_ns: cell.lost_last,
    });
    let visits = recording.visits.iter().filter_map(|visit| {
        let &(callpath, depth) = callpaths.get(&visit.callpath)?;
        let duration_ns = visit.end.checked_sub(visit.begin)?;
        Some(VisitEvent { callpath, depth, begin_ns: visit.begin, duration_ns })
    });
    let messages = recording.messages.iter().filter_map(|message| {
        let &(callpath, _) = callpaths.get(&message.callpath)?;
        Some(MessageEvent { callpath, at_ns: message.at, end: message.end })
    });
    let thread = ThreadEvents {
        thread: segment.header().thread,
        policy: recording.policy,
        memory_bytes: words.len() as u64 * 8,
        stopped_ns: recording.stopped,
        cut: recording.cut,
        cells: cells.collect(),
        visits: visits.collect(),
        messages: messages.collect(),
    };
    Some(segment.scale(now).events(thread))
}
