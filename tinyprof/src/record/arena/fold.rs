//! Regions that call each other in cycles: one callpath for each depth would be unreadable and
//! unbounded.
//!
//! A region that is already [`TIMES_ON_PATH_MAX`] times on the callpath is not entered again. Its
//! visit counts for the innermost of these. That visit is open and its time includes the new one,
//! as for a region that calls itself. Regions that it calls appear under the region that is
//! innermost at that time.
//!
//! A walk up the callpath finds this out. To avoid a walk for each visit, the table of callpaths
//! has an entry for it whose record is not a callpath: it is in no list of records, and only the
//! look-up finds it.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::words::{Line, high, low, pack};

use super::super::node::{NODE_CLASS, PARENT, SITE, START};
use super::super::site::Site;
use super::{Arena, NODES_MAX, TIMES_ON_PATH_MAX};

/// The mark of a fold in the word of a record's parent. Callpaths have there the number of the
/// record made before, which is never this value.
const FOLD: u32 = u32::MAX;

impl Arena {
    /// Returns the innermost record of `site` among `parent` and those around it, if their number
    /// is at the limit. Owner only.
    pub(super) fn too_often(&self, parent: Line, site: &'static Site) -> Option<Line> {
        let address = std::ptr::from_ref(site).addr() as u64;
        let around = |&line: &Line| Some(self.node(line).parent()).filter(|outer| !outer.is_none());
        let path = std::iter::successors(Some(parent).filter(|line| !line.is_none()), around);
        let mut on_path = path.filter(|&line| self.node(line).get(SITE) == address);
        let innermost = on_path.next()?;
        on_path.nth(TIMES_ON_PATH_MAX - 2).map(|_| innermost)
    }

    /// Makes the look-up find `outer` for visits of `site` under `parent`. Without memory for it,
    /// the walk is repeated for each visit.
    pub(super) fn insert_fold(&self, parent: Line, site: &'static Site, outer: Line) {
        if self.nodes.load(Relaxed) >= NODES_MAX {
            return;
        }
        let Some((line, _)) = self.segment.allocate_zeroed(NODE_CLASS) else { return };
        let node = self.node(line);
        node.set(SITE, std::ptr::from_ref(site).addr() as u64);
        node.set(PARENT, pack(parent.number(), FOLD));
        node.set(START, outer.number().into());
        if self.insert_into_table(node) {
            self.nodes.fetch_add(1, Relaxed);
        } else {
            // SAFETY: the line is that of the new block, and nothing refers to it yet.
            unsafe { self.segment.release(line, NODE_CLASS) };
        }
    }

    /// Returns the record that visits of the one at `line` count for, if that one is not a
    /// callpath. Owner only.
    pub(super) fn folded_onto(&self, line: Line) -> Option<Line> {
        let node = self.node(line);
        (high(node.get(PARENT)) == FOLD).then(|| Line::from_number(low(node.get(START))))
    }
}
