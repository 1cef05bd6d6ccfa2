//! The record of one callpath on one thread: sixteen words, two cache lines.
//!
//! ```text
//! word  0  sequence          odd while the owner changes the record
//!       1  site              address of the `Site`
//!       2  parent            line of the parent's record; high half: the record made before this one
//!       3  start             ticks at entry while the region is open, else 0
//!       4  execution         that the live numbers belong to; high half: executions completed (roots), depth (others)
//!       5  visits  6  sum  7  minimum  8  maximum  9, 10  sum of squares      the live execution
//!      11  log of past executions: block, length      12  its stride, capacity class + 1
//!      13  series: block, length                      14  its stride (0: mode total), class + 1
//!      15  callpath id
//! ```
//!
//! Halves are named low (bits 0 to 31) and high.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use super::segment::{LINE_WORDS, Line, Segment};

pub(super) const NODE_WORDS: usize = 16;
pub(super) const NODE_CLASS: u32 = 1;
const _: () = assert!(NODE_WORDS == LINE_WORDS << NODE_CLASS);

pub(super) const SITE: usize = 1;
pub(super) const PARENT: usize = 2;
pub(super) const START: usize = 3;
pub(super) const EXECUTION: usize = 4;
pub(super) const VISITS: usize = 5;
pub(super) const SUM: usize = 6;
pub(super) const MIN: usize = 7;
pub(super) const MAX: usize = 8;
pub(super) const SQUARES: usize = 9;
pub(super) const PAST: usize = 11;
pub(super) const SERIES: usize = 13;
pub(super) const ID: usize = 15;
const SEQUENCE: usize = 0;

/// The low half of a word.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "taking the low half is the purpose")]
pub(super) const fn low(word: u64) -> u32 {
    word as u32
}

/// The high half of a word.
#[inline]
pub(super) const fn high(word: u64) -> u32 {
    low(word >> 32)
}

/// A word of two halves.
#[inline]
pub(super) const fn pack(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// A node in its segment. Copies are cheap: it is two words.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<'a> {
    pub(super) segment: &'a Segment,
    pub(super) line: Line,
}

impl<'a> Node<'a> {
    #[inline]
    pub(super) fn word(self, word: usize) -> &'a AtomicU64 {
        self.segment.word(self.line, word)
    }

    #[inline]
    pub(super) fn get(self, word: usize) -> u64 {
        self.word(word).load(Relaxed)
    }

    #[inline]
    pub(super) fn set(self, word: usize, value: u64) {
        self.word(word).store(value, Relaxed);
    }

    #[inline]
    pub(super) fn parent(self) -> Line {
        Line::from_number(low(self.get(PARENT)))
    }

    /// Changes the record so that no reader takes a half-changed one for whole. Owner only.
    #[inline]
    pub(super) fn update(self, change: impl FnOnce()) {
        let sequence = self.get(SEQUENCE);
        self.set(SEQUENCE, sequence.wrapping_add(1));
        fence(Release);
        change();
        self.word(SEQUENCE).store(sequence.wrapping_add(2), Release);
    }

    /// What `read` sees between two changes, or nothing if the owner changed the record meanwhile. Any thread.
    ///
    /// `read` may see a mixture of old and new words before that is found out, so it must not trust them.
    pub(super) fn try_read<T>(self, read: impl FnOnce() -> T) -> Option<T> {
        let before = self.word(SEQUENCE).load(Acquire);
        let value = read();
        fence(Acquire);
        (before.is_multiple_of(2) && self.get(SEQUENCE) == before).then_some(value)
    }
}
