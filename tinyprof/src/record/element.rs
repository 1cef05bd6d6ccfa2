//! The elements of the lists in `log`: past executions, and visits of a series.

use std::sync::atomic::Ordering::Release;
use std::sync::atomic::fence;

use tinyprof_format::model::{MetricBucket, MetricSummary};
use tinyprof_segment::layout::node::{PAST, SERIES};
use tinyprof_segment::layout::{PAST_WORDS, SERIES_WORDS};
use tinyprof_segment::words::{high, low, pack};

pub(super) use tinyprof_format::ticks::{PastExecution, SeriesElement};

/// One element of a list.
pub(super) trait Element: Copy {
    /// The first of the two words of a node that describe the list.
    const LIST: usize;
    /// The words of an element; a power of two, at most a line.
    const WORDS: usize;
    /// The capacity class of the largest block: 2^class lines.
    const CLASS_MAX: u32;

    fn load(word: impl Fn(usize) -> u64) -> Self;
    fn store(self, put: impl FnMut(usize, u64));
    /// Returns whether `next` can join this element without exceeding `stride`.
    fn has_room_for(&self, next: &Self, stride: u32) -> bool;
    /// Returns whether the two may be folded while the list can save space elsewhere.
    fn folds_well_with(&self, next: &Self) -> bool;
    /// Returns whether an interrupted change of an element must be undone because it concerns more
    /// than one visit: those of `next`.
    fn needs_undo(next: &Self) -> bool;
    /// Merges the element that follows this one.
    fn absorb(&mut self, next: &Self);
}

impl Element for PastExecution {
    const LIST: usize = PAST;
    const WORDS: usize = PAST_WORDS;
    // 4,096 executions are kept apart: 256 KiB for each callpath that is visited in all of them.
    const CLASS_MAX: u32 = 12;

    #[inline]
    fn load(word: impl Fn(usize) -> u64) -> Self {
        Self {
            execution: low(word(0)),
            executions: high(word(0)),
            visits: word(1),
            sum: word(2),
            min: word(3),
            max: word(4),
            squares: u128::from(word(6)) << 64 | u128::from(word(5)),
            variance: f64::from_bits(word(7)),
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a u128 is stored as its two halves")]
    fn store(self, mut put: impl FnMut(usize, u64)) {
        put(1, self.visits);
        put(2, self.sum);
        put(3, self.min);
        put(4, self.max);
        put(5, self.squares as u64);
        put(6, (self.squares >> 64) as u64);
        put(7, self.variance.to_bits());
        // Last, because a covered execution means that its visits are included.
        fence(Release);
        put(0, pack(self.execution, self.executions));
    }

    #[inline]
    fn has_room_for(&self, next: &Self, stride: u32) -> bool {
        // An earlier execution wraps to a large distance, and begins an element of its own.
        next.execution.wrapping_sub(self.execution).saturating_add(next.executions) <= stride
    }

    fn folds_well_with(&self, _: &Self) -> bool {
        true
    }

    #[inline]
    fn needs_undo(next: &Self) -> bool {
        next.visits > 1
    }

    #[inline]
    fn absorb(&mut self, next: &Self) {
        let end = end(self).max(end(next));
        self.execution = self.execution.min(next.execution);
        self.executions = end - self.execution;
        self.visits += next.visits;
        self.sum = self.sum.wrapping_add(next.sum);
        self.min = self.min.min(next.min);
        self.max = self.max.max(next.max);
        self.squares = self.squares.saturating_add(next.squares);
        self.variance += next.variance;
    }
}

/// Returns the last covered execution plus one. Executions come in any order if several are in
/// flight.
#[inline]
fn end(past: &PastExecution) -> u32 {
    past.execution.saturating_add(past.executions)
}

impl Element for SeriesElement {
    const LIST: usize = SERIES;
    const WORDS: usize = SERIES_WORDS;
    // 32,768 visits are kept apart: 1 MiB for each callpath in mode `each` that has that many.
    const CLASS_MAX: u32 = 14;

    #[inline]
    fn load(word: impl Fn(usize) -> u64) -> Self {
        Self {
            execution: low(word(0)),
            visits: high(word(0)),
            sum: word(1),
            min: word(2),
            max: word(3),
        }
    }

    #[inline]
    fn store(self, mut put: impl FnMut(usize, u64)) {
        put(0, pack(self.execution, self.visits));
        put(1, self.sum);
        put(2, self.min);
        put(3, self.max);
    }

    #[inline]
    fn has_room_for(&self, next: &Self, stride: u32) -> bool {
        self.execution == next.execution && self.visits.saturating_add(next.visits) <= stride
    }

    fn folds_well_with(&self, next: &Self) -> bool {
        self.execution == next.execution
    }

    #[inline]
    fn needs_undo(_: &Self) -> bool {
        false
    }

    #[inline]
    fn absorb(&mut self, next: &Self) {
        self.visits = self.visits.saturating_add(next.visits);
        self.sum += next.sum;
        self.min = self.min.min(next.min);
        self.max = self.max.max(next.max);
    }
}

impl Element for MetricSummary {
    const LIST: usize = PAST;
    const WORDS: usize = PAST_WORDS;
    const CLASS_MAX: u32 = PastExecution::CLASS_MAX;

    fn load(word: impl Fn(usize) -> u64) -> Self {
        let float = |at| f64::from_bits(word(at));
        Self {
            execution: low(word(0)),
            executions: high(word(0)),
            values: word(1),
            sum: float(2),
            min: float(3),
            max: float(4),
            sum_squares: float(5),
        }
    }

    fn store(self, mut put: impl FnMut(usize, u64)) {
        put(1, self.values);
        for (at, value) in (2..).zip([self.sum, self.min, self.max, self.sum_squares]) {
            put(at, value.to_bits());
        }
        put(6, 0);
        put(7, 0);
        // Last, as for a past execution.
        fence(Release);
        put(0, pack(self.execution, self.executions));
    }

    fn has_room_for(&self, next: &Self, stride: u32) -> bool {
        let end = |of: &Self| of.execution.saturating_add(of.executions);
        end(self).max(end(next)) - self.execution.min(next.execution) <= stride
    }

    fn folds_well_with(&self, _: &Self) -> bool {
        true
    }

    fn needs_undo(_: &Self) -> bool {
        true
    }

    fn absorb(&mut self, next: &Self) {
        Self::absorb(self, next);
    }
}

impl Element for MetricBucket {
    const LIST: usize = SERIES;
    const WORDS: usize = SERIES_WORDS;
    const CLASS_MAX: u32 = SeriesElement::CLASS_MAX;

    fn load(word: impl Fn(usize) -> u64) -> Self {
        let float = |at| f64::from_bits(word(at));
        Self {
            execution: low(word(0)),
            values: high(word(0)),
            sum: float(1),
            min: float(2),
            max: float(3),
        }
    }

    fn store(self, mut put: impl FnMut(usize, u64)) {
        put(0, pack(self.execution, self.values));
        for (at, value) in (1..).zip([self.sum, self.min, self.max]) {
            put(at, value.to_bits());
        }
    }

    fn has_room_for(&self, next: &Self, stride: u32) -> bool {
        self.execution == next.execution && self.values.saturating_add(next.values) <= stride
    }

    fn folds_well_with(&self, next: &Self) -> bool {
        self.execution == next.execution
    }

    fn needs_undo(_: &Self) -> bool {
        false
    }

    fn absorb(&mut self, next: &Self) {
        self.values = self.values.saturating_add(next.values);
        self.sum += next.sum;
        self.min = self.min.min(next.min);
        self.max = self.max.max(next.max);
    }
}
