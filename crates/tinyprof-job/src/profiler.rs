//! A profiler that a program starts itself, as far as it does not depend on the program's binding
//! of MPI.

use std::path::PathBuf;

use tinyprof::__mpi as recorder;
use tinyprof::collect;

use crate::communicator::MpiCommunicator;
use crate::error::{FlushError, StartError};
use crate::interim_profile;
use crate::run;
use crate::settings::Settings;
use crate::sys::ProgramCommunicator;

/// A profiler that writes one profile of all ranks of a communicator, when it is told to.
///
/// `tinyprof_mpi::Profiler` wraps it, and ensures that MPI outlives it.
pub struct JobProfiler {
    communicator: MpiCommunicator,
    settings: Settings,
}

impl std::fmt::Debug for JobProfiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JobProfiler").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl JobProfiler {
    /// Starts a profiler for the ranks of `program`. Collective over it.
    ///
    /// # Errors
    /// When a profiler has been started before: there is one profile per run.
    pub fn start(
        program: ProgramCommunicator,
        settings: tinyprof_settings::Settings,
    ) -> Result<Self, StartError> {
        if !run::claim() {
            return Err(StartError);
        }
        interim_profile::retire();
        let communicator = MpiCommunicator::duplicate_of(program);
        run::begin();
        let begun = begin_recorder(&settings);
        let settings = Settings::of_profiler(settings);
        if collect::ENABLED {
            interim_profile::begin_of_profiler(program, &communicator, &settings);
        }
        // Only now: the other ranks wait for this one until here.
        begun?;
        Ok(Self { communicator, settings })
    }

    /// Writes the profile and returns its path, or none if no rank has measured anything.
    /// Collective.
    ///
    /// # Errors
    /// When the profile could not be written, or ranks did not come together.
    pub fn flush(&self) -> Result<Option<PathBuf>, FlushError> {
        run::flush(&self.communicator, &self.settings)
    }

    /// Writes a profile of everything so far and returns its path, or none if no rank has measured
    /// anything. Collective.
    ///
    /// # Errors
    /// When it could not be written: on every rank, with the same reason.
    pub fn interim_profile(&self) -> Result<Option<PathBuf>, FlushError> {
        if !collect::ENABLED {
            return Ok(None);
        }
        interim_profile::by_hand(&self.communicator, &self.settings)
    }
}

/// Makes those settings that this rank's recorder obeys by itself. The flush obeys the others.
///
/// A filter that is no list of patterns is reported and left out, so that the ranks stay together.
///
/// # Errors
/// When the program has made settings for the recorder before.
fn begin_recorder(settings: &tinyprof_settings::Settings) -> Result<(), StartError> {
    let own = tinyprof_settings::Settings {
        budget: settings.budget,
        filter: settings.filter.clone(),
        report_on_signal: settings.report_on_signal,
        precision: settings.precision,
        ..tinyprof_settings::Settings::NONE
    };
    let begun = match recorder::begin(&own) {
        Err(collect::StartError::Filter { patterns }) => {
            recorder::warn(format_args!(
                "the filter {patterns:?} is ignored: expected patterns with a comma between them, as in -*fields_at*,+main"
            ));
            recorder::begin(&tinyprof_settings::Settings { filter: None, ..own })
        }
        begun => begun,
    };
    begun.map_err(|_| StartError)
}
