//! What is fixed when the recording of this process begins.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::config::{Config, warn};
use super::launcher;
use crate::record::clock::{Clock, ClockChoice, Moment};
use crate::record::thread;

/// The recording of this process.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) config: Config,
    pub(crate) clock: Clock,
    pub(crate) started: Moment,
    pub(crate) launch_date_s: u64,
    pub(crate) process_id: u32,
    /// The working directory: what is relative in a setting is relative to it, wherever the program goes.
    pub(crate) directory: Option<PathBuf>,
}

static SESSION: OnceLock<Session> = OnceLock::new();

/// The session of this process, begun by the first who asks.
pub(crate) fn session() -> &'static Session {
    SESSION.get().unwrap_or_else(|| thread::while_away(|| SESSION.get_or_init(begin)))
}

fn begin() -> Session {
    let config = Config::from_environment();
    let clock = Clock::detect(config.clock);
    if config.clock == ClockChoice::Fenced && !clock.is_counter() && launcher::speaks_for_all() {
        warn(
            "TINYPROF_CLOCK=fenced is ignored: the processor's counter is not steady on this machine; visits are \
             measured with CLOCK_MONOTONIC",
        );
    }
    Session {
        config,
        clock,
        started: Moment::now(clock),
        launch_date_s: now_unix_s(),
        process_id: std::process::id(),
        directory: env::current_dir().ok(),
    }
}

/// The settings of this process, read from the environment when recording began.
#[must_use]
pub fn config() -> &'static Config {
    &session().config
}

/// Seconds since 1970-01-01 UTC.
#[expect(clippy::disallowed_types, reason = "the launch date is a date, not a measurement")]
fn now_unix_s() -> u64 {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since_epoch.map_or(0, |since| since.as_secs())
}
