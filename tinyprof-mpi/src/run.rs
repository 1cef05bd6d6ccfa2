//! The one flush of a run, whoever asks for it: a [`Profiler`](crate::Profiler), or the end of MPI.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use mpi::topology::Communicator as _;
use tinyprof::collect::{self, ENABLED, Ending, config, monotonic_ns};
use tinyprof_format::file::{OutputFormat, profile_path, write_profile_in_state};
use tinyprof_format::model::{EventMap, PhaseTimes, RunState};

use crate::FlushError;
use crate::checkpoint;
use crate::communicator::{Communicator, Interrupted, Rsmpi, run_to_end};
use crate::phases::{self, Plan};
use crate::settings::Settings;
use crate::sys::{self, Link};

/// Whether this rank's part in the profile is settled: it took part in a flush, or was left out of it.
static SETTLED: AtomicBool = AtomicBool::new(false);
/// Whether a profiler has been started.
static CLAIMED: AtomicBool = AtomicBool::new(false);
/// Whether a flush of this rank was interrupted, which is said at most once.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The world, as our own communicator. It is made when MPI begins and all ranks are there: at the end, a rank that
/// never comes would hold up `MPI_Comm_dup` for ever.
static WORLD: OnceLock<Result<Link, String>> = OnceLock::new();
/// The rank in the world, for a program that ends without finalising MPI.
static WORLD_RANK: OnceLock<i32> = OnceLock::new();

/// MPI begins: so does the recording, and the profile will be written when MPI ends.
pub(crate) fn begin() {
    if !ENABLED || !sys::is_usable() {
        return;
    }
    WORLD.get_or_init(Link::of_world);
    let world = mpi::topology::SimpleCommunicator::world();
    WORLD_RANK.get_or_init(|| world.rank());
    // For `tinyprof recover`, if the job is killed before it can write its profile.
    collect::set_rank(world.rank().unsigned_abs(), world.size().unsigned_abs());
    collect::take_over(at_exit);
    // All ranks must have the variable: without it there is nothing to be agreed on, and `MPI_Init` is left alone.
    if config().checkpoint_interval.is_some_and(|interval| !interval.is_zero()) && !CLAIMED.load(Relaxed) {
        checkpoint::begin(&world, &Rsmpi::duplicate_of(&world), &Settings::default());
    }
}

/// The process ends. If it has not finalised MPI there is nobody to talk to any more, so each rank that comes
/// here saves what it has under a name of its own.
fn at_exit() -> Ending {
    if SETTLED.load(Relaxed) {
        return Ending { keep_segments: true, ..Ending::default() };
    }
    let rank = WORLD_RANK.get().copied().unwrap_or_default();
    collect::warn("the program ended without MPI_Finalize: every rank that could wrote a profile of its own");
    collect::write_alone(&name_of_rank(&collect::profile_name(), rank.unsigned_abs()))
}

/// `NAME-rank-R`, for what a rank writes alone.
fn name_of_rank(profile: &Path, rank: u32) -> PathBuf {
    let is_ending = profile.extension().is_some_and(|extension| extension == "tprof");
    let mut name = if is_ending { profile.with_extension("") } else { profile.to_owned() }.into_os_string();
    name.push(format!("-rank-{rank}"));
    name.into()
}

/// Says that a profiler is started; false if one has been before.
pub(crate) fn claim() -> bool {
    !CLAIMED.swap(true, Relaxed)
}

/// Writes the profile of all ranks of `communicator` and prints the table. Collective.
pub(crate) fn flush(communicator: &Rsmpi, settings: &Settings) -> Result<Option<PathBuf>, FlushError> {
    if !ENABLED {
        return Ok(None);
    }
    communicator.begin_flush(settings.deadline());
    flush_begun(communicator, settings)
}

fn flush_begun(communicator: &Rsmpi, settings: &Settings) -> Result<Option<PathBuf>, FlushError> {
    SETTLED.store(true, Relaxed);
    collect::without_write_signals(|| flush_now(communicator, settings))
}

