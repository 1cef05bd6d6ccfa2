//! Which visits are kept one by one: the same for all threads of this process.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_events::EventPolicy;
use tinyprof_events::buffer::Times;
use tinyprof_segment::clock::Moment;
use tinyprof_segment::control::Accepts;

/// The events that are kept of each thread.
#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) policy: EventPolicy,
    /// The memory of a thread.
    pub(crate) bytes: usize,
    pub(crate) times: Times,
    pub(crate) window: Window,
    /// The commands that threads obey.
    pub(crate) accepts: Accepts,
    /// The start of the recording.
    pub(crate) started: Moment,
}

/// The part of the run of which events are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Window {
    /// All of it.
    Always,
    /// From one time on, up to another; since the start, in ns.
    Time { from_ns: u64, to_ns: u64 },
    /// Some visits of the region of this name, on each thread, counted from 0.
    Visits { region: String, first: u64, last: u64 },
    /// While the program asks for it.
    Program,
    /// While a command asks for it.
    Commanded,
}

static INSTALLED: OnceLock<Events> = OnceLock::new();

/// The number of pieces of the program that ask for events and have not ended.
static ASKED: AtomicU32 = AtomicU32::new(0);

/// Keeps events of threads that begin to record from now on. Only the first call counts.
pub(crate) fn install(events: Events) {
    INSTALLED.get_or_init(|| events);
}

/// Returns what is kept; `None` if nothing is.
#[inline]
pub(crate) fn installed() -> Option<&'static Events> {
    INSTALLED.get()
}

/// Begins a piece of the program that asks for events.
pub(crate) fn ask() {
    ASKED.fetch_add(1, Relaxed);
}

/// Ends such a piece.
pub(crate) fn end_asking() {
    ASKED.fetch_sub(1, Relaxed);
}

/// Returns whether the program asks for events now.
pub(super) fn is_asked() -> bool {
    ASKED.load(Relaxed) > 0
}
