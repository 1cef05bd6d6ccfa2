//! The canonical order of callpaths, built level by level from the roots.

use std::sync::Arc;

use super::{CallpathTable, Children};
use crate::model::identity::Identities;
use crate::model::{Callpath, CallpathId, CallpathIndex, Identity, Region};

/// A callpath that names its parent by its position in a list.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) id: CallpathId,
    /// Out of range if the parent is missing.
    pub(crate) parent: Option<u32>,
    pub(crate) region: Arc<Region>,
}

/// A link of the current level.
struct Here {
    identity: Identity,
    position: u32,
}

/// The links of a level that are the same callpath.
struct Same {
    id: CallpathId,
    identity: Identity,
    /// The position of the first of them in the level, and their number.
    first: u32,
    links: u32,
}

impl CallpathTable {
    /// Builds the table of `links`, which may be in any order, and returns the row of each; none
    /// for links that cannot be placed.
    ///
    /// # Cost
    /// About 120 bytes per link while it runs, beside the table.
    pub(crate) fn place(links: &[Link]) -> (Self, Vec<Option<CallpathIndex>>) {
        let parents = links.iter().map(|link| link.parent.map(|parent| parent as usize));
        let children = Children::of(links.len(), parents);
        let mut identities = Identities::for_regions(links.len());
        let mut table = Rows {
            rows: Vec::with_capacity(links.len()),
            identities: Vec::with_capacity(links.len()),
        };
        let mut placed = vec![None; links.len()];
        let mut here = |position: u32, above: Option<Identity>| Here {
            identity: identities.identity(above, &links[position as usize].region),
            position,
        };
        let roots = (0..).zip(links).filter(|(_, link)| link.parent.is_none());
        let mut level: Vec<Here> = roots.map(|(position, _)| here(position, None)).collect();
        let mut depth = 0;
        while !level.is_empty() {
            level.sort_unstable_by_key(|link| link.identity);
            for same in callpaths_of(&level, links) {
                table.add(depth, &same, &level, links, &mut placed);
            }
            let below = level.iter().map(|link| children[link.position as usize].len()).sum();
            let mut next = Vec::with_capacity(below);
            for link in &level {
                let below = &children[link.position as usize];
                next.extend(below.iter().map(|child| here(child.number(), Some(link.identity))));
            }
            level = next;
            depth += 1;
        }
        if table.rows.len() < links.len() {
            table.rows.shrink_to_fit();
            table.identities.shrink_to_fit();
        }
        let Rows { rows, identities } = table;
        (Self { rows: Arc::new(rows), identities: Arc::new(identities) }, placed)
    }
}

/// A table under construction.
struct Rows {
    rows: Vec<Callpath>,
    identities: Vec<Identity>,
}

impl Rows {
    /// Adds a callpath. Where its links disagree on the region, the least region is used.
    fn add(
        &mut self,
        depth: u32,
        same: &Same,
        level: &[Here],
        links: &[Link],
        placed: &mut [Option<CallpathIndex>],
    ) {
        let row = CallpathIndex::new(self.rows.len());
        let members = &level[same.first as usize..][..same.links as usize];
        let mut region: Option<&Arc<Region>> = None;
        let mut parent = None;
        for member in members {
            let link = &links[member.position as usize];
            placed[member.position as usize] = Some(row);
            parent = link.parent.and_then(|parent| placed[parent as usize]);
            if region.is_none_or(|known| !Arc::ptr_eq(known, &link.region) && link.region < *known)
            {
                region = Some(&link.region);
            }
        }
        let Some(region) = region.cloned() else { return };
        self.identities.push(same.identity);
        self.rows.push(Callpath { id: same.id, parent, depth, region });
    }
}

/// Returns the callpaths of a level in canonical order. The level is in the order of identities.
fn callpaths_of(level: &[Here], links: &[Link]) -> Vec<Same> {
    let count = level.chunk_by(|a, b| a.identity == b.identity).count();
    let mut callpaths = Vec::with_capacity(count);
    let mut first = 0;
    for same in level.chunk_by(|a, b| a.identity == b.identity) {
        let ids = same.iter().map(|link| links[link.position as usize].id);
        let links = CallpathIndex::new(same.len()).number();
        let id = ids.min().unwrap_or(CallpathId::from_bits(0));
        callpaths.push(Same { id, identity: same[0].identity, first, links });
        first += links;
    }
    callpaths.sort_unstable_by_key(|same| (same.id, same.identity));
    callpaths
}

/// Finds the parents of `(id, parent, region)` triples among them. Where several triples have the
/// id of a parent, the one with the least region is used, and the first of equal ones.
///
/// Both lists of ids are sorted and walked side by side, which takes half the memory of a hash
/// table.
pub(crate) fn link(
    triples: impl IntoIterator<Item = (CallpathId, Option<CallpathId>, Arc<Region>)>,
) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    let mut wanted: Vec<(CallpathId, u32)> = Vec::new();
    for (id, parent, region) in triples {
        let position = CallpathIndex::new(links.len()).number();
        wanted.extend(parent.map(|parent| (parent, position)));
        // Out of range until the parent is found.
        links.push(Link { id, parent: parent.map(|_| u32::MAX), region });
    }
    let mut known: Vec<(CallpathId, u32)> =
        (0..).zip(&links).map(|(at, link)| (link.id, at)).collect();
    known.sort_unstable();
    wanted.sort_unstable();
    let mut wanted = wanted.into_iter().peekable();
    for same in known.chunk_by(|a, b| a.0 == b.0) {
        let id = same[0].0;
        while wanted.next_if(|(parent, _)| *parent < id).is_some() {}
        let mut meant = None;
        while let Some((_, child)) = wanted.next_if(|(parent, _)| *parent == id) {
            let least =
                || same.iter().map(|&(_, at)| at).min_by_key(|&at| &links[at as usize].region);
            let parent = meant.or_else(least);
            meant = parent;
            links[child as usize].parent = parent;
        }
    }
    links
}
