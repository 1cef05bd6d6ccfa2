//! Boundaries of the program, for who writes checkpoints at them.

use std::time::Duration;

use super::checkpoints;
use super::session::session;
use super::start::{start, start_recording};
use crate::record::boundary::{self, Hook};
use crate::record::thread;

/// Has a program without MPI write a checkpoint at the first boundary after each `interval`.
/// `TINYPROF_INTERVAL` wins.
///
/// Boundaries are those of every thread: the end of a root region, and the moment between two
/// iterations of a loop that is marked `checkpoint`. A checkpoint is a complete profile of
/// everything so far, `NAME-checkpoint-NNNN.tprof`; `TINYPROF_CHECKPOINTS` says how many stay, two
/// where it says nothing. They go when the run's profile is written. A program under `mpiexec` that
/// does not link `tinyprof_mpi` writes none.
pub fn set_checkpoint_interval(interval: Duration) {
    start();
    if session().config.recording && session().config.checkpoint_interval.is_none() {
        checkpoints::install(interval);
    }
}

/// Has `hook` called at each boundary of this thread, and at no boundary of another; false if
/// nothing is recorded. For a collector that writes checkpoints itself.
///
/// The hook is called between two records' changes, not inside of one, and may take a snapshot; it
/// must not unwind. A region that a signal handler enters while none is open is a root region, too.
/// The first hook counts.
#[must_use]
pub fn watch_boundaries(hook: fn()) -> bool {
    let hook: Hook = hook;
    boundary::install(hook);
    thread::watch_this_alone(start_recording)
}

/// Does `work` of a collector on a thread whose regions shall not be recorded meanwhile: those that
/// are entered, for example in a global allocator, are counted as lost.
pub fn unrecorded<T>(work: impl FnOnce() -> T) -> T {
    thread::while_away(work)
}
