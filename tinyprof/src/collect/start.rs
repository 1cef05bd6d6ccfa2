//! The beginning of a recording, which arranges for its end.

use std::sync::Once;

use super::checkpoints;
use super::config::ReportSignal;
use super::finish;
use super::segments;
use super::session::session;
use super::so_far;
use super::writer;
use crate::record::budget;
use crate::record::clock::Clock;
use crate::record::thread;
use crate::sys::{at_exit, without_write_signals};

/// Begins the recording of this process if nothing has begun it yet: reads the environment, chooses the clock,
/// and arranges that the profile is written when the process ends.
pub fn start() {
    static ARRANGED: Once = Once::new();
    if session().config.recording {
        let arrange = || {
            if let Some(share) = session().config.budget {
                budget::install(share, session().clock);
            }
            segments::prepare();
            if let Some(interval) = session().config.checkpoint_interval {
                checkpoints::install(interval);
            }
            so_far::arrange();
            at_exit(end);
        };
        // Asked first, as all but the first threads have nothing to do here.
        if !ARRANGED.is_completed() {
            thread::while_away(|| ARRANGED.call_once(arrange));
        }
    }
}

/// Says that the caller writes the profile.
///
/// At the end of the process `write_at_exit` is called in place of writing it, unless recording is off. Returns
/// whether nobody had said so before; only the first counts.
pub fn take_over(write_at_exit: fn()) -> bool {
    start();
    let is_first = writer::take_over(write_at_exit);
    if is_first {
        // They are the writer's to watch now.
        thread::watch_none();
    }
    is_first
}

/// Caps the share of each thread's time that timing may take, from 0 to 1: what `TINYPROF_BUDGET` says wins. It holds
/// for callpaths that are visited first after this; only the first call counts.
pub fn set_budget(share: f64) {
    start();
    if session().config.recording && share > 0.0 {
        budget::install(share.min(1.0), session().clock);
    }
}

/// Has this process print the table so far to standard error whenever it gets `SIGUSR1`, and go on. `TINYPROF_SIGNAL` wins, which
/// may also name `SIGUSR2`: MPICH has the first for itself.
///
/// A thread is made for it that sleeps until then; all signals are blocked in it. The table is that of this process: under
/// MPI, of its rank. A process that handles or ignores the signal already keeps its way, and a line on standard error says
/// so; one that handles it later takes it away from us. Calls into the system that a signal interrupts go on, but for
/// those that never do, such as `nanosleep`: they return early, as with any handler.
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
        let write = writer::taken_over_by().unwrap_or(finish::write_at_exit);
        // A panic here would abort a program that has ended well.
        drop(std::panic::catch_unwind(|| without_write_signals(write)));
        segments::discard_segments();
    }
}
