//! Boundaries of a thread that somebody watches.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_format::segment::layout::waiting;

use super::super::boundary;
use super::super::node::START;
use super::super::segment::Line;
use super::Arena;

impl Arena {
    /// Says whether somebody wants to know of this thread's boundaries. Any thread.
    pub(crate) fn watch(&self, watched: bool) {
        self.hot.watched().store(watched.into(), Relaxed);
    }

    /// Tells whoever wants to know that this thread is at a boundary; whether there is somebody.
    /// Owner only, outside of [`Node::update`](super::Node::update).
    #[inline]
    pub(crate) fn pass_boundary(&self) -> bool {
        let watched = self.hot.watched().load(Relaxed) != 0;
        if watched {
            boundary::passed();
        }
        watched
    }

    /// The same as [`boundary`](Self::boundary) for a loop between whose iterations are boundaries
    /// of the thread. What is done there counts to no iteration. Owner only.
    #[inline]
    pub(crate) fn checkpoint_boundary(&self, line: Line) {
        self.boundary(line);
        if self.pass_boundary() {
            self.begin_again(line);
        }
    }

    /// Lets the iteration that is open begin now.
    #[inline(never)]
    fn begin_again(&self, line: Line) {
        let node = self.node(line);
        let start = node.get(START);
        if start != 0 && start & waiting::MARK == 0 && self.current() == line {
            node.set(START, self.clock.ticks());
        }
    }
}
