//! The live numbers of a record: those of the execution of its last visit.

use std::sync::atomic::Ordering::Release;
use std::sync::atomic::fence;

use tinyprof_segment::words::{high, low, pack};

use super::super::element::PastExecution;
use super::super::node::{EXECUTION, MAX, MIN, Node, PARENT, SQUARES, SUM, VISITS};

/// Starts the live numbers of `execution`, at zero. Inside of [`Node::update`].
#[inline]
pub(super) fn clear_live(node: Node<'_>, execution: u32) {
    // The order matters: while the live numbers belong to an execution that the log covers, a
    // reader after the thread's death counts them only once.
    fence(Release);
    for (word, value) in
        [(VISITS, 0), (SUM, 0), (MIN, u64::MAX), (MAX, 0), (SQUARES, 0), (SQUARES + 1, 0)]
    {
        node.set(word, value);
    }
    fence(Release);
    node.set(EXECUTION, pack(execution, high(node.get(EXECUTION))));
}

/// Adds a visit to the live numbers. Inside of [`Node::update`].
#[inline(always)]
pub(super) fn add_to_live(node: Node<'_>, ticks: u64) {
    add_without_square(node, ticks);
    add_square(node, u128::from(ticks) * u128::from(ticks));
}

/// Adds a visit to the live numbers but the sum of squares. Inside of [`Node::update`].
#[inline(always)]
pub(super) fn add_without_square(node: Node<'_>, ticks: u64) {
    node.set(VISITS, node.get(VISITS).wrapping_add(1));
    node.set(SUM, node.get(SUM).wrapping_add(ticks));
    // These comparisons nearly always have the same result, and cost less than a store.
    if ticks < node.get(MIN) {
        node.set(MIN, ticks);
    }
    if ticks > node.get(MAX) {
        node.set(MAX, ticks);
    }
}

/// Sets the live numbers to those of one visit, the first in `execution`; the former ones are in
/// the log. Inside of [`Node::update`].
#[inline(always)]
pub(super) fn restart_live(node: Node<'_>, execution: u32, ticks: u64) {
    // The order matters, as in `clear_live`.
    fence(Release);
    let square = u128::from(ticks) * u128::from(ticks);
    for (word, value) in [
        (VISITS, 1),
        (SUM, ticks),
        (MIN, ticks),
        (MAX, ticks),
        (SQUARES, low_half(square)),
        (SQUARES + 1, low_half(square >> 64)),
    ] {
        node.set(word, value);
    }
    fence(Release);
    node.set(EXECUTION, pack(execution, high(node.get(EXECUTION))));
}

/// Adds to the sum of squares, inside of [`Node::update`].
#[inline]
pub(super) fn add_square(node: Node<'_>, square: u128) {
    let (squares, carry) = node.get(SQUARES).overflowing_add(low_half(square));
    node.set(SQUARES, squares);
    node.set(SQUARES + 1, node.get(SQUARES + 1) + low_half(square >> 64) + u64::from(carry));
}

/// Counts the visit of a root region as an execution. Inside of [`Node::update`].
#[inline]
pub(super) fn complete_execution(node: Node<'_>) {
    if low(node.get(PARENT)) == 0 {
        node.set_completed_or_depth(node.completed_or_depth().saturating_add(1));
    }
}

#[inline]
pub(super) fn live_execution(node: Node<'_>) -> PastExecution {
    PastExecution {
        execution: low(node.get(EXECUTION)),
        executions: 1,
        visits: node.get(VISITS),
        sum: node.get(SUM),
        min: node.get(MIN),
        max: node.get(MAX),
        squares: u128::from(node.get(SQUARES + 1)) << 64 | u128::from(node.get(SQUARES)),
        variance: 0.0,
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
const fn low_half(wide: u128) -> u64 {
    wide as u64
}