fn flush_now(communicator: &Rsmpi, settings: &Settings) -> Result<Option<PathBuf>, FlushError> {
    let mut checkpoints = checkpoint::close();
    let begin_ns = monotonic_ns();
    let map = collect::snapshot();
    // Ranks take the number that rank 0 tells them.
    let state = RunState { profile_id: Some(collect::fresh_profile_id()), ..checkpoints.state() };
    let plan = Plan { state, ..settings.plan(monotonic_ns() - begin_ns) };
    let flushed = run_to_end(phases::flush(communicator, &map, &plan));
    communicator.end_flush();
    let flushed = match flushed {
        Ok(flushed) => flushed,
        Err(interrupted) => return Err(write_apart(communicator, &map, plan, &interrupted)),
    };
    if flushed.overruled > 0 && communicator.rank() == 0 {
        collect::warn(&format!(
            "{} of {} ranks were told to round their times (TINYPROF_PRECISION=8bit), the others to keep them: all \
             were kept exact; set it alike on all ranks",
            flushed.overruled,
            communicator.size()
        ));
    }
    let written = flushed.profile.transpose();
    if written.is_ok() {
        collect::discard_segments();
        checkpoints.remove_all();
    }
    if let Some(report) = flushed.report.filter(|_| settings.report()) {
        collect::print_report(&report, written.as_ref().ok().and_then(|path| path.as_deref()));
    }
    written.map_err(|reason| {
        let error = FlushError { reason };
        // Said once for the whole run, whether or not the program looks at the result.
        if communicator.rank() == 0 {
            collect::warn(&error.to_string());
        }
        error
    })
}

/// The ranks did not come together: this one writes what it holds, under a name of its own.
fn write_apart(communicator: &Rsmpi, map: &EventMap, plan: Plan, interrupted: &Interrupted) -> FlushError {
    let (rank, ranks) = (communicator.rank(), communicator.size());
    let name = name_of_rank(&plan.target, rank);
    let shown = plan.format.path(&plan.target);
    let mut reason = format!(
        "the profile {} was not written: {interrupted}; every rank that is left writes its own, as {}",
        shown.display(),
        profile_path(&name_of_rank(&plan.target, rank)).display(),
    );
    if !map.callpaths.is_empty() {
        let because = format!("it holds rank {rank} of {ranks} alone: {interrupted}");
        // A number of its own: the profile of another rank alone does not hold what this one has measured.
        let profile_id = Some(collect::new_profile_id(&name));
        let state = RunState { incomplete_because: Some(because), profile_id, ..plan.state };
        match write_profile_in_state(
            config().files(OutputFormat::Tprof),
            &name,
            map,
            plan.metadata,
            PhaseTimes::default(),
            state,
        ) {
            Ok(_) => collect::discard_segments(),
            Err(error) => reason = format!("{reason}; {error}"),
        }
    }
    if !INTERRUPTED.swap(true, Relaxed) && interrupted.speaks {
        collect::warn(&reason);
    }
    FlushError { reason }
}

/// Flushes all ranks of the program with the settings of the environment, unless a rank has been part of a
/// flush already. Collective over the world; MPI must be initialised and not finalised.
pub(crate) fn flush_at_finalize() {
    // Ranks that a profiler has waited for in vain need not be waited for again.
    if !ENABLED || !sys::is_usable() || INTERRUPTED.load(Relaxed) {
        return;
    }
    checkpoint::settle_all();
    let settings = Settings::default();
    let world = Rsmpi::on(WORLD.get_or_init(Link::of_world).clone());
    world.begin_flush(settings.deadline());
    let settled = SETTLED.load(Relaxed);
    let somebody_has = run_to_end(world.all_max(&[u64::from(settled)]));
    // Where ranks are missing the flush finds it out again, without waiting, and writes what there is.
    let nobody_has = somebody_has.map_or(!settled, |maximum| maximum == [0]);
    if nobody_has {
        // The failure has been said; the program goes on to finalise.
        drop(flush_begun(&world, &settings));
    }
    // A rank that no profiler was started for is not profiled: that was the program's choice.
    SETTLED.store(true, Relaxed);
}
