//! Moving to the next iteration of a loop.

use tinyprof_segment::layout::skipped;
use tinyprof_segment::words::Line;

use super::{Arena, usual};
use crate::record::node::{EXECUTION, Node, START};

impl Arena {
    /// Closes an iteration of the loop at `line` and opens the next, with a single clock read.
    /// Owner only.
    #[inline]
    pub(crate) fn next_iteration(&self, line: Line) {
        let node = self.node(line);
        if self.current() == line {
            let (own, usual) = (node.get(EXECUTION), self.regular_execution());
            if own == usual {
                if self.add_usual_iteration(node) {
                    return;
                }
            } else if own == usual | usual::ONE_OF_SERIES {
                return self.next_iteration_of_series(line);
            }
        }
        self.next_iteration_unusual(line);
    }

    /// Moves to the next iteration of a loop that is usual but for that its thread keeps events,
    /// which must be so.
    #[inline(always)]
    fn next_iteration_kept(&self, node: Node<'_>, line: Line) -> bool {
        let (own, usual) = (node.get(EXECUTION), self.execution_unwatched());
        let begin = node.get(START);
        let is_moved = self.current() == line
            && (own == usual && self.add_usual_iteration(node)
                || own == usual | usual::ONE_OF_SERIES && self.add_usual_iteration_of_series(node));
        if is_moved {
            self.note_event_of(node, line, begin, node.get(START));
        }
        is_moved
    }

    /// Moves to the next iteration of the innermost region, a loop in mode `each`, in its thread's
    /// execution. Owner only.
    #[inline(never)]
    fn next_iteration_of_series(&self, line: Line) {
        if !self.add_usual_iteration_of_series(self.node(line)) {
            self.next_iteration_unusual(line);
        }
    }

    #[inline(never)]
    fn next_iteration_unusual(&self, line: Line) {
        let node = self.node(line);
        if self.watches_visits() && self.next_iteration_kept(node, line) {
            return;
        }
        let timed = node.get(START) & skipped::MARK == 0;
        let now = if timed { self.clock.ticks() } else { 0 };
        if self.current() != line && !self.unwind_to_iteration(line) {
            return;
        }
        if !timed {
            return self.next_iteration_not_timed(node);
        }
        let begin = node.get(START);
        self.add_visit(node, now, now);
        self.note_event(node, line, begin, now);
        if node.parent().is_none() {
            self.take_samples();
            self.set_execution(node.completed_or_depth());
        }
    }
}
