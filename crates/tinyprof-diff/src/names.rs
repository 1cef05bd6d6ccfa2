//! The callpaths of several runs, identified by the names of their regions alone.
//!
//! Ids and lines change with every edit of a program, and it is versions of a program that are
//! compared. So regions of the same name below the same callpath count as one, also within a run.

use std::collections::HashMap;
use std::sync::Arc;

use tinyprof_format::model::{CallpathIndex, CallpathTable};
use tinyprof_report::cells::{columns, cut, shown};

/// The longest path that is written. In a hostile profile, all paths together would be of quadratic
/// size.
const LONGEST_PATH_BYTES: usize = 16_384;

/// A callpath of any of the runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name, shared by all callpaths that have it.
    pub(super) name: Arc<str>,
    /// The row of the parent, always an earlier one.
    pub parent: Option<usize>,
    pub(super) depth: usize,
    /// The row of the root region; a root's own row.
    pub(super) root: usize,
}

/// The callpaths of all runs. A parent precedes its children.
#[derive(Clone, Debug, Default)]
pub struct Names {
    rows: Vec<Named>,
    /// All names, each with its number.
    names: HashMap<Arc<str>, u32>,
    /// The row of each callpath, by its parent's row plus one (0 for no parent) and its name's
    /// number.
    places: HashMap<(u32, u32), u32>,
}

impl Names {
    /// Returns the callpaths, parents before their children.
    #[must_use]
    pub fn rows(&self) -> &[Named] {
        &self.rows
    }

    /// Adds the new callpaths of `table`. Returns the row of each callpath in `table`.
    pub fn place(&mut self, table: &CallpathTable) -> Vec<usize> {
        let mut placed: Vec<usize> = Vec::with_capacity(table.len());
        for callpath in table.rows() {
            let parent = callpath.parent.map(CallpathIndex::row).map(|parent| placed[parent]);
            let (name, number) = self.name(&callpath.region.name);
            let above = parent.map_or(0, |parent| narrow(parent + 1));
            let next = self.rows.len();
            let row = *self.places.entry((above, number)).or_insert_with(|| narrow(next)) as usize;
            if row == next {
                let root = parent.map_or(row, |parent| self.rows[parent].root);
                self.rows.push(Named { name, parent, depth: callpath.depth as usize, root });
            }
            placed.push(row);
        }
        placed
    }

    /// Returns the shared text of this name, and its number.
    fn name(&mut self, name: &str) -> (Arc<str>, u32) {
        if let Some((known, &number)) = self.names.get_key_value(name) {
            return (Arc::clone(known), number);
        }
        let (name, number) = (Arc::<str>::from(name), narrow(self.names.len()));
        self.names.insert(Arc::clone(&name), number);
        (name, number)
    }

    /// Returns the path of a row as reports write it, `main<exchange`; `None` if it is too long.
    pub(super) fn path(&self, row: usize) -> Option<String> {
        let (mut names, mut bytes) = (Vec::new(), 0);
        let mut at = Some(row);
        while let Some(here) = at {
            let named = &self.rows[here];
            bytes += named.name.len() + usize::from(!names.is_empty());
            if bytes > LONGEST_PATH_BYTES {
                return None;
            }
            names.push(&*named.name);
            at = named.parent;
        }
        names.reverse();
        Some(names.join("<"))
    }

    /// Returns the path of a row as a table shows it in `room` columns. The outer regions are cut
    /// first, since the region's own name says the most.
    pub(super) fn shown_path(&self, row: usize, room: usize) -> String {
        let (mut path, mut above) = (shown(&self.rows[row].name), self.rows[row].parent);
        let mut shortened = path.clone();
        while let Some(at) = above {
            let candidate = format!("...<{path}");
            if columns(&candidate) <= room {
                shortened = candidate;
            }
            let longer = format!("{}<{path}", shown(&self.rows[at].name));
            if columns(&longer) > room {
                return cut(&shortened, room);
            }
            (path, above) = (longer, self.rows[at].parent);
        }
        cut(&path, room)
    }
}

/// Converts a row number. Memory bounds the number of rows far below 2^32.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("there are fewer than 2^32 callpaths")
}

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;

    use super::*;

    fn table(ids: &[&str]) -> CallpathTable {
        let mut text = "id,parent,tag,is_loop,times\n".to_owned();
        for id in ids {
            let parent = id.rsplit_once('<').map_or("null", |(parent, _)| parent);
            text.push_str(&format!("{id},{parent},null,0,0.5\n"));
        }
        read_text(text.as_bytes()).expect("it is read").profile.callpaths
    }

    #[test]
    fn callpaths_of_equal_names_are_one() {
        let mut names = Names::default();
        let first = names.place(&table(&["main", "main<a", "main<a<x", "main<b"]));
        let second = names.place(&table(&["main", "main<b", "main<b<x"]));
        assert_eq!(names.rows().len(), 5);
        assert_eq!(first[0], second[0]);
        let mut paths: Vec<String> =
            (0..names.rows().len()).filter_map(|row| names.path(row)).collect();
        paths.sort();
        assert_eq!(paths, ["main", "main<a", "main<a<x", "main<b", "main<b<x"]);
        let is_x = |row: &usize| names.path(*row).as_deref() == Some("main<b<x");
        let x = (0..names.rows().len()).find(is_x).expect("it is there");
        assert_eq!(names.shown_path(x, 8), "main<b<x");
        assert_eq!(names.shown_path(x, 7), "...<b<x");
        assert_eq!(names.shown_path(x, 6), "...<x");
    }

    #[test]
    fn a_name_with_a_delimiter_is_not_two_names() {
        let mut names = Names::default();
        let one = names.place(&table(&["a%3Cb"]));
        let two = names.place(&table(&["a", "a<b"]));
        assert_eq!(
            (names.rows().len(), names.rows()[one[0]].depth, names.rows()[two[1]].depth),
            (3, 0, 1)
        );
    }
}
