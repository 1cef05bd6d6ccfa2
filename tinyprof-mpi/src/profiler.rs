//! A profile that the program controls, for programs that need more than `use tinyprof_mpi as _;`.

use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use mpi::environment::Universe;
use mpi::topology::Communicator;
use tinyprof_job::{FlushError, JobProfiler, StartError};

use crate::sys::program_communicator;
#[cfg(without_mpi)]
use crate::without_mpi as mpi;

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
    inner: JobProfiler,
    done: bool,
    /// The profiler belongs to the thread that started it, whose flush points are counted.
    _universe: PhantomData<(&'universe Universe, *const ())>,
}

impl fmt::Debug for Profiler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profiler").field("inner", &self.inner).finish_non_exhaustive()
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
        self.inner.interim_profile()
    }

    fn flush_once(&mut self) -> Result<Option<PathBuf>, FlushError> {
        self.done = true;
        self.inner.flush()
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
        let inner = JobProfiler::start(program_communicator(communicator), self.settings)?;
        Ok(Profiler { inner, done: false, _universe: PhantomData })
    }
}
