//! Settings that are fixed when the recording of this process begins.

use std::env;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Once, OnceLock};

use tinyprof_segment::clock::Moment;
use tinyprof_settings::{ClockChoice, DEADLINE_DEFAULT, Settings, Wrappers};

use super::config::from_environment;
use super::isolated::isolated;
use super::launcher;
use super::message::warn;
use crate::record::begin_processor_time;
use crate::record::clock::{self, Clock};
use crate::record::thread;
use crate::sys::has_raised_rights;

/// The recording of this process.
#[derive(Debug)]
pub(crate) struct Session {
    /// The settings of the environment.
    pub(crate) config: Settings,
    pub(crate) clock: Clock,
    pub(crate) started: Moment,
    pub(crate) launch_date_s: u64,
    pub(crate) process_id: u32,
    /// The working directory. Relative paths in settings are relative to it, even after the program
    /// changes its directory.
    pub(crate) directory: Option<PathBuf>,
}

static SESSION: OnceLock<Session> = OnceLock::new();

/// The session of a process that records nothing: it runs with rights that its user lacks, or
/// memory ran out at the start.
static OFF: Session = Session {
    config: Settings { recording: Some(false), ..Settings::NONE },
    clock: Clock::Monotonic,
    started: Moment::ZERO,
    launch_date_s: 0,
    process_id: 0,
    directory: None,
};

/// Set if the start of the session failed.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Returns the session of this process. The first caller begins it.
pub(crate) fn session() -> &'static Session {
    if FAILED.load(Relaxed) {
        return &OFF;
    }
    SESSION.get().unwrap_or_else(first_session)
}

#[cold]
#[inline(never)]
fn first_session() -> &'static Session {
    begin_with(|| ());
    SESSION.get().filter(|_| !FAILED.load(Relaxed)).unwrap_or(&OFF)
}

/// Begins the session, unless it has begun, and calls `more` if it records. Returns false if it had
/// begun before.
///
/// Both run on a thread of their own, because they allocate: a program that is out of memory at
/// that moment is not recorded, and continues.
pub(super) fn begin_with(more: fn()) -> bool {
    static BEGUN: Once = Once::new();
    let mut is_first = false;
    // A program with more rights than its user must not do what the user's environment asks for,
    // such as writing files.
    if !BEGUN.is_completed() && !has_raised_rights() {
        thread::while_away(|| {
            BEGUN.call_once(|| {
                is_first = true;
                within_start(move || {
                    if SESSION.get_or_init(begin).config.is_recording() {
                        more();
                    }
                });
            });
        });
    }
    is_first
}

/// Runs a step of the start on a thread of its own. If it fails, nothing is recorded, which is
/// reported once.
pub(super) fn within_start(step: impl FnOnce() + Send + 'static) {
    if let Err(reason) = isolated(DEADLINE_DEFAULT, step) {
        FAILED.store(true, Relaxed);
        warn(format_args!("nothing is recorded: the beginning failed: {reason}"));
    }
}

fn begin() -> Session {
    let config = from_environment();
    let choice = config.clock.unwrap_or_default();
    let clock = Clock::detect(choice);
    if choice == ClockChoice::Fenced && !clock.is_counter() && launcher::speaks_for_all() {
        warn(
            "TINYPROF_CLOCK=fenced is ignored: the processor's counter is not steady on this machine; visits are \
             measured with CLOCK_MONOTONIC",
        );
    }
    let started = clock::now(clock);
    begin_processor_time(started.monotonic_ns);
    Session {
        config,
        clock,
        started,
        launch_date_s: now_unix_s(),
        process_id: std::process::id(),
        directory: env::current_dir().ok(),
    }
}

/// Returns the settings of this process, read from the environment when recording began.
#[must_use]
pub fn config() -> &'static Settings {
    &session().config
}

/// Returns the functions through which the program calls MPI, as the environment names them.
#[must_use]
pub fn wrappers() -> Wrappers {
    Wrappers::new(config().wrappers.as_deref().unwrap_or_default())
}

/// Returns when the process has begun to record, in seconds since 1970-01-01 UTC.
#[must_use]
pub fn launch_date_s() -> u64 {
    session().launch_date_s
}

/// Returns how many of the functions around a call of MPI become callpaths.
#[must_use]
pub fn callers() -> usize {
    config().callers.unwrap_or(0) as usize
}

/// Returns the seconds since 1970-01-01 UTC.
#[expect(clippy::disallowed_types, reason = "the launch date is a date, not a measurement")]
fn now_unix_s() -> u64 {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since_epoch.map_or(0, |since| since.as_secs())
}
