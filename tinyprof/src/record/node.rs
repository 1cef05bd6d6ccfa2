//! The record of one callpath on one thread: sixteen words, two cache lines.
//!
//! [`tinyprof_format::segment::layout::node`] draws it: readers of a dead program's file use the
//! same layout. Halves are named low (bits 0 to 31) and high.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use super::segment::{LINE_WORDS, Line, Segment};

pub(super) use tinyprof_format::segment::layout::kind;
pub(super) use tinyprof_format::segment::layout::node::{
    EXECUTION, MAX, MIN, PARENT, PAST, SAMPLES, SEQUENCE, SERIES, SITE, SQUARES, START, SUM,
    VISITS, WORDS as NODE_WORDS,
};

pub(super) const NODE_CLASS: u32 = 1;
const _: () = assert!(NODE_WORDS == LINE_WORDS << NODE_CLASS);

/// Returns the low half of a word.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
pub(super) const fn low(word: u64) -> u32 {
    word as u32
}

/// Returns the high half of a word.
#[inline]
pub(super) const fn high(word: u64) -> u32 {
    low(word >> 32)
}

/// Returns a word of two halves.
#[inline]
pub(super) const fn pack(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// A node in its segment. Copies are cheap: it is two words, which functions take in registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    pub(super) segment: &'a Segment,
    record: &'a [AtomicU64; NODE_WORDS],
}

impl<'a> Node<'a> {
    /// Returns the node at `line`, which must have been allocated as one.
    #[inline]
    pub(super) fn at(segment: &'a Segment, line: Line) -> Self {
        Self { segment, record: segment.record(line, 0) }
    }

    /// Returns the node's line.
    pub(super) fn line(self) -> Line {
        self.segment.line_of(&self.record[0])
    }

    #[inline]
    pub(super) fn word(self, word: usize) -> &'a AtomicU64 {
        &self.record[word]
    }

    #[inline]
    pub(super) fn get(self, word: usize) -> u64 {
        self.word(word).load(Relaxed)
    }

    #[inline]
    pub(super) fn set(self, word: usize, value: u64) {
        self.word(word).store(value, Relaxed);
    }

    /// Returns the number of completed executions of a root, or the depth of any other node.
    #[inline]
    pub(super) fn completed_or_depth(self) -> u32 {
        high(self.get(SAMPLES))
    }

    #[inline]
    pub(super) fn set_completed_or_depth(self, number: u32) {
        self.set(SAMPLES, pack(low(self.get(SAMPLES)), number));
    }

    #[inline]
    pub(super) fn parent(self) -> Line {
        Line::from_number(low(self.get(PARENT)))
    }

    /// Changes the record in such a way that no reader mistakes a half-changed record for a
    /// complete one. Owner only.
    ///
    /// Returns false, with nothing done, if the owner is already changing it: a signal handler has
    /// interrupted.
    pub(super) fn update(self, change: impl FnOnce()) -> bool {
        let Some(sequence) = self.begin_update() else { return false };
        change();
        self.end_update(sequence);
        true
    }

    /// Begins an update, the first half of [`update`](Self::update). For the hot path, because a
    /// closure with two callers is not inlined.
    #[inline(always)]
    pub(super) fn begin_update(self) -> Option<u64> {
        let sequence = self.get(SEQUENCE);
        if !sequence.is_multiple_of(2) {
            return None;
        }
        self.set(SEQUENCE, sequence.wrapping_add(1));
        fence(Release);
        Some(sequence)
    }

    /// Ends an update, the second half of [`update`](Self::update).
    #[inline(always)]
    pub(super) fn end_update(self, sequence: u64) {
        self.word(SEQUENCE).store(sequence.wrapping_add(2), Release);
    }

    /// Returns the result of `read` from between two changes, or `None` if the owner changed the
    /// record meanwhile. Any thread.
    ///
    /// `read` may see a mixture of old and new words before that is detected, so it must not trust
    /// them.
    pub(super) fn try_read<T>(self, read: impl FnOnce() -> T) -> Option<T> {
        let before = self.word(SEQUENCE).load(Acquire);
        let value = read();
        fence(Acquire);
        (before.is_multiple_of(2) && self.get(SEQUENCE) == before).then_some(value)
    }
}
