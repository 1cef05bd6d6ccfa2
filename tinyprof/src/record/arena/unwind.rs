//! Regions that are left out of order, or never.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::layout::skipped;
use tinyprof_segment::words::Line;

#[cfg(feature = "tracing")]
use super::super::node::SITE;
use super::super::node::{Node, START};
#[cfg(feature = "tracing")]
use super::super::site::Site;
use super::Arena;

impl Arena {
    /// Returns whether a visit of the record at `line` is open. Owner only.
    pub(crate) fn is_open(&self, line: Line) -> bool {
        match self.node(line).get(START) {
            0 => false,
            start if start & skipped::MARK == 0 => true,
            // An untimed visit leaves no trace except that the thread is inside of it.
            _ => self.around(|node| node.line() == line).is_some(),
        }
    }

    /// Returns the innermost open visit of `site`, if any. Owner only.
    #[cfg(feature = "tracing")]
    pub(crate) fn innermost(&self, site: &'static Site) -> Option<Line> {
        let address = std::ptr::from_ref(site).addr() as u64;
        self.around(|node| node.get(SITE) == address)
    }

    /// Returns the first record for which `is` holds, from the innermost open region outwards.
    fn around(&self, is: impl Fn(Node<'_>) -> bool) -> Option<Line> {
        let mut line = self.current();
        while !line.is_none() {
            let node = self.node(line);
            if is(node) {
                return Some(line);
            }
            line = node.parent();
        }
        None
    }

    /// Makes `line` the innermost open region again after guards inside of it were forgotten.
    /// Returns false if it is not open at all, because its own guard was dropped out of order.
    #[cold]
    pub(super) fn unwind_to(&self, line: Line) -> bool {
        self.check_process();
        if self.is_switched_off() {
            return self.close_while_off(line);
        }
        if !self.is_open(line) {
            return false;
        }
        while self.current() != line && !self.current().is_none() {
            self.close_innermost();
        }
        self.current() == line
    }

    /// As [`unwind_to`](Self::unwind_to), of a loop at the end of an iteration. While measuring is
    /// off, iterations are one.
    #[cold]
    pub(super) fn unwind_to_iteration(&self, line: Line) -> bool {
        !self.is_switched_off() && self.unwind_to(line)
    }

    /// Closes regions that the last owner left open, before another thread takes over the arena.
    pub(in crate::record) fn close_all(&self) {
        self.forget_off();
        while !self.current().is_none() {
            self.close_innermost();
        }
    }

    /// Closes the innermost open region on behalf of its missing guard.
    pub(super) fn close_innermost(&self) {
        let node = self.node(self.current());
        let start = node.get(START);
        // A region that the thread only stepped under is not open.
        if start != 0 {
            if start & skipped::MARK == 0 {
                node.update(|| node.set(START, 0));
            }
            self.visits_unbalanced.fetch_add(1, Relaxed);
            self.publish_losses();
        }
        self.hot.current().store(node.parent().number(), Relaxed);
    }
}
