//! Closing a visit: the shortest path for the usual one, and those that it hands on to.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::layout::skipped;
use tinyprof_segment::words::Line;

use super::Arena;
use crate::record::node::{EXECUTION, START};

impl Arena {
    /// Closes the visit that `enter` opened. Owner only.
    #[inline(always)]
    pub(crate) fn exit(&self, line: Line) {
        if !self.exit_usual(line, || self.usual_ticks()) {
            self.exit_unusual(line);
        }
    }

    /// Closes the visit that `enter` opened, which has ended at `now`. Owner only.
    #[inline(always)]
    pub(crate) fn exit_at(&self, line: Line, now: u64) {
        if !self.exit_usual(line, || now) {
            self.exit_unusual_at(line, now);
        }
    }

    /// Closes a visit that takes the shortest path, or is not timed. Returns false, with nothing
    /// done, for all others.
    #[inline(always)]
    fn exit_usual(&self, line: Line, now: impl FnOnce() -> u64) -> bool {
        let node = self.node(line);
        let parent = node.parent();
        if self.current() != line {
            return false;
        }
        let is_closed = if node.get(EXECUTION) == self.regular_execution() {
            self.add_usual_visit(node, now)
        } else {
            // The end of a root region is a flush point, timed or not, so it takes the other path.
            node.get(START) & skipped::MARK != 0 && !parent.is_none()
        };
        if is_closed {
            self.hot.current().store(parent.number(), Relaxed);
        }
        is_closed
    }

    /// Like `enter`, it only finds out which visit it is: saving registers would be measurable.
    #[inline(never)]
    fn exit_unusual(&self, line: Line) {
        if !self.watches_visits() {
            self.exit_root(line);
        } else if !self.exit_kept(line, || self.usual_ticks()) {
            self.exit_slowly(line, None);
        }
    }

    #[inline(never)]
    fn exit_root(&self, line: Line) {
        if !self.exit_usual_root(line, || self.usual_ticks()) {
            self.exit_slowly(line, None);
        }
    }

    #[inline(never)]
    fn exit_unusual_at(&self, line: Line, now: u64) {
        let is_closed = if self.watches_visits() {
            self.exit_kept(line, || now)
        } else {
            self.exit_usual_root(line, || now)
        };
        if !is_closed {
            self.exit_slowly(line, Some(now));
        }
    }

    #[inline(always)]
    fn exit_usual_root(&self, line: Line, now: impl FnOnce() -> u64) -> bool {
        let is_closed = self.current() == line && self.add_usual_root(self.node(line), now);
        if is_closed {
            self.hot.current().store(0, Relaxed);
            self.pass_flush_point();
        }
        is_closed
    }

    /// Closes a visit that is usual but for that its thread keeps events, which must be so. Returns
    /// false, with nothing done, for all others.
    #[inline(always)]
    fn exit_kept(&self, line: Line, now: impl FnOnce() -> u64) -> bool {
        let node = self.node(line);
        if self.current() != line || node.get(EXECUTION) != self.execution_unwatched() {
            return false;
        }
        let (begin, now) = (node.get(START), now());
        let is_closed = self.add_usual_visit(node, || now);
        if is_closed {
            self.hot.current().store(node.parent().number(), Relaxed);
            self.note_event_of(node, line, begin, now);
        }
        is_closed
    }

    /// Closes a visit that has ended at `known`, or else ends now.
    #[inline(never)]
    fn exit_slowly(&self, line: Line, known: Option<u64>) {
        self.take_samples();
        let node = self.node(line);
        if node.get(START) & skipped::MARK == 0 {
            let now = known.unwrap_or_else(|| self.clock.ticks());
            if self.current() != line && !self.unwind_to(line) {
                return;
            }
            let begin = node.get(START);
            self.add_visit(node, now, 0);
            self.hot.current().store(node.parent().number(), Relaxed);
            // The last, as a command may leave nothing open.
            self.note_event(node, line, begin, now);
        } else {
            if self.current() != line && !self.unwind_to(line) {
                return;
            }
            self.hot.current().store(node.parent().number(), Relaxed);
        }
        if node.parent().is_none() {
            self.pass_flush_point();
        }
    }
}
