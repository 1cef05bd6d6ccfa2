//! Flush points of a watched thread.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::layout::skipped;
use tinyprof_segment::words::Line;

use super::super::flush_point;
use super::super::node::START;
use super::Arena;

impl Arena {
    /// Sets whether a collector watches this thread's flush points. Any thread.
    pub(crate) fn watch(&self, watched: bool) {
        self.hot.watched().store(watched.into(), Relaxed);
    }

    /// Calls the hook if this thread is watched, at one of its flush points. Returns whether it is
    /// watched. Owner only, outside of [`Node::update`](super::Node::update).
    #[inline]
    pub(crate) fn pass_flush_point(&self) -> bool {
        let watched = self.hot.watched().load(Relaxed) != 0;
        if watched {
            flush_point::passed();
        }
        watched
    }

    /// Calls [`flush_point`](Self::flush_point), and passes a flush point of the thread between the
    /// two iterations. The time spent there counts towards no iteration. Owner only.
    #[inline]
    pub(crate) fn next_iteration_at_flush_point(&self, line: Line) {
        self.next_iteration(line);
        if self.pass_flush_point() {
            self.begin_again(line);
        }
    }

    /// Restarts the open iteration now.
    #[inline(never)]
    fn begin_again(&self, line: Line) {
        let node = self.node(line);
        let start = node.get(START);
        if start != 0 && start & skipped::MARK == 0 && self.current() == line {
            node.set(START, self.clock.ticks());
        }
    }
}
