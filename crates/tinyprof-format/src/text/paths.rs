//! Conversion of the texts of ids and parents to callpaths.
//!
//! The text of an id is that of its parent, a delimiter, and a name. The authors' names are not
//! escaped, so a name may contain the delimiter itself. Only the parent's text shows where the name
//! begins.

use std::collections::{HashMap, HashSet};

use super::names::{NULL, unescape};
use super::salvage::ProblemKind;
use crate::model::{CallpathId, SiteId};

/// The delimiters between names in the versions of the authors' tools. If only the id is known, the
/// first of these that it contains is used.
const DELIMITERS: [char; 3] = ['<', '>', '-'];

/// The position of a row in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowPosition {
    pub(super) id: CallpathId,
    pub(super) parent: Option<CallpathId>,
    pub(super) site: SiteId,
    pub(super) name: String,
}

/// The positions of all rows.
#[derive(Debug, Default)]
pub(super) struct RowPositions {
    /// The places of the rows, in order.
    pub(super) rows: Vec<RowPosition>,
    /// The places of parents that have no row.
    pub(super) ancestors: Vec<RowPosition>,
    /// The inconsistencies: the row, the kind, and the text of the parent concerned.
    pub(super) problems: Vec<(usize, ProblemKind, String)>,
}

/// Finds the place of each row from its id and, if there is such a column, the text of its parent.
///
/// # Cost
/// Linear in the length of the texts, for any text.
pub(super) fn place(rows: &[(&str, Option<&str>)]) -> RowPositions {
    let mut finder = Finder::default();
    let mut places: Vec<Option<RowPosition>> = vec![None; rows.len()];
    // Shorter ids first, so that parents are placed before their children.
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&row| rows[row].0.len());
    for row in order {
        let (id, parent) = rows[row];
        let place = finder.find(row, id, parent);
        finder.by_text.entry(id.to_owned()).or_insert(place.id);
        finder.placed.insert(place.id);
        places[row] = Some(place);
    }
    let rows: Vec<RowPosition> = places.into_iter().flatten().collect();
    finder.ancestors.retain(|ancestor| !finder.placed.contains(&ancestor.id));
    finder.problems.sort_by_key(|(row, _, _)| *row);
    RowPositions { rows, ancestors: finder.ancestors, problems: finder.problems }
}

#[derive(Default)]
struct Finder {
    /// The callpaths of placed rows, and of parents that have no row.
    by_text: HashMap<String, CallpathId>,
    placed: HashSet<CallpathId>,
    ancestors: Vec<RowPosition>,
    ancestor_ids: HashSet<CallpathId>,
    problems: Vec<(usize, ProblemKind, String)>,
}

impl Finder {
    fn find(&mut self, row: usize, id: &str, parent: Option<&str>) -> RowPosition {
        match parent {
            Some("" | NULL) => RowPosition::of(None, id),
            Some(text) => {
                let rest = id.strip_prefix(text).and_then(|rest| rest.strip_prefix(DELIMITERS));
                if let Some(name) = rest {
                    let delimiter = id[text.len()..].chars().next().unwrap_or(DELIMITERS[0]);
                    return RowPosition::of(Some(self.parent(row, text, delimiter)), name);
                }
                self.problems.push((row, ProblemKind::ParentDisagrees, text.to_owned()));
                self.find_alone(id)
            }
            None => self.find_alone(id),
        }
    }

    /// Returns the place of a row from its id alone.
    fn find_alone(&mut self, id: &str) -> RowPosition {
        let delimiter = DELIMITERS.into_iter().find(|&d| id.contains(d)).unwrap_or(DELIMITERS[0]);
        match id.rsplit_once(delimiter) {
            Some((above, name)) => {
                let parent = self.by_text.get(above).copied();
                let parent = parent.unwrap_or_else(|| self.add_ancestors(above, delimiter));
                RowPosition::of(Some(parent), name)
            }
            None => RowPosition::of(None, id),
        }
    }

    fn parent(&mut self, row: usize, text: &str, delimiter: char) -> CallpathId {
        if let Some(&known) = self.by_text.get(text) {
            return known;
        }
        let id = self.add_ancestors(text, delimiter);
        self.by_text.insert(text.to_owned(), id);
        if !self.placed.contains(&id) {
            self.problems.push((row, ProblemKind::ParentMissing, text.to_owned()));
        }
        id
    }

