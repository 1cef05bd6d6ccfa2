//! The dictionary of a profile: every callpath once, in an order that all ranks find by themselves.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use super::{Callpath, CallpathId, CallpathIndex, Identity, Region};

/// Callpaths in canonical order: by depth, then by id, then by identity.
///
/// So a parent always precedes its children, and equal sets of callpaths give equal tables whatever the order
/// in which they were seen.
///
/// Callpaths are the same if their [identities](Self::identities) are. Different ones may have the same id, if
/// that is how the hash fell out: they are rows of their own, until
/// [`with_distinct_ids`](Self::with_distinct_ids) gives them ids of their own too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallpathTable {
    rows: Vec<Callpath>,
    identities: Vec<Identity>,
}

/// A callpath that names its parent by its position among others.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) id: CallpathId,
    pub(crate) parent: Option<usize>,
    pub(crate) region: Region,
}

impl CallpathTable {
    /// The table of these `(id, parent, region)` triples, in any order.
    ///
    /// A row whose parent is not among them, or whose parents form a circle, is dropped: it cannot be placed.
    /// Where several callpaths have the id of a parent, its children are those of the one with the least
    /// region.
    #[must_use]
    pub fn from_parents(triples: impl IntoIterator<Item = (CallpathId, Option<CallpathId>, Region)>) -> Self {
        Self::place(link(triples)).0
    }

    /// The table of these links, in any order, and the row of each; none for what cannot be placed.
    pub(crate) fn place(links: Vec<Link>) -> (Self, Vec<Option<CallpathIndex>>) {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
        let mut level: Vec<(Option<CallpathIndex>, Identity, usize)> = Vec::new();
        for (position, link) in links.iter().enumerate() {
            match link.parent {
                None => level.push((None, Identity::of(None, &link.region), position)),
                Some(parent) => {
                    if let Some(children) = children.get_mut(parent) {
                        children.push(position);
                    }
                }
            }
        }
        let mut table = Self::default();
        let mut placed = vec![None; links.len()];
        let mut links: Vec<Option<Link>> = links.into_iter().map(Some).collect();
        let mut depth = 0;
        while !level.is_empty() {
            let start = table.rows.len();
            table.add_level(depth, &level, &mut links);
            let of_identity: HashMap<Identity, usize> =
                (start..).zip(&table.identities[start..]).map(|(row, identity)| (*identity, row)).collect();
            let mut next = Vec::new();
            for (_, identity, position) in level {
                let row = CallpathIndex::new(of_identity[&identity]);
                placed[position] = Some(row);
                for &child in &children[position] {
                    if let Some(link) = &links[child] {
                        next.push((Some(row), Identity::of(Some(identity), &link.region), child));
                    }
                }
            }
            level = next;
            depth += 1;
        }
        (table, placed)
    }

