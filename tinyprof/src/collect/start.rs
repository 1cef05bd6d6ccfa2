//! The start of a recording, which also arranges for its end.

use std::sync::Once;

use tinyprof_settings::ReportSignal;

use super::finish;
use super::interim_profiles;
use super::on_demand;
use super::segments;
use super::session::{begin_with, session, within_start};
use super::writer::{self, Writer};
use crate::record::budget;
use crate::record::calibration::visit_cost;
use crate::record::clock::Clock;
use crate::record::filter::{self, Filter};
use crate::record::thread;
use crate::sys::at_exit;

/// Begins the recording of this process if it has not begun yet: reads the environment, chooses the
/// clock, and arranges that the profile is written when the process ends.
pub fn start() {
    static ARRANGED: Once = Once::new();
    // Checked first, because all but the first threads have nothing to do here.
    if !ARRANGED.is_completed() {
        thread::while_away(|| {
            ARRANGED.call_once(|| {
                if !begin_with(arrange) && session().config.is_recording() {
                    within_start(arrange);
                }
            });
        });
    }
}

/// Arranges what a recording session needs. Called once, on the thread that begins the session.
pub(super) fn arrange() {
    if let Some(share) = session().config.budget {
        budget::install(share, visit_cost(session().clock));
    }
    if let Some(filter) = session().config.filter.as_deref().and_then(Filter::parse) {
        filter::install(filter);
    }
    thread::pass_arenas_on();
    segments::prepare();
    if let Some(interval) = session().config.interim_interval {
        interim_profiles::install(interval);
    }
    on_demand::arrange();
    at_exit(end);
}

/// Makes the caller responsible for writing the profile.
///
/// At the end of the process `write_at_exit` is called instead of the default writer, unless
/// recording is off. It runs on a thread of its own, within the deadline. A collector that has
/// nothing to do there passes [`Ending::default`](super::Ending). Returns whether this is the first
/// call; only the first counts.
pub fn take_over(write_at_exit: Writer) -> bool {
    start();
    let is_first = writer::take_over(write_at_exit);
    if is_first {
        // Watching flush points is now the writer's job.
        thread::watch_none();
    }
    is_first
}

/// Limits the share of each thread's time that timing may take, from 0 to 1; `TINYPROF_BUDGET`
/// wins. It holds for callpaths that are first visited after this call. Only the first call counts.
pub fn set_budget(share: f64) {
    start();
    if session().config.is_recording() && share > 0.0 {
        budget::install(share.min(1.0), visit_cost(session().clock));
    }
}

/// Excludes regions from the recording, as `TINYPROF_FILTER` does, which wins:
/// `-*fields_at*,+main`. Returns false if the text is not a filter.
///
/// It holds for callpaths that are first visited after this call. Only the first call counts. If
/// several processes make one profile, all of them should set the same filter.
#[must_use = "a text that is no filter is not heard"]
pub fn set_filter(patterns: &str) -> bool {
    start();
    let filter = Filter::parse(patterns);
    let is_filter = filter.is_some();
    if let Some(filter) = filter.filter(|_| session().config.is_recording()) {
        filter::install(filter);
    }
    is_filter
}

/// Makes this process print the on-demand report to standard error whenever it gets `SIGUSR1`, and
/// continue. `TINYPROF_SIGNAL` wins, which may also name `SIGUSR2`: MPICH reserves the first for
/// itself.
///
/// A new thread sleeps until the signal comes; all signals are blocked in it. The report covers
/// this process: under MPI, its rank. If the process already handles or ignores the signal, that
/// stays in effect, and a line on standard error says so. A handler that it installs later replaces
/// ours. System calls that the signal interrupts are resumed, except those that never are, such as
/// `nanosleep`: they return early, as with any handler.
///
/// # Cost
/// Nothing until the signal comes; then a snapshot.
pub fn report_on_signal() {
    start();
    if session().config.is_recording() && session().config.report_on_signal.is_none() {
        on_demand::install(ReportSignal::Usr1);
    }
}

/// Begins the recording and returns the clock to record with, or `None` if recording is off.
pub(crate) fn start_recording() -> Option<Clock> {
    start();
    let session = session();
    session.config.is_recording().then_some(session.clock)
}

extern "C" fn end() {
    // A child made by `fork` has a copy of the parent's measurements, which are not its own.
    if session().process_id == std::process::id() {
        finish::end(writer::custom_writer().unwrap_or(finish::write_at_exit));
    }
}
