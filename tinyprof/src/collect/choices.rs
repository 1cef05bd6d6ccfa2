//! The settings in force: those of the environment, otherwise those of the program.

use std::sync::OnceLock;
use std::time::Duration;

use tinyprof_format::model::Precision;
use tinyprof_settings::{DEADLINE_DEFAULT, Settings};

use super::session::session;

/// The settings of the program.
static PROGRAM: OnceLock<Settings> = OnceLock::new();

/// Installs the settings of the program; returns false if it has made them before.
pub(super) fn install(program: Settings) -> bool {
    PROGRAM.set(program).is_ok()
}

/// Returns the value of a setting that is in force, if it is set.
pub(super) fn chosen<T>(setting: impl Fn(&Settings) -> Option<T>) -> Option<T> {
    setting(&session().config).or_else(|| PROGRAM.get().and_then(setting))
}

/// Returns the settings in force: those of the environment, otherwise those of the program's
/// [`Builder`](super::Builder).
///
/// ```
/// use tinyprof::collect::settings;
///
/// tinyprof::Builder::new().budget(0.01).start()?;
/// assert_eq!(settings().budget, Some(0.01));
/// # Ok::<(), tinyprof::StartError>(())
/// ```
#[must_use]
pub fn settings() -> Settings {
    session().config.clone().or(PROGRAM.get().cloned().unwrap_or(Settings::NONE))
}

/// Returns the longest time that the program may be held up.
pub(super) fn deadline() -> Duration {
    chosen(|settings| settings.deadline).unwrap_or(DEADLINE_DEFAULT)
}

/// Returns the precision of the times: exact, unless the user or the program chooses otherwise.
#[must_use]
pub fn precision() -> Precision {
    chosen(|settings| settings.precision).unwrap_or_default()
}