    /// Adds the callpaths of one depth, each once: of what several say of the same, the least counts.
    fn add_level(
        &mut self,
        depth: u32,
        level: &[(Option<CallpathIndex>, Identity, usize)],
        links: &mut [Option<Link>],
    ) {
        let mut new: HashMap<Identity, Callpath> = HashMap::with_capacity(level.len());
        for &(parent, identity, position) in level {
            let Some(Link { id, region, .. }) = links[position].take() else { continue };
            match new.entry(identity) {
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(Callpath { id, parent, depth, region });
                }
                std::collections::hash_map::Entry::Occupied(mut known) => {
                    let known = known.get_mut();
                    known.id = known.id.min(id);
                    if region < known.region {
                        known.region = region;
                    }
                }
            }
        }
        let mut new: Vec<(Identity, Callpath)> = new.into_iter().collect();
        new.sort_unstable_by_key(|(identity, callpath)| (callpath.id, *identity));
        for (identity, callpath) in new {
            self.identities.push(identity);
            self.rows.push(callpath);
        }
    }

    /// Every callpath of either table, in canonical order: equal on all ranks that unite equal sets, in
    /// whatever order.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut links: Vec<Link> = self.links().collect();
        let ours = links.len();
        links.extend(other.links().map(|link| Link { parent: link.parent.map(|p| p + ours), ..link }));
        Self::place(links).0
    }

    fn links(&self) -> impl Iterator<Item = Link> + '_ {
        self.rows.iter().map(|row| Link {
            id: row.id,
            parent: row.parent.map(CallpathIndex::row),
            region: row.region.clone(),
        })
    }

    /// The same callpaths, all with different ids. Of those that share one, the callpath with the least
    /// identity keeps it, and the others get one that their identity leads to: on all ranks alike that hold the
    /// same set.
    #[must_use]
    pub fn with_distinct_ids(self) -> Self {
        let mut taken: HashSet<CallpathId> = self.rows.iter().map(|row| row.id).collect();
        if taken.len() == self.len() {
            return self;
        }
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
        Self::place(links).0
    }

    /// The rows for which `is_wanted`, and those above them.
    #[must_use]
    pub fn subset(&self, is_wanted: impl Fn(CallpathIndex) -> bool) -> Self {
        let mut kept = vec![false; self.len()];
        for (index, callpath) in self.iter().collect::<Vec<_>>().into_iter().rev() {
            kept[index.row()] |= is_wanted(index);
            if let (true, Some(parent)) = (kept[index.row()], callpath.parent) {
                kept[parent.row()] = true;
            }
        }
        let mut position = vec![0; self.len()];
        let mut links = Vec::new();
        for (row, link) in self.links().enumerate().filter(|(row, _)| kept[*row]) {
            position[row] = links.len();
            links.push(Link { parent: link.parent.map(|parent| position[parent]), ..link });
        }
        Self::place(links).0
    }

    /// What tells each callpath from all others, row by row.
    #[must_use]
    pub fn identities(&self) -> &[Identity] {
        &self.identities
    }

    /// Where each callpath stands.
    #[must_use]
    pub fn index_by_identity(&self) -> HashMap<Identity, CallpathIndex> {
        self.identities.iter().enumerate().map(|(row, id)| (*id, CallpathIndex::new(row))).collect()
    }

    /// 128 bits for each row over all that it says: equal rows have equal digests.
    #[must_use]
    pub fn digests(&self) -> Vec<u128> {
        self.identities.iter().zip(&self.rows).map(|(identity, row)| identity.digest_of_row(row)).collect()
    }

    /// The rows in canonical order.
    #[must_use]
    pub fn rows(&self) -> &[Callpath] {
        &self.rows
    }

    /// The number of callpaths.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether the table holds no callpath.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows with their indices.
    pub fn iter(&self) -> impl Iterator<Item = (CallpathIndex, &Callpath)> {
        self.rows.iter().enumerate().map(|(row, c)| (CallpathIndex::new(row), c))
    }

    /// The callpath at `index`.
    ///
    /// # Panics
    /// If `index` belongs to a longer table.
    #[must_use]
    pub fn get(&self, index: CallpathIndex) -> &Callpath {
        &self.rows[index.row()]
    }

    /// Where each id stands; the last of those that share one.
    #[must_use]
    pub fn index_by_id(&self) -> HashMap<CallpathId, CallpathIndex> {
        self.iter().map(|(index, c)| (c.id, index)).collect()
    }

    /// The children of every row, and the roots last (position `len()`), each in table order.
    #[must_use]
    pub fn children(&self) -> Vec<Vec<CallpathIndex>> {
        let mut children = vec![Vec::new(); self.len() + 1];
        for (index, callpath) in self.iter() {
            children[callpath.parent.map_or(self.len(), CallpathIndex::row)].push(index);
        }
        children
    }

    /// The names from the root region to `index`, joined as the paper writes them: `main<exchange<comm`.
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

    /// A number of 128 bits that does not depend on the order in which callpaths were seen; tables that are
    /// equal in all they say give equal numbers, and others different ones but for a chance of 2^-64 or less.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.digests().iter().fold(self.rows.len() as u128, |sum, digest| sum.wrapping_add(*digest))
    }
}

/// Finds the parents of `(id, parent, region)` triples among them.
pub(crate) fn link(triples: impl IntoIterator<Item = (CallpathId, Option<CallpathId>, Region)>) -> Vec<Link> {
    let mut parents = Vec::new();
    let mut links: Vec<Link> = Vec::new();
    let mut by_id: HashMap<CallpathId, usize> = HashMap::new();
    for (id, parent, region) in triples {
        let position = links.len();
        let known = by_id.entry(id).or_insert(position);
        if *known != position && region < links[*known].region {
            *known = position;
        }
        parents.push(parent);
        links.push(Link { id, parent: None, region });
    }
    // A parent that is not there is a position that is not there.
    let nowhere = links.len();
    for (link, parent) in links.iter_mut().zip(parents) {
        link.parent = parent.map(|id| by_id.get(&id).copied().unwrap_or(nowhere));
    }
    links
}
