//! The recording of this process: begun by the first region, ended once.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::config::Config;
use super::{finish, metadata};
use crate::record::clock::{Clock, Moment};

/// What is fixed when recording begins.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) config: Config,
    pub(crate) clock: Clock,
    pub(crate) started: Moment,
    pub(crate) launch_date_s: u64,
    process_id: u32,
}

static SESSION: OnceLock<Session> = OnceLock::new();
static TAKEN_OVER: AtomicBool = AtomicBool::new(false);

/// Begins the recording of this process if nothing has begun it yet: reads the environment, chooses the clock,
/// and arranges that the profile is written when the process ends.
pub fn start() {
    session();
}

/// The settings of this process, read from the environment when recording began.
#[must_use]
pub fn config() -> &'static Config {
    &session().config
}

/// Says that the caller writes the profile: the end of the process will not. Returns whether nobody had said
/// so before.
pub fn take_over() -> bool {
    session();
    !TAKEN_OVER.swap(true, Relaxed)
}

pub(crate) fn session() -> &'static Session {
    SESSION.get_or_init(|| {
        let clock = Clock::detect();
        let session = Session {
            config: Config::from_environment(),
            clock,
            started: Moment::now(clock),
            launch_date_s: metadata::now_unix_s(),
            process_id: std::process::id(),
        };
        if session.config.recording {
            // SAFETY: the handler takes nothing, does not unwind, and lives as long as the program. If there is
            // no room for it the profile of a program without MPI is not written, and nothing else changes.
            unsafe { libc::atexit(at_exit) };
        }
        session
    })
}

/// The clock to record with; none if recording is off.
pub(crate) fn start_recording() -> Option<Clock> {
    let session = session();
    session.config.recording.then_some(session.clock)
}

/// Writes the profile of a program without MPI. Runs when `main` has returned or `exit` was called.
extern "C" fn at_exit() {
    // A child made by `fork` has a copy of the parent's measurements: they are not its own.
    if session().process_id == std::process::id() && take_over() {
        // A panic here would abort a program that has ended well.
        drop(std::panic::catch_unwind(finish::write_at_exit));
    }
}
