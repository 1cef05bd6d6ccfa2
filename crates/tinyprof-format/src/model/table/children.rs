//! The children of each callpath, in one shared list.

use std::ops::Index;

use crate::model::CallpathIndex;

/// The children of every callpath of a table, and its roots, each in table order.
///
/// ```
/// use tinyprof_format::model::{CallpathId, CallpathTable, Region, SiteId};
///
/// let (main, step) = (SiteId::from_bits(1), SiteId::from_bits(2));
/// let root = CallpathId::root(main);
/// let table = CallpathTable::from_parents([
///     (root, None, Region::named(main, "main")),
///     (root.child(step), Some(root), Region::named(step, "step")),
/// ]);
/// let children = table.children();
/// assert_eq!(children.roots()[0].row(), 0);
/// assert_eq!(children[0][0].row(), 1);
/// assert!(children[1].is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Children {
    /// All callpaths: the children of row 0, then those of row 1, ..., and the roots last.
    all: Vec<CallpathIndex>,
    /// The start of each row's children, that of the roots, and the end.
    starts: Vec<u32>,
}

impl Children {
    /// Builds the lists for `rows` rows from their parents, row by row. Rows whose parent is out of
    /// range are in no list.
    pub(super) fn of(rows: usize, parents: impl Iterator<Item = Option<usize>> + Clone) -> Self {
        let list =
            |parent: Option<usize>| parent.map_or(Some(rows), |row| (row < rows).then_some(row));
        let mut starts = vec![0_u32; rows + 2];
        parents.clone().filter_map(list).for_each(|list| starts[list + 1] += 1);
        for list in 0..=rows {
            starts[list + 1] += starts[list];
        }
        let mut all = vec![CallpathIndex::new(0); starts[rows + 1] as usize];
        for (row, list) in parents.map(list).enumerate() {
            let Some(list) = list else { continue };
            all[starts[list] as usize] = CallpathIndex::new(row);
            starts[list] += 1;
        }
        // Each start now equals the start of the next list.
        starts.rotate_right(1);
        starts[0] = 0;
        Self { all, starts }
    }

    /// Returns the callpaths without a parent.
    #[must_use]
    pub fn roots(&self) -> &[CallpathIndex] {
        self.starts.len().checked_sub(2).map_or(&[], |roots| &self[roots])
    }

    /// Sorts each list.
    pub(crate) fn sort_each(&mut self, mut sort: impl FnMut(&mut [CallpathIndex])) {
        for list in self.starts.windows(2) {
            sort(&mut self.all[list[0] as usize..list[1] as usize]);
        }
    }
}

impl Index<usize> for Children {
    type Output = [CallpathIndex];

    /// Returns the children of the callpath in this row; for the row after the last, the roots.
    fn index(&self, row: usize) -> &[CallpathIndex] {
        &self.all[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}
