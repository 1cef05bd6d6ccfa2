//! The shortest path: a visit of a callpath that is known, no root, timed, of the thread's
//! execution, shorter than 2^32 ticks, and measured with the processor's counter.
//!
//! It is written for few instructions: not every processor hides them behind the reads of its
//! counter.

use std::sync::atomic::Ordering::Release;
use std::sync::atomic::fence;

use super::super::clock::{Clock, counter_ticks};
use super::super::log::{append_past, append_visit};
use super::super::node::{
    EXECUTION, MAX, MIN, Node, SAMPLES, SEQUENCE, SQUARES, START, SUM, VISITS, high, kind, low,
    pack,
};
use super::Arena;

/// The kind of a loop each of whose iterations is kept, in the word of a record's execution.
pub(super) const ONE_OF_SERIES: u64 = (kind::SERIES as u64) << 32;
/// Such a word is the first of an element that stands for one visit in that execution.
const _: () = assert!(kind::SERIES == 1);

/// Whether visits that are measured with this clock may take the shortest path. In tests all may,
/// so that it is tested.
pub(super) fn has_usual_visits(clock: Clock) -> bool {
    cfg!(test) || clock == Clock::Counter
}

impl Arena {
    /// The ticks of a clock [whose visits](has_usual_visits) take the shortest path; never 0.
    #[inline(always)]
    pub(super) fn usual_ticks(&self) -> u64 {
        if cfg!(test) { self.clock.ticks() } else { counter_ticks() }
    }

    /// Adds the visit of `node` that ends now, which is one of its thread's execution. False, and
    /// nothing is done, if that is not so simple: the clock went back, the visit is long, or a
    /// signal handler came between.
    #[inline(always)]
    pub(super) fn add_usual_visit(&self, node: Node<'_>) -> bool {
        let ticks = self.usual_ticks().wrapping_sub(node.get(START));
        let is_usual = is_short(ticks) && begin(node);
        if is_usual {
            add(node, ticks);
            end(node, 0);
        }
        is_usual
    }

    /// Adds the iteration of the loop `node` that ends now, and begins the next. False, and nothing
    /// is done, if that is not so simple.
    #[inline(always)]
    pub(super) fn add_usual_iteration(&self, node: Node<'_>) -> bool {
        let now = self.usual_ticks();
        let ticks = now.wrapping_sub(node.get(START));
        let is_usual = is_short(ticks) && begin(node);
        if is_usual {
            add(node, ticks);
            end(node, now);
        }
        is_usual
    }

    /// Does the same for a loop whose iterations are kept apart. False also if there is no room for
    /// another iteration.
    #[inline(always)]
    pub(super) fn add_usual_iteration_of_series(&self, node: Node<'_>) -> bool {
        let now = self.usual_ticks();
        let ticks = now.wrapping_sub(node.get(START));
        if !is_short(ticks) || !begin(node) {
            return false;
        }
        let has_room = append_visit(node, node.get(EXECUTION), ticks);
        if has_room {
            add(node, ticks);
            end(node, now);
        } else {
            end(node, node.get(START));
        }
        has_room
    }
}

impl Arena {
    /// Adds the visit of the root region `node` that ends now, which is an execution: the one
    /// before goes to the log. False, and nothing is done, if `node` is no root or that is not so
    /// simple.
    #[inline(always)]
    pub(super) fn add_usual_root(&self, node: Node<'_>) -> bool {
        let before = node.get(EXECUTION);
        let execution = self.hot.regular_execution();
        // Not of an irregular thread, whose word has a bit that no record has.
        if high(before ^ execution) != kind::ROOT || low(before) == low(execution) {
            return false;
        }
        let ticks = self.usual_ticks().wrapping_sub(node.get(START));
        if !is_short(ticks) || !begin(node) {
            return false;
        }
        let kept = append_past(node, before);
        if kept {
            // As `restart_live` does, for the same reasons in this order.
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

/// Whether the square of so many ticks is one word; not that of a clock that went back.
#[inline(always)]
fn is_short(ticks: u64) -> bool {
    ticks >> 32 == 0
}

/// The first half of [`Node::update`]; false where a signal handler has come between another's
/// halves.
#[inline(always)]
fn begin(node: Node<'_>) -> bool {
    let sequence = node.get(SEQUENCE);
    if !sequence.is_multiple_of(2) {
        return false;
    }
    node.set(SEQUENCE, sequence.wrapping_add(1));
    fence(Release);
    true
}

/// The second half, with the start of the next visit. It loads the sequence again, which saves a
/// register.
#[inline(always)]
fn end(node: Node<'_>, start: u64) {
    node.set(START, start);
    node.word(SEQUENCE).store(node.get(SEQUENCE).wrapping_add(1), Release);
}

/// Adds a visit of less than 2^32 ticks to the live numbers, inside of an update.
#[inline(always)]
fn add(node: Node<'_>, ticks: u64) {
    node.set(VISITS, node.get(VISITS).wrapping_add(1));
    node.set(SUM, node.get(SUM).wrapping_add(ticks));
    // Comparisons that nearly always go the same way, and cost less than a store.
    if ticks < node.get(MIN) {
        node.set(MIN, ticks);
    }
    if ticks > node.get(MAX) {
        node.set(MAX, ticks);
    }
    let (squares, has_overflowed) = node.get(SQUARES).overflowing_add(ticks * ticks);
    node.set(SQUARES, squares);
    if has_overflowed {
        node.set(SQUARES + 1, node.get(SQUARES + 1).wrapping_add(1));
    }
}
