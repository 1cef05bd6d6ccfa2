//! Boundaries of a watched thread.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_format::segment::layout::skipped;

use super::super::boundary;
use super::super::node::START;
use super::super::segment::Line;
use super::Arena;

impl Arena {
    /// Sets whether a collector watches this thread's boundaries. Any thread.
    pub(crate) fn watch(&self, watched: bool) {
        self.hot.watched().store(watched.into(), Relaxed);
    }

    /// Calls the hook if this thread is watched, at one of its boundaries. Returns whether it is
    /// watched. Owner only, outside of [`Node::update`](super::Node::update).
    #[inline]
    pub(crate) fn pass_boundary(&self) -> bool {
        let watched = self.hot.watched().load(Relaxed) != 0;
        if watched {
            boundary::passed();
        }
        watched
    }

    /// Calls [`boundary`](Self::boundary), and passes a boundary of the thread between the two
    /// iterations. The time spent there counts towards no iteration. Owner only.
    #[inline]
    pub(crate) fn checkpoint_boundary(&self, line: Line) {
        self.boundary(line);
        if self.pass_boundary() {
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
