//! A profile that the program controls, for programs that need more than `use tinyprof_mpi as _;`.

use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mpi::environment::Universe;
use mpi::topology::Communicator;
use tinyprof::collect;
use tinyprof_format::file::OutputFormat;
use tinyprof_format::model::Precision;

use crate::communicator::MpiCommunicator;
use crate::error::{FlushError, StartError};
use crate::interim_profile;
use crate::phases::Aggregators;
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
        let name = Some(name.as_ref().to_owned());
        Builder { settings: Settings { name, ..Settings::default() } }
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
    settings: Settings,
}

impl Builder {
    /// Sets the number of ranks that write parts of the profile. `TINYPROF_AGGREGATORS` wins.
    pub fn aggregators(mut self, aggregators: Aggregators) -> Self {
        self.settings.aggregators = Some(aggregators);
        self
    }

    /// Sets whether rank 0 prints a table to standard error when the profile is written.
    /// `TINYPROF_REPORT` wins.
    pub fn report(mut self, report: bool) -> Self {
        self.settings.report = Some(report);
        self
    }

    /// Makes all ranks write an interim profile about every `interval`: a profile of everything so
    /// far, `NAME-interim-NNNN.tprof`, which stays if the job dies. `TINYPROF_INTERVAL` wins; zero
    /// means none. The setting of rank 0 applies.
    ///
    /// Interim profiles are written at a flush point: where a root region ends, or between two
    /// iterations of a loop that is marked `flush_point`, on the thread that starts the profiler,
    /// which must be the one that initialised MPI. Flush points on other threads do not count. All
    /// ranks write at the flush point of the same number, on which they agree without waiting for
    /// each other. So a rank must get to its n-th flush point without anything that another rank
    /// does after its own n-th, as with time steps. A root region that ends in a signal handler
    /// counts, and must not.
    ///
    /// With `MPI_THREAD_SERIALIZED` there are no interim profiles at intervals, as it is unknown
    /// when the profiler may call MPI.
    ///
    /// # Cost
    /// A flush point takes up to 50 ns more, measured with MPI (`docs/scaling.md`) and without
    /// (`docs/cost.md`). Between two interim profiles there are two non-blocking reductions of a
    /// number.
    pub fn interim_interval(mut self, interval: Duration) -> Self {
        self.settings.interim_interval = Some(interval);
        self
    }

    /// Sets how many interim profiles stay, the newest, at least one. The default is two;
    /// [`ALL_INTERIM_PROFILES`](tinyprof::collect::ALL_INTERIM_PROFILES) keeps all of them, also
    /// when the final profile is written. `TINYPROF_KEEP` wins.
    pub fn keep_interim_profiles(mut self, newest: u32) -> Self {
        self.settings.interim_profiles_kept = Some(newest);
        self
    }

    /// Makes this rank print the on-demand report to standard error whenever it gets `SIGUSR1`.
    /// `TINYPROF_SIGNAL` wins. See [`report_on_signal`](tinyprof::collect::report_on_signal).
    pub fn report_on_signal(mut self, on: bool) -> Self {
        self.settings.report_on_signal = on;
        self
    }

    /// Caps the share of each thread's time that timing may take, from 0 to 1, for callpaths that
    /// are visited first after the start. `TINYPROF_BUDGET` wins. See
    /// [`set_budget`](tinyprof::collect::set_budget).
    pub fn budget(mut self, share: f64) -> Self {
        self.settings.budget = Some(share);
        self
    }

    /// Leaves regions out of the recording, for callpaths that are visited first after the start:
    /// `-*fields_at*,+main`. The filter should be equal on all ranks. `TINYPROF_FILTER` wins. See
    /// [`set_filter`](tinyprof::collect::set_filter).
    pub fn filter(mut self, patterns: impl Into<String>) -> Self {
        self.settings.filter = Some(patterns.into());
        self
    }

    /// Sets the precision of the times in the profile. `TINYPROF_PRECISION` wins. It should be
    /// equal on all ranks: if one is to keep its times exact, all do, and rank 0 warns. See
    /// [`Precision`].
    pub fn precision(mut self, precision: Precision) -> Self {
        self.settings.precision = Some(precision);
        self
    }

    /// Sets the longest time that a rank waits for the others in each step of a flush, before it
    /// gives up and writes its own data as a separate profile. `TINYPROF_DEADLINE` wins; the
    /// default is 30 seconds. A rank that comes later than this is not in the profile of the
    /// others, so the deadline should be longer than the ranks are apart at the flush.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.settings.deadline = Some(deadline);
        self
    }

    /// Sets the format that the aggregators write: our own format, or the paper's text, one
    /// `NAME.csv/part-NNNNN.csv` for each of them. `TINYPROF_FORMAT` wins; the setting of rank 0
    /// applies. Interim profiles are always in our own format, and so is the profile that a rank
    /// writes alone when others are missing.
    pub fn format(mut self, format: OutputFormat) -> Self {
        self.settings.format = Some(format);
        self
    }

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
        if let Some(share) = self.settings.budget {
            collect::set_budget(share);
        }
        if let Some(patterns) = &self.settings.filter
            && !collect::set_filter(patterns)
        {
            collect::warn(format_args!(
                "the filter {patterns:?} is ignored: expected patterns with a comma between them, as in -*fields_at*,+main"
            ));
        }
        if self.settings.report_on_signal {
            collect::report_on_signal();
        }
        if let Some(precision) = self.settings.precision {
            collect::set_precision(precision);
        }
        if collect::ENABLED {
            interim_profile::begin(program, &communicator, &self.settings);
        }
        Ok(Profiler { communicator, settings: self.settings, done: false, _universe: PhantomData })
    }
}
