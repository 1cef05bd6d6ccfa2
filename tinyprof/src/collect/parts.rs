//! Parts of a run, which begin at a command's request.

use crate::record::{Arena, flush_point, thread};

/// Has `ask` called when a command asks for another part of the run, on the thread whose flush
/// points are watched. It returns false if there can be none. Only the first call counts.
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
