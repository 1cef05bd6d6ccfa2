//! The beginning of a recording, which arranges for its end.

use std::sync::Once;

use super::checkpoints;
use super::config::ReportSignal;
use super::finish;
use super::segments;
use super::session::{begin_with, session, within_start};
use super::so_far;
use super::writer::{self, Writer};
use crate::record::budget;
use crate::record::calibration::visit_cost;
use crate::record::clock::Clock;
use crate::record::filter::{self, Filter};
use crate::record::thread;
use crate::sys::at_exit;

/// Begins the recording of this process if nothing has begun it yet: reads the environment, chooses
/// the clock, and arranges that the profile is written when the process ends.
pub fn start() {
    static ARRANGED: Once = Once::new();
    // Asked first, as all but the first threads have nothing to do here.
    if !ARRANGED.is_completed() {
        thread::while_away(|| {
            ARRANGED.call_once(|| {
                if !begin_with(arrange) && session().config.recording {
                    within_start(arrange);
                }
            });
        });
    }
}

/// Arranges what a session that records needs. Called once, on the thread that begins the session.
pub(super) fn arrange() {
    if let Some(share) = session().config.budget {
        budget::install(share, visit_cost(session().clock));
    }
    if let Some(filter) = session().config.filter.as_deref().and_then(Filter::parse) {
        filter::install(filter);
    }
    thread::pass_arenas_on();
    segments::prepare();
    if let Some(interval) = session().config.checkpoint_interval {
        checkpoints::install(interval);
    }
    so_far::arrange();
    at_exit(end);
}

/// Makes the caller the one who writes the profile.
///
/// At the end of the process `write_at_exit` is called in place of writing it, unless recording is
/// off: on a thread of its own, within the deadline. [`Ending::default`](super::Ending) is for a
/// collector that has nothing to do there. Returns whether nobody had taken over before; only the
/// first counts.
pub fn take_over(write_at_exit: Writer) -> bool {
    start();
    let is_first = writer::take_over(write_at_exit);
    if is_first {
        // They are the writer's to watch now.
        thread::watch_none();
    }
    is_first
}

/// Caps the share of each thread's time that timing may take, from 0 to 1: what `TINYPROF_BUDGET`
/// says wins. It holds for callpaths that are visited first after this; only the first call counts.
pub fn set_budget(share: f64) {
    start();
    if session().config.recording && share > 0.0 {
        budget::install(share.min(1.0), visit_cost(session().clock));
    }
}

/// Takes regions out of the recording, as `TINYPROF_FILTER` does, which wins: `-*fields_at*,+main`.
/// False if the text is no filter.
///
/// It holds for callpaths that are visited first after this; only the first call counts. Where
/// several processes make one profile, all of them should say the same.
#[must_use = "a text that is no filter is not heard"]
pub fn set_filter(patterns: &str) -> bool {
    start();
    let filter = Filter::parse(patterns);
    let is_filter = filter.is_some();
    if let Some(filter) = filter.filter(|_| session().config.recording) {
        filter::install(filter);
    }
    is_filter
}

/// Has this process print the table so far to standard error whenever it gets `SIGUSR1`, and go on.
/// `TINYPROF_SIGNAL` wins, which may also name `SIGUSR2`: MPICH has the first for itself.
///
/// A thread is made for it that sleeps until then; all signals are blocked in it. The table is that
/// of this process: under MPI, of its rank. A process that handles or ignores the signal already
/// keeps its way, and a line on standard error says so; one that handles it later takes it away
/// from us. Calls into the system that a signal interrupts go on, but for those that never do, such
/// as `nanosleep`: they return early, as with any handler.
///
/// # Cost
/// Nothing until the signal comes; then a snapshot.
pub fn report_on_signal() {
    start();
    if session().config.recording && session().config.report_on_signal.is_none() {
        so_far::install(ReportSignal::Usr1);
    }
}

/// Begins the recording, and gives the clock to record with; none if recording is off.
pub(crate) fn start_recording() -> Option<Clock> {
    start();
    let session = session();
    session.config.recording.then_some(session.clock)
}

extern "C" fn end() {
    // A child made by `fork` has a copy of the parent's measurements: they are not its own.
    if session().process_id == std::process::id() {
        finish::end(writer::taken_over_by().unwrap_or(finish::write_at_exit));
    }
}
