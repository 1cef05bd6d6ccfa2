//! The shortest path. It is for visits of a known callpath that is not a root, which are timed,
//! belong to the thread's execution, last less than 2^32 ticks, and are measured with the
//! processor's counter.
//!
//! It is written for few instructions: not every processor hides them behind the reads of its
//! counter.

use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use tinyprof_segment::words::{high, low, pack};

use super::super::clock::{Clock, counter_ticks};
use super::super::log::{append_past, append_visit};
use super::super::node::{EXECUTION, MAX, MIN, Node, SAMPLES, SQUARES, START, SUM, VISITS, kind};
use super::Arena;
use super::live::add_without_square;

/// The kind of a loop in mode `each`, in the word of a record's execution.
pub(super) const ONE_OF_SERIES: u64 = (kind::SERIES as u64) << 32;
/// The word is then also the first of an element that holds one visit in that execution.
const _: () = assert!(kind::SERIES == 1);

/// The units of the cost of a usual visit.
pub const VISIT_UNITS: u64 = 256;
/// Those of a visit of a root region, which is an execution of its own.
static ROOT_UNITS: AtomicU64 = AtomicU64::new(VISIT_UNITS);

/// Those of a visit that is only counted, under a budget.
static COUNTED_UNITS: AtomicU64 = AtomicU64::new(0);

/// Sets the cost of a visit that is only counted, as a part of that of a timed one.
pub(in crate::record) fn weigh_counted(ratio: f64) {
    COUNTED_UNITS.store(units(ratio.clamp(0.0, 1.0)), Relaxed);
}

/// Returns the units of the cost of this many visits that are only counted.
pub(super) fn counted_units(visits: u64) -> u64 {
    visits.saturating_mul(COUNTED_UNITS.load(Relaxed))
}

/// Sets by how much a visit of a root region costs more than a usual one.
pub(in crate::record) fn weigh_roots(ratio: f64) {
    ROOT_UNITS.store(units(ratio.clamp(1.0, 16.0)), Relaxed);
}

/// Returns the units of a cost that is this many times that of a usual visit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a few thousand at most"
)]
fn units(ratio: f64) -> u64 {
    (ratio * VISIT_UNITS as f64) as u64
}

/// Returns whether visits measured with this clock may take the shortest path. In tests all may, so
/// that it is tested.
pub(super) fn has_usual_visits(clock: Clock) -> bool {
    cfg!(test) || clock == Clock::Counter
}

impl Arena {
    /// Returns the ticks of a clock [whose visits](has_usual_visits) take the shortest path; never
    /// 0.
    #[inline(always)]
    pub(super) fn usual_ticks(&self) -> u64 {
        if cfg!(test) { self.clock.ticks() } else { counter_ticks() }
    }

    /// Adds the visit of `node` that ends now, in its thread's execution. Returns false, with
    /// nothing done, in unusual cases: the clock went back, the visit is long, or a signal handler
    /// interrupted.
    #[inline(always)]
    pub(super) fn add_usual_visit(&self, node: Node<'_>, now: impl FnOnce() -> u64) -> bool {
        let ticks = now().wrapping_sub(node.get(START));
        let is_usual = is_short(ticks) && node.begin_update();
        if is_usual {
            self.count_cost(VISIT_UNITS);
            add(node, ticks);
            end(node, 0);
        }
        is_usual
    }

    /// Adds the iteration of the loop `node` that ends now, and begins the next. Returns false,
    /// with nothing done, in unusual cases.
    #[inline(always)]
    pub(super) fn add_usual_iteration(&self, node: Node<'_>) -> bool {
        let now = self.usual_ticks();
        let ticks = now.wrapping_sub(node.get(START));
        let is_usual = is_short(ticks) && node.begin_update();
        if is_usual {
            self.count_cost(VISIT_UNITS);
            add(node, ticks);
            end(node, now);
        }
        is_usual
    }

