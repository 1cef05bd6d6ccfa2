//! Regions that call each other in circles: a callpath for each depth would be unreadable, and
//! without a bound.
//!
//! A region that is on the callpath [`TIMES_ON_PATH_MAX`] times already is not entered once more.
//! Its visit counts for the innermost of these, which is open and whose time holds that of the
//! visit: as for a region that calls itself. What it calls in turn stands under the region that is
//! innermost then.
//!
//! A walk up the callpath finds that out. So that it is not made for each visit, the table of
//! callpaths has an entry for it, whose record is no callpath: no list of records has it, only the
//! look-up finds it.

use std::sync::atomic::Ordering::Relaxed;

use super::super::node::{NODE_CLASS, NODE_WORDS, PARENT, SITE, START, high, low, pack};
use super::super::segment::Line;
use super::super::site::Site;
use super::{Arena, NODES_MAX, TIMES_ON_PATH_MAX};

/// In the word of a record's parent, where callpaths have the record made before: this one only
/// says what is folded. No record has that number.
const FOLD: u32 = u32::MAX;

impl Arena {
    /// The innermost record of `site` among `parent` and those around it, if they are as many as
    /// may be. Owner only.
    pub(super) fn too_often(&self, parent: Line, site: &'static Site) -> Option<Line> {
        let address = std::ptr::from_ref(site).addr() as u64;
        let around = |&line: &Line| Some(self.node(line).parent()).filter(|outer| !outer.is_none());
        let path = std::iter::successors(Some(parent).filter(|line| !line.is_none()), around);
        let mut on_path = path.filter(|&line| self.node(line).get(SITE) == address);
        let innermost = on_path.next()?;
        on_path.nth(TIMES_ON_PATH_MAX - 2).map(|_| innermost)
    }

    /// Has the look-up find that visits of `site` under `parent` are those of `outer`. Without
    /// memory for it the walk is made again.
    pub(super) fn insert_fold(&self, parent: Line, site: &'static Site, outer: Line) {
        if self.nodes.load(Relaxed) >= NODES_MAX {
            return;
        }
        let Some(line) = self.segment.allocate(NODE_CLASS) else { return };
        let node = self.node(line);
        (0..NODE_WORDS).for_each(|word| node.set(word, 0));
        node.set(SITE, std::ptr::from_ref(site).addr() as u64);
        node.set(PARENT, pack(parent.number(), FOLD));
        node.set(START, outer.number().into());
        if self.lookup.insert(&self.segment, node) {
            self.nodes.fetch_add(1, Relaxed);
        } else {
            self.segment.release(line, NODE_CLASS);
        }
    }

    /// The record that visits of the one at `line` count for, if it is no callpath. Owner only.
    pub(super) fn folded_onto(&self, line: Line) -> Option<Line> {
        let node = self.node(line);
        (high(node.get(PARENT)) == FOLD).then(|| Line::from_number(low(node.get(START))))
    }
}
