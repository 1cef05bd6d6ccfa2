//! A profile that the program controls, for programs that need more than `use tinyprof_mpi as _;`.

use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use mpi::environment::Universe;
use mpi::topology::Communicator;
use tinyprof::__mpi as recorder;
use tinyprof::collect;

use crate::communicator::MpiCommunicator;
use crate::error::{FlushError, StartError};
use crate::interim_profile;
use crate::run;
use crate::settings::Settings;
use crate::sys::ProgramCommunicator;

/// A profiler that writes one profile of all ranks: at [`flush`](Self::flush), or when it is
/// dropped.
///
/// It borrows the universe, so that it cannot outlive MPI:
///
/// ```compile_fail,E0505
/// let universe = mpi::initialize().unwrap();
/// let profiler = tinyprof_mpi::Profiler::builder("out").start(&universe)?;
/// drop(universe); // MPI_Finalize
/// profiler.flush()?; // does not compile
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Example
///
/// ```no_run
/// let universe = mpi::initialize().ok_or("MPI is initialised already")?;
/// let profiler = tinyprof_mpi::Profiler::builder("out").start(&universe)?;
/// // ... the program ...
/// let profile = profiler.flush()?; // Some("out.tprof") on every rank
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a profiler writes its profile when it is dropped: hold it until the end of the program"]
pub struct Profiler<'universe> {
    communicator: MpiCommunicator,
    settings: Settings,
    done: bool,
    /// The profiler belongs to the thread that started it, whose flush points are counted.
    _universe: PhantomData<(&'universe Universe, *const ())>,
}

impl fmt::Debug for Profiler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profiler").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Profiler<'_> {
    /// Returns the settings of a profiler whose profile is to be called `name`; `.tprof` is added
    /// if it is missing.
    pub fn builder(name: impl AsRef<Path>) -> Builder {
        Builder { settings: tinyprof_settings::Settings::NONE }.out(name)
    }

    /// Writes the profile and returns its path on every rank, or none if no rank has measured
    /// anything.
    ///
    /// The path differs from the requested one if that was taken: a profile is never overwritten.
    /// Regions that are open are included with their time so far. Collective over the communicator
    /// that the profiler was started on.
    ///
    /// # Errors
    /// When the profile could not be written: on every rank, with the same reason, which rank 0
    /// also prints to standard error. When ranks are missing past the
    /// [deadline](Builder::deadline), or MPI fails: on each rank that is left, with the reason that
    /// it knows. Each such rank has written `NAME-rank-R.tprof`, and one of them reports it.
    pub fn flush(mut self) -> Result<Option<PathBuf>, FlushError> {
        self.flush_once()
    }

    /// Writes a profile of everything so far, `NAME-interim-NNNN.tprof`, and returns its path on
    /// every rank, or none if no rank has measured anything.
    ///
    /// It is marked as an interim profile. Like those at [intervals](Builder::interim_interval), it
    /// is removed when newer ones or the final profile are written. Collective over the
    /// communicator that the profiler was started on.
    ///
    /// # Errors
    /// When it could not be written: on every rank, with the same reason.
    pub fn interim_profile(&self) -> Result<Option<PathBuf>, FlushError> {
        if !collect::ENABLED {
            return Ok(None);
        }
        interim_profile::by_hand(&self.communicator, &self.settings)
    }

    fn flush_once(&mut self) -> Result<Option<PathBuf>, FlushError> {
        self.done = true;
        run::flush(&self.communicator, &self.settings)
    }
}

impl Drop for Profiler<'_> {
    fn drop(&mut self) {
        if !self.done {
            // The failure has been reported on standard error, and a destructor cannot return it.
            drop(self.flush_once());
        }
    }
}

/// Settings of a [`Profiler`]. The environment overrides them, so that a user can change a run
/// without a rebuild.
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `start`"]
pub struct Builder {
    settings: tinyprof_settings::Settings,
}

impl Builder {
    tinyprof_settings::everywhere_methods!();
    tinyprof_settings::mpi_methods!();

    /// Starts a profiler for all ranks of the program. Collective over the world.
    ///
    /// It takes the universe, not a communicator: rsmpi's communicators do not carry the universe's
    /// lifetime, so only this way the compiler can check that MPI is still initialised when the
    /// profile is written.
    ///
    /// # Errors
    /// When a profiler has been started before: there is one profile per run.
    pub fn start<'u>(self, universe: &'u Universe) -> Result<Profiler<'u>, StartError> {
        self.start_on(universe, &universe.world())
    }

    /// Starts a profiler for the ranks of `communicator` alone. Collective over it.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_on<'u>(
        self,
        _universe: &'u Universe,
        communicator: &impl Communicator,
    ) -> Result<Profiler<'u>, StartError> {
        if !run::claim() {
            return Err(StartError);
        }
        interim_profile::retire();
        let program = ProgramCommunicator::of(communicator);
        let communicator = MpiCommunicator::duplicate_of(program);
        run::begin(None);
        let begun = begin_recorder(&self.settings);
        let settings = Settings::of_profiler(self.settings);
        if collect::ENABLED {
            interim_profile::begin_of_profiler(program, &communicator, &settings);
        }
        // Only now: the other ranks wait for this one until here.
        begun?;
        Ok(Profiler { communicator, settings, done: false, _universe: PhantomData })
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
