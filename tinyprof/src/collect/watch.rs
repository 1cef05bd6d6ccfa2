//! Flush points of the program, for collectors that write interim profiles there.

use super::start::start_recording;
use crate::record::flush_point::{self, Hook};
use crate::record::{Arena, thread};

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

/// Has `ask` called when a command asks for another part of the run, on the thread whose flush points
/// are watched. It returns false if there can be none. Only the first call counts.
pub fn begin_parts_by(ask: fn() -> bool) {
    flush_point::install_parts(ask);
}

/// Returns whether a command asks for another part of the run.
#[must_use]
pub fn is_part_asked_for() -> bool {
    // Whoever is at a flush point records nothing, so it has no arena.
    thread::arenas().any(Arena::is_part_asked_for)
}

/// Says that another part of the run has begun, at this flush point; or that it could not, if there
/// is none.
pub fn part_has_begun(flush_point: Option<u64>) {
    thread::arenas().for_each(|arena| arena.part_has_begun(flush_point));
}

/// Runs `work` of a collector on this thread without recording its regions. Regions that are
/// entered meanwhile, for example in a global allocator, are counted as lost.
pub fn unrecorded<T>(work: impl FnOnce() -> T) -> T {
    thread::while_away(work)
}