    /// Adds the callpath of a text that has no row, with all callpaths above it.
    fn add_ancestors(&mut self, text: &str, delimiter: char) -> CallpathId {
        let (first, rest) =
            text.split_once(delimiter).map_or((text, None), |(f, rest)| (f, Some(rest)));
        let mut here = self.add_ancestor(RowPosition::of(None, first));
        for name in rest.into_iter().flat_map(|rest| rest.split(delimiter)) {
            here = self.add_ancestor(RowPosition::of(Some(here), name));
        }
        here
    }

    fn add_ancestor(&mut self, place: RowPosition) -> CallpathId {
        let id = place.id;
        if !self.placed.contains(&id) && self.ancestor_ids.insert(id) {
            self.ancestors.push(place);
        }
        id
    }
}

impl RowPosition {
    fn of(parent: Option<CallpathId>, text: &str) -> Self {
        let (name, number) = unescape(text);
        let site = site(&name, number);
        let id = parent.map_or(CallpathId::root(site), |parent| parent.child(site));
        Self { id, parent, site, name }
    }
}

/// Returns a site for a region of which only the name is known. A hash of the name (FNV-1a) is the
/// same in every text, so that profiles of several runs can be compared.
fn site(name: &str, number: u64) -> SiteId {
    let numbered = number.to_le_bytes();
    let bytes = name.bytes().chain(numbered.into_iter().filter(|_| number > 1));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    SiteId::from_bits(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the paths of the rows, their names joined by `/`.
    fn paths(rows: &[(&str, Option<&str>)]) -> (Vec<String>, RowPositions) {
        let places = place(rows);
        let all: HashMap<CallpathId, &RowPosition> =
            places.rows.iter().chain(&places.ancestors).map(|p| (p.id, p)).collect();
        let path = |place: &RowPosition| {
            let (mut names, mut above) = (vec![place.name.as_str()], place.parent);
            while let Some(id) = above {
                names.push(&all[&id].name);
                above = all[&id].parent;
            }
            names.reverse();
            names.join("/")
        };
        (places.rows.iter().map(path).collect(), places)
    }

    #[test]
    fn the_parent_tells_where_a_name_begins() {
        let rows = [
            ("m-a-b-c", Some("m-a-b")),
            ("m", Some("null")),
            ("m-a-b", Some("m")),
            ("n-x", Some("null")),
        ];
        let (paths, places) = paths(&rows);
        assert_eq!(paths, ["m/a-b/c", "m", "m/a-b", "n-x"]);
        assert!(places.problems.is_empty() && places.ancestors.is_empty());
    }

    #[test]
    fn every_delimiter_means_the_same() {
        let one =
            |text: &'static str| place(&[("m", Some("null")), (text, Some("m"))]).rows.remove(1);
        assert_eq!(one("m<a"), one("m-a"));
        assert_eq!(one("m>a"), one("m-a"));
        assert_ne!(one("m<a").id, place(&[("a", Some("null"))]).rows[0].id);
    }

    #[test]
    fn without_the_column_the_id_alone_tells() {
        let (paths, places) = paths(&[("m", None), ("m<a-b", None), ("m<x<y", None)]);
        assert_eq!(paths, ["m", "m/a-b", "m/x/y"]);
        assert_eq!(places.ancestors.len(), 1, "m/x has no row");
        assert!(places.problems.is_empty());
    }

    #[test]
    fn parents_that_are_missing_or_wrong_are_said() {
        let (paths, places) = paths(&[
            ("m-a-b", Some("m-a")),
            ("m-a-c", Some("m-a")),
            ("q-r", Some("m")),
            ("z", Some("z")),
        ]);
        assert_eq!(paths, ["m/a/b", "m/a/c", "q/r", "z"]);
        let problems: Vec<_> = places.problems.iter().map(|(row, kind, _)| (*row, *kind)).collect();
        assert_eq!(
            problems,
            [
                (0, ProblemKind::ParentMissing),
                (2, ProblemKind::ParentDisagrees),
                (3, ProblemKind::ParentDisagrees)
            ]
        );
    }

    #[test]
    fn siblings_of_one_name_are_kept_apart() {
        let places = place(&[("m", Some("null")), ("m%~2", Some("null"))]).rows;
        assert_eq!((places[0].name.as_str(), places[1].name.as_str()), ("m", "m"));
        assert_ne!(places[0].id, places[1].id);
    }
}
