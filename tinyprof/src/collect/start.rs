//! The start of a recording, which also arranges for its end.

use std::env;
use std::ffi::c_void;
use std::sync::Once;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::events;
use super::finish;
use super::interim_profiles;
use super::launcher::speaks_for_all;
use super::message::warn;
use super::on_demand;
use super::sampling;
use super::segments;
use super::session::{begin_with, session, within_start};
use super::starting::starting;
use super::writer::{self, Writer};
use crate::record::budget;
use crate::record::calibration::visit_cost;
use crate::record::clock::Clock;
use crate::record::filter::{self, Filter};
use crate::record::thread;
use crate::sys::{at_exit, is_sandboxed};

/// The variable that `tinyprof run` sets.
const WATCHED: &str = "TINYPROF_RUN";

/// Begins the recording of this process if it has not begun yet: reads the environment, chooses the
/// clock, and arranges that the profile is written when the process ends.
pub fn start() {
    static ARRANGED: Once = Once::new();
    // Checked first, because all but the first threads have nothing to do here.
    if !ARRANGED.is_completed() {
        thread::while_away(|| {
            ARRANGED.call_once(|| {
                starting(|| {
                    if !begin_with(arrange) && session().config.is_recording() {
                        within_start(arrange);
                    }
                });
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
    if let Some(per_second) = session().config.sample.filter(|&number| number > 0) {
        sampling::begin(per_second);
    }
    events::begin();
    thread::pass_arenas_on();
    segments::prepare();
    if let Some(interval) = session().config.interim_interval {
        interim_profiles::install(interval);
    }
    on_demand::arrange();
    if session().config.on.is_some() && env::var_os(WATCHED).is_none() && speaks_for_all() {
        warn(
            "nobody watches the condition in TINYPROF_ON, as this was not started by tinyprof run",
        );
    }
    end_with_process();
    HAS_BEGUN.store(true, Relaxed);
}

/// Set once this process records, so that there is something to write at its end.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
/// Set if the profile is written after the destructors of all libraries.
static IS_AFTER_ALL: AtomicBool = AtomicBool::new(false);

/// Has the end of the process write the profile, if it records then. The first call counts.
///
/// The system calls handlers in the reverse order of their registration. One that is registered
/// when the program is loaded comes after those of the program, which may finalise MPI.
pub fn end_with_process() {
    static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
    if !IS_REGISTERED.swap(true, Relaxed) {
        at_exit(end);
    }
}

/// Returns the handler that replaces that of [`end_with_process`]; `None` if it was taken before.
///
/// It is for a caller that can have it called after the destructors of all libraries, which may
/// finalise MPI, too.
pub fn end_after_all() -> Option<extern "C" fn(*mut c_void)> {
    (!IS_AFTER_ALL.swap(true, Relaxed)).then_some(end_last)
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

/// Begins the recording and returns the clock to record with, or `None` if recording is off.
pub(crate) fn start_recording() -> Option<Clock> {
    start();
    let session = session();
    session.config.is_recording().then_some(session.clock)
}

extern "C" fn end() {
    if !IS_AFTER_ALL.load(Relaxed) {
        write();
    }
}

extern "C" fn end_last(_: *mut c_void) {
    write();
}

/// Writes the profile of this process, if it records.
fn write() {
    if !HAS_BEGUN.load(Relaxed) {
        return;
    }
    // A child made by `fork` has a copy of the parent's measurements, which are not its own. In a
    // sandbox the question for the process may be fatal.
    let is_own = if is_sandboxed() {
        !segments::is_forked_child()
    } else {
        session().process_id == std::process::id()
    };
    if is_own {
        finish::end(writer::custom_writer().unwrap_or(finish::write_at_exit));
    }
}