    /// Adds an iteration of a loop in mode `each`, and begins the next. Returns false, with nothing
    /// done, in unusual cases, or if there is no room for another iteration.
    #[inline(always)]
    pub(super) fn add_usual_iteration_of_series(&self, node: Node<'_>) -> bool {
        let now = self.usual_ticks();
        let ticks = now.wrapping_sub(node.get(START));
        if !is_short(ticks) || !node.begin_update() {
            return false;
        }
        let has_room = append_visit(node, node.get(EXECUTION), ticks);
        if has_room {
            self.count_cost(VISIT_UNITS);
            add(node, ticks);
            end(node, now);
        } else {
            end(node, node.get(START));
        }
        has_room
    }
}

impl Arena {
    /// Adds the visit of the root region `node` that ends now, as an execution; the previous one
    /// goes to the log. Returns false, with nothing done, if `node` is not a root, or in unusual
    /// cases.
    #[inline(always)]
    pub(super) fn add_usual_root(&self, node: Node<'_>, now: impl FnOnce() -> u64) -> bool {
        let before = node.get(EXECUTION);
        let execution = self.regular_execution();
        // Excludes irregular threads, whose word has a bit that no record has.
        if high(before ^ execution) != kind::ROOT || low(before) == low(execution) {
            return false;
        }
        let ticks = now().wrapping_sub(node.get(START));
        if !is_short(ticks) || !node.begin_update() {
            return false;
        }
        let kept = append_past(node, before);
        if kept {
            self.count_cost(ROOT_UNITS.load(Relaxed));
            // Ordered as in `restart_live`, for the same reasons.
            fence(Release);
            for (word, value) in
                [(VISITS, 1), (SUM, ticks), (MIN, ticks), (MAX, ticks), (SQUARES, ticks * ticks)]
            {
                node.set(word, value);
            }
            node.set(SQUARES + 1, 0);
            fence(Release);
            node.set(EXECUTION, pack(low(execution), kind::ROOT));
            node.set(SAMPLES, node.get(SAMPLES).wrapping_add(1 << 32));
        }
        end(node, if kept { 0 } else { node.get(START) });
        kept
    }
}

impl Arena {
    /// Adds the cost of a visit that was timed.
    #[inline(always)]
    pub(super) fn count_cost(&self, units: u64) {
        let cost = self.hot.cost();
        cost.store(cost.load(Relaxed).wrapping_add(units), Relaxed);
    }
}

/// Returns whether the square of `ticks` fits in one word; false if the clock went back.
#[inline(always)]
fn is_short(ticks: u64) -> bool {
    ticks >> 32 == 0
}

/// Ends an update, with the start of the next visit.
#[inline(always)]
fn end(node: Node<'_>, start: u64) {
    node.set(START, start);
    node.end_update();
}

/// Adds a visit of less than 2^32 ticks to the live numbers, inside of an update.
#[inline(always)]
fn add(node: Node<'_>, ticks: u64) {
    add_without_square(node, ticks);
    let (squares, has_overflowed) = node.get(SQUARES).overflowing_add(ticks * ticks);
    node.set(SQUARES, squares);
    if has_overflowed {
        node.set(SQUARES + 1, node.get(SQUARES + 1).wrapping_add(1));
    }
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{Mode, RegionKind};

    use super::super::super::site::Site;
    use super::*;

    static ROOT: Site = Site::new("root", "t", "t.rs", 1, 1, RegionKind::Scope, Mode::Total);
    static INNER: Site = Site::new("inner", "t", "t.rs", 2, 1, RegionKind::Scope, Mode::Total);

    #[test]
    fn every_timed_visit_has_a_cost() {
        let arena = Arena::new(Clock::Monotonic).unwrap();
        let visit = |site, inside: &dyn Fn()| {
            let line = arena.enter(site).to_leave().unwrap();
            inside();
            arena.exit(line);
        };
        // The first visit of a callpath takes another path, and so does every one of a root that
        // the thread does not visit again and again.
        (0..10).for_each(|_| visit(&ROOT, &|| (0..10).for_each(|_| visit(&INNER, &|| {}))));
        let least = (10 + 100) * VISIT_UNITS;
        assert!((least..least + 10 * 15 * VISIT_UNITS).contains(&arena.visit_units()));
    }
}
