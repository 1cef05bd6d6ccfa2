//! The recording of this process: begun by the first region, ended once.

use std::sync::OnceLock;

use super::config::Config;
use super::signals::without_write_signals;
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
/// Who writes the profile at the end of the process instead of us, if somebody has said so.
static WRITER: OnceLock<fn()> = OnceLock::new();

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

/// Says that the caller writes the profile; returns whether nobody had said so before.
///
/// At the end of the process `at_exit` is called in place of writing it, unless recording is off. Only the first
/// caller counts.
pub fn take_over(at_exit: fn()) -> bool {
    session();
    WRITER.set(at_exit).is_ok()
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
    if session().process_id == std::process::id() {
        let write = WRITER.get().copied().unwrap_or(finish::write_at_exit);
        // A panic here would abort a program that has ended well.
        drop(std::panic::catch_unwind(|| without_write_signals(write)));
    }
}
