//! Events: visits that are kept one by one, as settings ask for them and snapshots take them.

use std::sync::Arc;

use tinyprof_events::EventPolicy;
use tinyprof_events::buffer::Times;
use tinyprof_format::model::{
    EventCell, EventClass, MessageEvent, RankEvents, ThreadEvents, VisitEvent,
};
use tinyprof_format::ticks::Scale;
use tinyprof_segment::control::Accepts;
use tinyprof_settings::{Events as Setting, EventsWindow, Steer};

use super::launcher;
use super::message::warn;
use super::session::session;
use crate::record::events::{self, Events, Window, installed};
use crate::record::{Arena, EventReading};

/// The memory for the events of a thread, unless another size is set.
const BYTES_DEFAULT: u64 = 4 << 20;
/// The bits that times of the processor's counter lose: their unit is then 2 to 4 ns.
const COUNTER_SHIFT: u32 = 3;
/// Shorter computation is not kept where all of a run is to be there: 1 us of a counter at 2 GHz.
const SHORTEST_TICKS: u32 = 2_000;
const SHORTEST_NS: u32 = 1_000;

/// Makes threads keep events, if the environment asks for it, and obey commands, if it allows that.
pub(super) fn begin() {
    let config = &session().config;
    let (accepts, steer) = match config.steer.unwrap_or_default() {
        Steer::Off => (Accepts::Nothing, None),
        Steer::On => (Accepts::Recording, Some("TINYPROF_STEER")),
        Steer::Hold => (Accepts::Holding, Some("TINYPROF_STEER")),
    };
    let (policy, window) = match config.events {
        Some(Setting::Keep(policy)) => (policy, window(config.events_window.as_ref())),
        _ => {
            if config.events_window.is_some() {
                ignore("TINYPROF_EVENTS_WINDOW", "TINYPROF_EVENTS does not say what to keep");
            }
            (EventPolicy::Ring, Window::Commanded)
        }
    };
    let asks = if window == Window::Commanded { steer } else { Some("TINYPROF_EVENTS") };
    let Some(asks) = asks else { return };
    if config.budget.is_some() {
        // Visits that a budget does not time have no begin and no end.
        ignore(asks, "events and TINYPROF_BUDGET exclude each other");
    } else {
        install(policy, window, accepts);
    }
}

/// Warns of a setting that has no effect.
fn ignore(setting: &str, why: &str) {
    if launcher::speaks_for_all() {
        warn(format_args!("{setting} is ignored: {why}"));
    }
}

fn install(policy: EventPolicy, window: Window, accepts: Accepts) {
    let session = session();
    let is_counter = session.clock.is_counter();
    let shortest = match (policy, is_counter) {
        (EventPolicy::Thin, true) => SHORTEST_TICKS,
        (EventPolicy::Thin, false) => SHORTEST_NS,
        _ => 0,
    };
    let bytes = session.config.events_memory.unwrap_or(BYTES_DEFAULT);
    let shift = if is_counter { COUNTER_SHIFT } else { 0 };
    events::install(Events {
        policy,
        bytes: usize::try_from(bytes).map_or(0, |bytes| 1 << bytes.ilog2()),
        times: Times { origin: session.started.ticks, shift, shortest },
        window,
        accepts,
        started: session.started,
    });
}

fn window(setting: Option<&EventsWindow>) -> Window {
    match setting {
        None => Window::Always,
        Some(EventsWindow::Program) => Window::Program,
        Some(EventsWindow::Time { from, length }) => {
            let ns = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            Window::Time { from_ns: ns(*from), to_ns: ns(*from).saturating_add(ns(*length)) }
        }
        Some(EventsWindow::Visits { region, first, last }) => {
            Window::Visits { region: region.clone(), first: *first, last: *last }
        }
    }
}

/// Returns the events of these threads so far; `None` if none are kept.
pub(super) fn rank_events(arenas: &[&Arena], scale: Scale) -> Option<Arc<RankEvents>> {
    let events = installed()?;
    let lacks_memory = arenas.iter().filter(|arena| arena.lacks_memory_for_events());
    let threads_without_memory = lacks_memory.count() as u64;
    let threads = (0..).zip(arenas.iter().rev()).filter_map(|(thread, arena)| {
        let now = arena.now().saturating_sub(events.times.origin);
        let reading = arena.event_reading()?;
        Some(scale.events(thread_events(thread, reading, events.times.origin, now)))
    });
    let threads: Vec<_> = threads.collect();
    if threads.is_empty() && events.window == Window::Commanded {
        return None;
    }
    let origin_ns = events.started.monotonic_ns;
    Some(Arc::new(RankEvents { origin_ns, threads_without_memory, threads }))
}

/// Returns the events of a thread, with all times in ticks.
fn thread_events(thread: u32, reading: EventReading, origin: u64, now: u64) -> ThreadEvents {
    let EventReading { recording, memory_bytes, callpaths, open } = reading;
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
        let duration_ns = visit.end - visit.begin;
        Some(VisitEvent { callpath, depth, begin_ns: visit.begin, duration_ns })
    });
    let messages = recording.messages.iter().filter_map(|message| {
        let &(callpath, _) = callpaths.get(&message.callpath)?;
        Some(MessageEvent { callpath, at_ns: message.at, end: message.end })
    });
    let mut thread = ThreadEvents {
        thread,
        policy: recording.policy,
        memory_bytes,
        stopped_ns: recording.stopped,
        cut: recording.cut,
        cells: cells.collect(),
        visits: visits.collect(),
        messages: messages.collect(),
    };
    for visit in &open {
        let begin_ns = visit.begin.saturating_sub(origin);
        let (callpath, depth) = (visit.callpath, visit.depth);
        let duration_ns = now.saturating_sub(begin_ns);
        let class = if depth == 1 { EventClass::Root } else { EventClass::AroundCalls };
        thread.add_open(class, VisitEvent { callpath, depth, begin_ns, duration_ns });
    }
    thread.sort();
    thread
}
