//! Flush points of the program, for collectors that write interim profiles there.

use super::start::start_recording;
use crate::record::flush_point::{self, Hook};
use crate::record::thread;

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
