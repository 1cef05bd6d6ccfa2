//! Flush points of the program, for collectors that write interim profiles there.

use std::time::Duration;

use super::interim_profiles;
use super::session::session;
use super::start::{start, start_recording};
use crate::record::flush_point::{self, Hook};
use crate::record::thread;

/// Makes a program without MPI write an interim profile at the first flush point after each
/// `interval`. `TINYPROF_INTERVAL` wins.
///
/// Flush points occur on every thread: at the end of a root region, and between two iterations of a
/// loop marked `flush_point`. An interim profile is a complete profile of everything so far,
/// `NAME-interim-NNNN.tprof`. `TINYPROF_KEEP` sets the number that is kept, by default
/// two. They are removed when the run's profile is written. A program under `mpiexec` that does not
/// link `tinyprof_mpi` writes none.
pub fn set_interim_interval(interval: Duration) {
    start();
    if session().config.is_recording() && session().config.interim_interval.is_none() {
        interim_profiles::install(interval);
    }
}

/// Calls `hook` at each flush point of this thread, but not of other threads. Returns false if
/// nothing is recorded. For a collector that writes interim profiles itself.
///
/// The hook is called between changes of records, never during one, and may take a snapshot; it
/// must not unwind. A region that a signal handler enters while none is open is also a root region.
/// Only the first hook counts.
#[must_use]
pub fn watch_flush_points(hook: fn()) -> bool {
    let hook: Hook = hook;
    flush_point::install(hook);
    thread::watch_this_alone(start_recording)
}

/// Runs `work` of a collector on this thread without recording its regions. Regions that are
/// entered meanwhile, for example in a global allocator, are counted as lost.
pub fn unrecorded<T>(work: impl FnOnce() -> T) -> T {
    thread::while_away(work)
}
