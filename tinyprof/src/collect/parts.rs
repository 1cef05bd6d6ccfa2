//! Parts of a run, which begin at a command's request.

use crate::record::filter::{self, Filter};
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
/// is none. Filters of regions and metrics that were asked for are those of the new part.
pub fn part_has_begun(flush_point: Option<u64>) {
    let regions = thread::arenas().filter_map(Arena::take_regions).last();
    let metrics = thread::arenas().filter_map(Arena::take_metrics).last();
    let filter = |patterns: Option<String>| {
        patterns.filter(|_| flush_point.is_some()).and_then(|patterns| Filter::parse(&patterns))
    };
    let (regions, metrics) = (filter(regions), filter(metrics));
    let is_new = regions.is_some() || metrics.is_some();
    regions.into_iter().for_each(filter::replace);
    metrics.into_iter().for_each(filter::replace_of_metrics);
    if is_new {
        thread::arenas().for_each(Arena::announce_filter);
    }
    thread::arenas().for_each(|arena| arena.part_has_begun(flush_point));
}

/// Has this thread obey a filter that has just begun: before it enters anything, so that what all
/// ranks do from the flush point on is recorded alike.
pub fn obey_filter() {
    if let Some(arena) = thread::arena() {
        arena.look_at_filter();
    }
}
