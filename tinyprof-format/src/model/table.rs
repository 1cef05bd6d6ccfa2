//! The dictionary of a profile: every callpath once, in an order that all ranks find by themselves.

use std::collections::HashMap;

use super::{Callpath, CallpathId, CallpathIndex, Region};

/// Callpaths in canonical order: by depth, then by id. So a parent always precedes its children, and equal
/// sets of callpaths give equal tables whatever the order in which they were seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallpathTable {
    rows: Vec<Callpath>,
}

impl CallpathTable {
    /// The table of these `(id, parent, region)` triples, in any order; the first of equal ids counts.
    ///
    /// A row whose parent is not among them, or whose parents form a circle, is dropped: it cannot be placed.
    #[must_use]
    pub fn from_parents(triples: impl IntoIterator<Item = (CallpathId, Option<CallpathId>, Region)>) -> Self {
        let mut waiting: HashMap<Option<CallpathId>, Vec<(CallpathId, Region)>> = HashMap::new();
        let mut seen = std::collections::HashSet::new();
        for (id, parent, region) in triples {
            if seen.insert(id) {
                waiting.entry(parent).or_default().push((id, region));
            }
        }
        let mut rows = Vec::with_capacity(seen.len());
        let mut level: Vec<(Option<CallpathIndex>, CallpathId, Region)> =
            waiting.remove(&None).unwrap_or_default().into_iter().map(|(id, r)| (None, id, r)).collect();
        let mut depth = 0;
        while !level.is_empty() {
            level.sort_by_key(|(_, id, _)| *id);
            let mut next = Vec::new();
            for (parent, id, region) in level {
                let index = CallpathIndex::new(rows.len());
                rows.push(Callpath { id, parent, depth, region });
                let children = waiting.remove(&Some(id)).unwrap_or_default();
                next.extend(children.into_iter().map(|(id, region)| (Some(index), id, region)));
            }
            level = next;
            depth += 1;
        }
        Self { rows }
    }

    /// Every callpath of either table, in canonical order: equal on all ranks that unite equal sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::from_parents(self.triples().chain(other.triples()))
    }

    fn triples(&self) -> impl Iterator<Item = (CallpathId, Option<CallpathId>, Region)> + '_ {
        self.rows.iter().map(|c| (c.id, c.parent.map(|p| self.rows[p.row()].id), c.region.clone()))
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

    /// Where each id stands.
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

    /// A number of 128 bits that does not depend on the order in which callpaths were seen; equal sets of
    /// callpath ids give equal numbers, and different sets different ones but for a chance of 2^-64 or less.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        self.rows.iter().fold(self.rows.len() as u128, |sum, callpath| {
            let bits = callpath.id.to_bits();
            let spread = u128::from(bits).wrapping_mul(0x2d35_8dcc_aa6c_78a5_9e37_79b9_7f4a_7c15);
            sum.wrapping_add(spread ^ (spread >> 61))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Mode, RegionKind, SiteId};

    fn region(site: u64) -> Region {
        Region {
            site: SiteId::from_bits(site),
            name: format!("r{site}"),
            module: "m".into(),
            file: "f.rs".into(),
            line: 1,
            column: 1,
            kind: RegionKind::Function,
            mode: Mode::Total,
            rank_local: false,
            constants: [].into(),
        }
    }

    fn chain(sites: &[u64]) -> Vec<(CallpathId, Option<CallpathId>, Region)> {
        let mut parent = None;
        sites
            .iter()
            .map(|&site| {
                let s = SiteId::from_bits(site);
                let id = parent.map_or(CallpathId::root(s), |p: CallpathId| p.child(s));
                (id, parent.replace(id), region(site))
            })
            .collect()
    }

    #[test]
    fn the_order_of_arrival_does_not_matter() {
        let mut triples = chain(&[1, 2, 3]);
        triples.extend(chain(&[1, 4]));
        let forward = CallpathTable::from_parents(triples.clone());
        triples.reverse();
        let backward = CallpathTable::from_parents(triples);
        assert_eq!(forward, backward);
        assert_eq!(forward.fingerprint(), backward.fingerprint());
        assert_eq!(forward.len(), 4);
        for (index, callpath) in forward.iter() {
            assert!(callpath.parent.is_none_or(|p| p < index));
        }
    }

    #[test]
    fn a_union_holds_every_callpath_once() {
        let left = CallpathTable::from_parents(chain(&[1, 2]));
        let right = CallpathTable::from_parents(chain(&[1, 3]));
        let both = left.union(&right);
        assert_eq!(both, right.union(&left));
        let mut paths: Vec<_> = both.iter().map(|(i, _)| both.path(i)).collect();
        paths.sort();
        assert_eq!(paths, ["r1", "r1<r2", "r1<r3"]);
        assert_ne!(left.fingerprint(), right.fingerprint());
    }

    #[test]
    fn orphans_and_circles_are_dropped() {
        let id = CallpathId::from_bits;
        let table = CallpathTable::from_parents([
            (id(1), None, region(1)),
            (id(2), Some(id(9)), region(2)),
            (id(3), Some(id(4)), region(3)),
            (id(4), Some(id(3)), region(4)),
        ]);
        assert_eq!(table.rows().iter().map(|c| c.id).collect::<Vec<_>>(), [id(1)]);
    }
}
