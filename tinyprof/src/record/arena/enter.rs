//! Opening a visit: the shortest path for the usual one, and those that it hands on to.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::layout::skipped;
use tinyprof_segment::words::{Line, high, low};

use super::hot::FILTERED;
use super::{Arena, Entered, NOT_USUAL, Visit};
use crate::record::node::{EXECUTION, START, kind};
use crate::record::site::Site;

impl Arena {
    /// Opens a visit of `site` under the innermost open region. A visit of the region inside of
    /// itself is counted at once. Owner only.
    ///
    /// It handles only the usual visit and one that is not timed: saving registers would be
    /// measurable.
    #[inline]
    pub(crate) fn enter(&self, site: &'static Site) -> Visit {
        let parent = self.current();
        let cached = self.hot.cached(site.dense_index());
        let line = Line::from_number(high(cached));
        let key = low(cached) ^ parent.number();
        if !parent.is_none() {
            if key == 0 {
                // Stored first: a region in a signal handler that arrives now is inside of this
                // one.
                self.hot.current().store(line.number(), Relaxed);
                self.node(line).set(START, self.usual_ticks());
                return Visit::of_node(line);
            }
            if key == NOT_USUAL {
                let start = self.node(line).word(START);
                if let Some(left) = skipped::one_less(start.load(Relaxed)) {
                    self.hot.current().store(line.number(), Relaxed);
                    start.store(left, Relaxed);
                    return Visit::of_node(line);
                }
            }
        }
        enter_unusual(site, self)
    }
}

/// Opens a visit that is not usual: of a root region, a series, a callpath under a budget, the
/// first visit of a callpath, or one from another place than the last.
///
/// `site` is the first argument because the caller has it in the right register.
#[inline(never)]
fn enter_unusual(site: &'static Site, arena: &Arena) -> Visit {
    let parent = arena.current();
    let cached = arena.hot.cached(site.dense_index());
    if low(cached) == parent.number() | NOT_USUAL {
        return open_known(arena, parent, Line::from_number(high(cached)));
    }
    if cached == FILTERED {
        return Visit::LOST;
    }
    enter_unknown(site, arena)
}

/// Opens a visit of a callpath that is not in the cache.
#[inline(never)]
fn enter_unknown(site: &'static Site, arena: &Arena) -> Visit {
    let parent = arena.current();
    let cached = arena.cached_of_run_time(site);
    if cached == FILTERED {
        return Visit::LOST;
    }
    if low(cached) & !NOT_USUAL == parent.number() && cached != 0 {
        return open_known(arena, parent, Line::from_number(high(cached)));
    }
    enter_uncached(site, arena)
}

/// Opens a visit of a callpath that no cache knows. While measuring is off, all are such.
#[cold]
#[inline(never)]
fn enter_uncached(site: &'static Site, arena: &Arena) -> Visit {
    if let Some(visit) = arena.enter_off() {
        return visit;
    }
    let parent = arena.current();
    match arena.find_or_insert(parent, site) {
        Entered::Node(line) => open_known(arena, parent, line),
        Entered::Recursion(line) => {
            arena.count_recursion(line);
            Entered::Recursion(line).into()
        }
        Entered::Lost => Visit::LOST,
    }
}

/// Opens a visit of the record at `line` under `parent`.
#[inline(always)]
fn open_known(arena: &Arena, parent: Line, line: Line) -> Visit {
    let node = arena.node(line);
    // Stored first: a region in a signal handler that arrives now is inside of this one.
    arena.hot.current().store(line.number(), Relaxed);
    if parent.is_none() {
        arena.set_execution(node.completed_or_depth());
    }
    if high(node.get(EXECUTION)) & kind::SAMPLED == 0 || !arena.skips(node) {
        node.set(START, arena.clock.ticks());
    }
    Visit::of_node(line)
}
