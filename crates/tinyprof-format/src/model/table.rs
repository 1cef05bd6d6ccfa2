//! The dictionary of a profile: each callpath once, in an order that does not depend on the rank.

mod children;
mod place;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Callpath, CallpathId, CallpathIndex, Identity, Region};

pub use children::Children;
pub(crate) use place::{Link, link};

/// Callpaths in canonical order: by depth, then by id, then by identity.
///
/// A parent therefore always precedes its children, and equal sets of callpaths give equal tables,
/// regardless of the order in which they were seen.
///
/// Callpaths are equal if their [identities](Self::identities) are. Different callpaths may have
/// the same id, if their hashes collide. They have separate rows, and
/// [`with_distinct_ids`](Self::with_distinct_ids) gives them separate ids too.
///
/// Clones share their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallpathTable {
    rows: Arc<Vec<Callpath>>,
    identities: Arc<Vec<Identity>>,
}

impl CallpathTable {
    /// Builds the table of `(id, parent, region)` triples, which may be in any order.
    ///
    /// A row is dropped if its parent is not among them, or if its parents form a cycle: it cannot
    /// be placed. Where several callpaths have the id of a parent, the one with the least region
    /// gets its children.
    #[must_use]
    pub fn from_parents<R: Into<Arc<Region>>>(
        triples: impl IntoIterator<Item = (CallpathId, Option<CallpathId>, R)>,
    ) -> Self {
        let triples = triples.into_iter().map(|(id, parent, region)| (id, parent, region.into()));
        Self::place(&link(triples)).0
    }

    /// Returns every callpath of either table, in canonical order. The result is equal on all ranks
    /// that unite equal sets, in any order.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        if self.is_empty() {
            return other.clone();
        }
        let mut links = Vec::with_capacity(self.len() + other.len());
        links.extend(self.links());
        let ours = CallpathIndex::new(links.len()).number();
        links.extend(
            other.links().map(|link| Link { parent: link.parent.map(|p| p + ours), ..link }),
        );
        Self::place(&links).0
    }

    fn links(&self) -> impl Iterator<Item = Link> + '_ {
        self.rows.iter().map(|row| Link {
            id: row.id,
            parent: row.parent.map(CallpathIndex::number),
            region: Arc::clone(&row.region),
        })
    }

    /// Changes ids so that no two callpaths share one. Of callpaths with the same id, the one with
    /// the least identity keeps it, and the others get ids derived from their identities. All ranks
    /// that hold the same set get the same ids.
    #[must_use]
    pub fn with_distinct_ids(self) -> Self {
        if self.has_distinct_ids() {
            return self;
        }
        let mut taken: HashSet<CallpathId> = self.rows.iter().map(|row| row.id).collect();
        let mut in_order: Vec<usize> = (0..self.len()).collect();
        in_order.sort_unstable_by_key(|&row| (self.rows[row].id, self.identities[row]));
        let mut links: Vec<Link> = self.links().collect();
        for pair in in_order.windows(2) {
            let (before, here) = (pair[0], pair[1]);
            if self.rows[before].id != self.rows[here].id {
                continue;
            }
            let mut id = self.rows[here].id;
            while !taken.insert(id) {
                id = id.apart(self.identities[here].word());
            }
            links[here].id = id;
        }
        Self::place(&links).0
    }

    /// Returns true if no two callpaths share an id.
    #[must_use]
    pub fn has_distinct_ids(&self) -> bool {
        // A sorted list takes a quarter of the memory of a set.
        let mut ids: Vec<CallpathId> = self.rows.iter().map(|row| row.id).collect();
        ids.sort_unstable();
        ids.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Returns the rows for which `is_wanted` is true, and all their ancestors.
    #[must_use]
    pub fn subset(&self, is_wanted: impl Fn(CallpathIndex) -> bool) -> Self {
        let mut kept = vec![false; self.len()];
        for (row, callpath) in self.rows.iter().enumerate().rev() {
            kept[row] |= is_wanted(CallpathIndex::new(row));
            if let (true, Some(parent)) = (kept[row], callpath.parent) {
                kept[parent.row()] = true;
            }
        }
        let mut position = vec![0; self.len()];
        let mut links = Vec::new();
        for (row, link) in self.links().enumerate().filter(|(row, _)| kept[*row]) {
            position[row] = CallpathIndex::new(links.len()).number();
            links
                .push(Link { parent: link.parent.map(|parent| position[parent as usize]), ..link });
        }
        Self::place(&links).0
    }

    /// Returns the table with other regions: those that `change` returns, where it does. The ids
    /// stay, and so does the order, if no two callpaths share an id.
    #[must_use]
    pub fn with_regions(&self, change: impl Fn(&Region) -> Option<Region>) -> Self {
        let changed = self.links().map(|link| Link {
            region: change(&link.region).map_or(link.region, Arc::new),
            ..link
        });
        Self::place(&changed.collect::<Vec<_>>()).0
    }

    /// Returns the identity of each callpath, row by row.
    #[must_use]
    pub fn identities(&self) -> &[Identity] {
        &self.identities
    }

    /// Returns the index of each callpath by identity.
    #[must_use]
    pub fn index_by_identity(&self) -> HashMap<Identity, CallpathIndex> {
        self.identities.iter().enumerate().map(|(row, id)| (*id, CallpathIndex::new(row))).collect()
    }

    /// Returns a digest of 128 bits for each row, over all its fields. Equal rows have equal
    /// digests.
    #[must_use]
    pub fn digests(&self) -> Vec<u128> {
        self.identities
            .iter()
            .zip(&*self.rows)
            .map(|(identity, row)| identity.digest_of_row(row))
            .collect()
    }

    /// Returns the rows in canonical order.
    #[must_use]
    pub fn rows(&self) -> &[Callpath] {
        &self.rows
    }

    /// Returns the number of callpaths.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if the table holds no callpath.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the rows with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (CallpathIndex, &Callpath)> {
        self.rows.iter().enumerate().map(|(row, c)| (CallpathIndex::new(row), c))
    }

    /// Returns the callpath at `index`.
    ///
    /// # Panics
    /// If `index` belongs to a longer table.
    #[must_use]
    pub fn get(&self, index: CallpathIndex) -> &Callpath {
        &self.rows[index.row()]
    }

    /// Returns the index of each id; of callpaths that share an id, the last.
    #[must_use]
    pub fn index_by_id(&self) -> HashMap<CallpathId, CallpathIndex> {
        self.iter().map(|(index, c)| (c.id, index)).collect()
    }

    /// Returns the children of every row, and the roots, each in table order.
    #[must_use]
    pub fn children(&self) -> Children {
        Children::of(
            self.len(),
            self.rows.iter().map(|callpath| callpath.parent.map(CallpathIndex::row)),
        )
    }

    /// Returns the names from the root region to `index`, joined as in the paper:
    /// `main<exchange<comm`.
    #[must_use]
    pub fn path(&self, index: CallpathIndex) -> String {
        let mut names = Vec::new();
        let mut at = Some(index);
        while let Some(here) = at {
            names.push(self.get(here).region.name.as_str());
            at = self.get(here).parent;
        }
        names.reverse();
        names.join("<")
    }

    /// Returns a number of 128 bits that does not depend on the order in which callpaths were seen.
    /// Tables that are equal in all fields give equal numbers. Different tables give different
    /// numbers, except with a probability of at most 2^-64.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.digests().iter().fold(self.rows.len() as u128, |sum, digest| sum.wrapping_add(*digest))
    }
}
