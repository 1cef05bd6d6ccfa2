//! Regions that are left by naming their site, because nobody holds a guard.

use super::super::node::{SITE, START};
use super::super::segment::Line;
use super::super::site::Site;
use super::Arena;

impl Arena {
    /// The innermost open visit of `site`; none if none is open. Owner only.
    pub(crate) fn innermost(&self, site: &'static Site) -> Option<Line> {
        let address = std::ptr::from_ref(site).addr() as u64;
        let mut line = self.current();
        while !line.is_none() {
            let node = self.node(line);
            if node.get(SITE) == address {
                return Some(line);
            }
            line = node.parent();
        }
        None
    }

    /// Whether a visit of the record at `line` is open. Owner only.
    pub(crate) fn is_open(&self, line: Line) -> bool {
        self.node(line).get(START) != 0
    }
}
