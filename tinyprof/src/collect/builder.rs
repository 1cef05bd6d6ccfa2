//! Settings that the program makes.

use std::fmt;

use tinyprof_settings::{Settings, parse::is_filter};

use super::session::session;
use super::start::start;
use super::{ENABLED, choices, interim_profiles, on_demand};
use crate::record::budget;
use crate::record::calibration::visit_cost;
use crate::record::filter::{self, Filter};

/// Settings of this run's profile, made by the program, with and without MPI. The environment
/// overrides them, so that a user can change a run without a rebuild.
///
/// An MPI program that starts its profiler itself makes the same settings with the builder of
/// `tinyprof_mpi::Profiler`.
///
/// # Example
///
/// ```
/// use std::time::Duration;
///
/// let hour = Duration::from_secs(3600);
/// tinyprof::Builder::new().budget(0.01).interim_interval(hour).start()?;
/// // ... the program ...
/// # Ok::<(), tinyprof::StartError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use = "nothing happens before `start`"]
pub struct Builder {
    settings: Settings,
}

impl Builder {
    /// Returns a builder with no setting.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the settings, and begins the recording if it has not begun yet. Any thread.
    ///
    /// To have an effect on the whole run, it should come before the first region.
    ///
    /// # Errors
    /// If the program has made its settings before, or if the filter is not a list of patterns.
    /// Nothing is changed then.
    ///
    /// ```
    /// use tinyprof::{Builder, StartError};
    ///
    /// let wrong = Builder::new().filter("-a,,b").start();
    /// assert_eq!(wrong, Err(StartError::Filter { patterns: "-a,,b".to_owned() }));
    /// assert_eq!(Builder::new().report(false).start(), Ok(()));
    /// assert_eq!(Builder::new().report(true).start(), Err(StartError::AlreadyStarted));
    /// ```
    pub fn start(self) -> Result<(), StartError> {
        begin(&self.settings)
    }

    tinyprof_settings::everywhere_methods!();
}

/// Makes the settings of the program, and begins the recording if it has not begun yet.
///
/// # Errors
/// As [`Builder::start`].
pub fn begin(program: &Settings) -> Result<(), StartError> {
    if let Some(patterns) = program.filter.as_ref().filter(|patterns| !is_filter(patterns)) {
        return Err(StartError::Filter { patterns: patterns.clone() });
    }
    if ENABLED {
        start();
    }
    if !choices::install(program.clone()) {
        return Err(StartError::AlreadyStarted);
    }
    if ENABLED && session().config.is_recording() {
        obey(program);
    }
    Ok(())
}

/// Obeys those settings of the program that the environment does not override, if they take effect
/// at once. The others are looked up when they are needed.
fn obey(program: &Settings) {
    let environment = &session().config;
    if environment.budget.is_none()
        && let Some(share) = program.budget.filter(|&share| share > 0.0)
    {
        budget::install(share.min(1.0), visit_cost(session().clock));
    }
    if environment.filter.is_none()
        && let Some(filter) = program.filter.as_deref().and_then(Filter::parse)
    {
        filter::install(filter);
    }
    if environment.report_on_signal.is_none()
        && let Some(signal) = program.report_on_signal
    {
        on_demand::install(signal);
    }
    if environment.interim_interval.is_none()
        && let Some(interval) = program.interim_interval
    {
        interim_profiles::install(interval);
    }
}

/// The error that the settings of the program were not made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StartError {
    /// The program has made its settings before.
    AlreadyStarted,
    /// The filter is not a list of patterns.
    Filter {
        /// The filter.
        patterns: String,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyStarted => f.write_str(
                "the settings of this run have been made before: make all of them at once",
            ),
            Self::Filter { patterns } => write!(
                f,
                "the filter {patterns:?} cannot be read: expected patterns with a comma between them, as in -*fields_at*,+main"
            ),
        }
    }
}

impl std::error::Error for StartError {}
