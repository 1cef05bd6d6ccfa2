//! The one flush of a run, whoever asks for it: a [`Profiler`](crate::Profiler), or the end of MPI.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use mpi::topology::Communicator as _;
use tinyprof::collect::{self, ENABLED, config, monotonic_ns};

use crate::FlushError;
use crate::checkpoint;
use crate::communicator::{Communicator, Rsmpi, run_to_end};
use crate::phases::{self, Plan};
use crate::settings::Settings;

/// Whether this rank's part in the profile is settled: it took part in a flush, or was left out of it.
static SETTLED: AtomicBool = AtomicBool::new(false);
/// Whether a profiler has been started.
static CLAIMED: AtomicBool = AtomicBool::new(false);
/// The rank in the world, for a program that ends without finalising MPI.
static WORLD_RANK: OnceLock<i32> = OnceLock::new();

/// MPI begins: so does the recording, and the profile will be written when MPI ends.
pub(crate) fn begin() {
    if !ENABLED {
        return;
    }
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
fn at_exit() {
    if !SETTLED.load(Relaxed) {
        let rank = WORLD_RANK.get().copied().unwrap_or_default();
        let mut name = collect::profile_name().with_extension("").into_os_string();
        name.push(format!("-rank-{rank}"));
        collect::warn(
            "the program ended without MPI_Finalize: every rank that could wrote a profile of its own",
        );
        collect::write_alone(name.as_ref());
    }
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
    SETTLED.store(true, Relaxed);
    collect::without_write_signals(|| flush_now(communicator, settings))
}

fn flush_now(communicator: &Rsmpi, settings: &Settings) -> Result<Option<PathBuf>, FlushError> {
    let mut checkpoints = checkpoint::close();
    let begin_ns = monotonic_ns();
    let map = collect::snapshot();
    let plan = Plan { state: checkpoints.state(), ..settings.plan(monotonic_ns() - begin_ns) };
    let flushed = run_to_end(phases::flush(communicator, &map, plan));
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

/// Flushes all ranks of the program with the settings of the environment, unless a rank has been part of a
/// flush already. Collective over the world; MPI must be initialised and not finalised.
pub(crate) fn flush_at_finalize() {
    if !ENABLED {
        return;
    }
    checkpoint::settle_all();
    let world = Rsmpi::duplicate_of(&mpi::topology::SimpleCommunicator::world());
    let somebody_has = run_to_end(world.all_max(&[u64::from(SETTLED.load(Relaxed))]));
    if somebody_has == [0] {
        // The failure has been said; the program goes on to finalise.
        drop(flush(&world, &Settings::default()));
    }
    // A rank that no profiler was started for is not profiled: that was the program's choice.
    SETTLED.store(true, Relaxed);
}
