//! The record of one callpath on one thread: sixteen words, two cache lines.
//!
//! [`tinyprof_segment::layout::node`] draws it: readers of a dead program's file use the same
//! layout.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::layout::LINE_WORDS;
use tinyprof_segment::list::List;
use tinyprof_segment::sequence;
use tinyprof_segment::words::{Line, high, low, pack};

use super::segment::Segment;

pub(super) use tinyprof_segment::layout::kind;
pub(super) use tinyprof_segment::layout::node::{
    EXECUTION, MAX, MIN, PARENT, PAST, SAMPLES, SEQUENCE, SERIES, SITE, SQUARES, START, SUM,
    VISITS, WORDS as NODE_WORDS,
};

pub(super) const NODE_CLASS: u32 = 1;
const _: () = assert!(NODE_WORDS == LINE_WORDS << NODE_CLASS);

/// A node in its segment. Copies are cheap: it is two words, which functions take in registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    pub(super) segment: &'a Segment,
    record: &'a [AtomicU64; NODE_WORDS],
}

impl<'a> Node<'a> {
    /// Returns the node at `line`.
    ///
    /// # Safety
    /// * The segment must have handed out the line, for a block of class [`NODE_CLASS`].
    #[inline]
    pub(super) unsafe fn at(segment: &'a Segment, line: Line) -> Self {
        // SAFETY: such a block has exactly the words of a node.
        Self { segment, record: unsafe { segment.record(line, 0) } }
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

    /// Returns the list whose words begin at word `at`.
    #[inline]
    pub(super) fn list(self, at: usize) -> List {
        List::from_words([self.get(at), self.get(at + 1)])
    }

    /// Stores a list in its words, which begin at word `at`.
    #[inline]
    pub(super) fn publish(self, at: usize, list: List) {
        list.publish([self.word(at), self.word(at + 1)]);
    }

    /// Changes the record in such a way that no reader mistakes a half-changed record for a
    /// complete one. Owner only.
    ///
    /// Returns false, with nothing done, if the owner is already changing it: a signal handler has
    /// interrupted.
    pub(super) fn update(self, change: impl FnOnce()) -> bool {
        let began = self.begin_update();
        if began {
            change();
            self.end_update();
        }
        began
    }

    /// Begins an update, the first half of [`update`](Self::update). For the hot path, because a
    /// closure with two callers is not inlined.
    #[inline(always)]
    #[must_use]
    pub(super) fn begin_update(self) -> bool {
        sequence::begin_update(self.word(SEQUENCE))
    }

    /// Ends an update, the second half of [`update`](Self::update).
    #[inline(always)]
    pub(super) fn end_update(self) {
        sequence::end_update(self.word(SEQUENCE));
    }

    /// Returns the result of `read` from between two changes, or `None` if the owner changed the
    /// record meanwhile. Any thread.
    ///
    /// `read` may see a mixture of old and new words before that is detected, so it must not trust
    /// them.
    pub(super) fn try_read<T>(self, read: impl FnOnce() -> T) -> Option<T> {
        sequence::try_read(self.word(SEQUENCE), read)
    }
}
