//! What is fixed when the recording of this process begins.

use std::sync::OnceLock;

use super::config::Config;
use crate::record::clock::{Clock, Moment};

/// The recording of this process.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) config: Config,
    pub(crate) clock: Clock,
    pub(crate) started: Moment,
    pub(crate) launch_date_s: u64,
    pub(crate) process_id: u32,
}

static SESSION: OnceLock<Session> = OnceLock::new();

/// The session of this process, begun by the first who asks.
pub(crate) fn session() -> &'static Session {
    SESSION.get_or_init(|| {
        let clock = Clock::detect();
        Session {
            config: Config::from_environment(),
            clock,
            started: Moment::now(clock),
            launch_date_s: now_unix_s(),
            process_id: std::process::id(),
        }
    })
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
