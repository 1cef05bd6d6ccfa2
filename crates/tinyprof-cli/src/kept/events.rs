//! The events that the threads of a process have kept, running or killed.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tinyprof_events::{Recording, read};
use tinyprof_format::model::{
    EventCell, EventClass, EventMap, MessageEvent, RankEvents, ThreadEvents, VisitEvent,
};
use tinyprof_format::segment::{Segment, TickClock};
use tinyprof_segment::clock::Moment;

/// The events of a thread.
#[derive(Debug)]
pub(crate) struct Kept {
    recording: Recording,
    memory_bytes: u64,
    /// When the visits end that are open: the moment of the reading, in a thread that runs.
    open_until: Option<Moment>,
}

impl Kept {
    /// Returns the events of a thread that was killed; `None` if it kept none.
    pub(crate) fn of(segment: &Segment<'_>) -> Option<Self> {
        let words = segment.event_words()?.into_iter();
        Self::read(&words.map(AtomicU64::new).collect::<Vec<_>>(), None)
    }

    /// Returns the events in these words, to which their thread may write; `None` if there are
    /// none.
    pub(crate) fn read(words: &[AtomicU64], open_until: Option<Moment>) -> Option<Self> {
        Some(Self { recording: read(words)?, memory_bytes: words.len() as u64 * 8, open_until })
    }
}

/// Adds the events of the threads with these segments to the event map of their process, if there
/// are any.
pub(crate) fn add_events(
    map: &mut EventMap,
    segments: &[Segment<'_>],
    kept: Vec<Option<Kept>>,
    now: Moment,
) {
    let of_threads = segments.iter().zip(kept);
    let threads: Vec<ThreadEvents> =
        of_threads.filter_map(|(segment, kept)| Some(thread_events(segment, kept?, now))).collect();
    let Some(first) = segments.first().filter(|_| !threads.is_empty()) else { return };
    let origin_ns = first.header().start_ns;
    let events = RankEvents { origin_ns, threads_without_memory: 0, threads };
    map.facts.events = Some(Arc::new(events));
}

fn thread_events(segment: &Segment<'_>, kept: Kept, now: Moment) -> ThreadEvents {
    let Kept { recording, memory_bytes, open_until } = kept;
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
    let mut thread = ThreadEvents {
        thread: segment.header().thread,
        policy: recording.policy,
        memory_bytes,
        stopped_ns: recording.stopped,
        cut: recording.cut,
        cells: cells.collect(),
        visits: visits.collect(),
        messages: messages.collect(),
    };
    let origin = recording.times.origin;
    let open_until = open_until.filter(|_| recording.stopped.is_none() && segment.keeps_events());
    let until = open_until.map(|until| match segment.header().clock {
        TickClock::Counter => until.ticks,
        TickClock::Monotonic => until.monotonic_ns,
    });
    if let Some(until) = until.map(|until| until.saturating_sub(origin)) {
        for (line, begin) in segment.open_visits() {
            let Some(&(callpath, depth)) = callpaths.get(&line) else { continue };
            let begin_ns = begin.saturating_sub(origin);
            let duration_ns = until.saturating_sub(begin_ns);
            let class = if depth == 1 { EventClass::Root } else { EventClass::AroundCalls };
            thread.add_open(class, VisitEvent { callpath, depth, begin_ns, duration_ns });
        }
        thread.sort();
    }
    segment.scale(now).events(thread)
}
