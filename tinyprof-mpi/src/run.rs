//! The one flush of a run, whoever asks for it: a [`Profiler`](crate::Profiler), or the end of MPI.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof::collect::{self, monotonic_ns};

use crate::FlushError;
use crate::communicator::{Communicator, Rsmpi, run_to_end};
use crate::phases;
use crate::settings::Settings;

/// Whether this rank has taken part in a flush.
static FLUSHED: AtomicBool = AtomicBool::new(false);
/// Whether a profiler has been started.
static CLAIMED: AtomicBool = AtomicBool::new(false);

/// Says that a profiler is started; false if one has been before.
pub(crate) fn claim() -> bool {
    !CLAIMED.swap(true, Relaxed)
}

/// Writes the profile of all ranks of `communicator` and prints the table. Collective.
pub(crate) fn flush(communicator: &Rsmpi, settings: &Settings) -> Result<Option<PathBuf>, FlushError> {
    FLUSHED.store(true, Relaxed);
    let begin_ns = monotonic_ns();
    let map = collect::snapshot();
    let plan = settings.plan(monotonic_ns() - begin_ns);
    let flushed = run_to_end(phases::flush(communicator, &map, plan));
    let written = flushed.profile.transpose();
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
    let world = Rsmpi::duplicate_of(&mpi::topology::SimpleCommunicator::world());
    let somebody_has = run_to_end(world.all_max(&[u64::from(FLUSHED.load(Relaxed))]));
    if somebody_has == [0] {
        // The failure has been said; the program goes on to finalise.
        drop(flush(&world, &Settings::default()));
    }
}
