//! The thread's execution: the one to which its visits belong, and whether they may take the
//! shortest path.
//!
//! The word is in the header of the segment, so that a client can set a bit of it: the next visit
//! then ends on another path, where a command is found that no instruction of the shortest path has
//! looked for.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::layout::execution::{IRREGULAR, WATCHED};
use tinyprof_segment::layout::header;
use tinyprof_segment::words::{high, low, pack};

use super::super::clock::Clock;
use super::super::segment::Segment;
use super::{Arena, sampled, usual};

impl Arena {
    /// Returns the execution of the latest root region.
    #[inline]
    pub(super) fn execution(&self) -> u32 {
        low(self.regular_execution())
    }

    /// Returns the word of a record whose live numbers belong to that execution, and which may take
    /// the shortest path.
    #[inline(always)]
    pub(super) fn regular_execution(&self) -> u64 {
        self.segment.header(header::EXECUTION).load(Relaxed)
    }

    #[inline]
    pub(super) fn set_execution(&self, execution: u32) {
        let word = self.segment.header(header::EXECUTION);
        word.store(pack(execution, high(word.load(Relaxed))), Relaxed);
    }

    /// Forbids the shortest path to all records of an empty segment, if the thread's clock is not
    /// the processor's counter, or its functions are sampled.
    pub(super) fn prepare_execution(segment: &Segment, clock: Clock) {
        if !usual::has_usual_visits(clock) || sampled::is_sampling() {
            segment.header(header::EXECUTION).store(pack(0, IRREGULAR), Relaxed);
        }
    }

    /// Forbids the shortest path to the ends of visits.
    pub(super) fn watch_visits(&self) {
        let word = self.segment.header(header::EXECUTION);
        word.store(word.load(Relaxed) | u64::from(WATCHED) << 32, Relaxed);
    }

    /// Allows it again.
    pub(super) fn watch_no_visits(&self) {
        let word = self.segment.header(header::EXECUTION);
        word.store(word.load(Relaxed) & !(u64::from(WATCHED) << 32), Relaxed);
    }

    /// Returns whether the ends of visits are watched: they are kept one by one, or a command
    /// waits. Owner only.
    #[inline(always)]
    pub(crate) fn watches_visits(&self) -> bool {
        high(self.regular_execution()) & WATCHED != 0
    }

    /// Returns what [`regular_execution`](Self::regular_execution) would be if they were not.
    #[inline(always)]
    pub(super) fn execution_unwatched(&self) -> u64 {
        self.regular_execution() & !(u64::from(WATCHED) << 32)
    }

    /// Returns the kind that forbids records to begin a visit on the shortest path; 0 if nothing
    /// does.
    #[inline]
    pub(super) fn kind_of_entries(&self) -> u32 {
        high(self.regular_execution()) & !WATCHED
    }
}
