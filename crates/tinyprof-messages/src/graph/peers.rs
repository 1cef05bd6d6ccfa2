//! Peers of ranks, relative or absolute: whichever makes more ranks alike.
//!
//! A neighbour is the same for all ranks relative to them (-1), the root is the same for all as a
//! number (0). Which of both a node means is what fewer distinct sets of peers tell.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::digest::Digest;
use super::tag::{Direction, MessageEdge, Tag};
use super::{NodeKey, tally::Tally};

/// Messages of a rank that differ by their peer alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Slot {
    pub(super) node: NodeKey,
    pub(super) direction: Direction,
    pub(super) is_wildcard: bool,
    pub(super) sender: Option<NodeKey>,
}

/// The peers of a rank in a slot, with the numbers of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Peers {
    pub(super) relative: Vec<(i64, u64)>,
    pub(super) absolute: Vec<(i64, u64)>,
    pub(super) bytes: Tally,
}

/// Returns a rank's peers by slot, in order. Distances are those of a ring, so that the
/// neighbour of the last rank is the first.
pub(super) fn by_slot(tag: &Tag, ranks: u32) -> Vec<(Slot, Peers)> {
    let mut slots: Vec<(Slot, Peers)> = Vec::new();
    let mut edges: Vec<_> = tag.messages.iter().collect();
    edges.sort_by_key(|(edge, _)| (slot(edge), edge.offset));
    for (edge, messages) in edges {
        if slots.last().is_none_or(|(last, _)| *last != slot(edge)) {
            slots.push((slot(edge), Peers::default()));
        }
        let Some((_, peers)) = slots.last_mut() else { continue };
        let count = messages.bytes.count;
        peers.relative.push((around(edge.offset.into(), ranks), count));
        peers.absolute.push((i64::from(tag.rank) + i64::from(edge.offset), count));
        peers.bytes.absorb(messages.bytes);
    }
    for (_, peers) in &mut slots {
        peers.relative.sort_unstable();
    }
    slots
}

/// Returns the nodes that receive from any source, whose counts are chance to some degree.
pub(super) fn wildcards(tag: &Tag) -> BTreeSet<NodeKey> {
    tag.messages.keys().filter(|edge| edge.is_wildcard).map(|edge| edge.node).collect()
}

fn slot(edge: &MessageEdge) -> Slot {
    let MessageEdge { node, direction, is_wildcard, sender, .. } = *edge;
    Slot { node, direction, is_wildcard, sender }
}

/// Returns the forward distance on a ring of `ranks` ranks.
fn around(offset: i64, ranks: u32) -> i64 {
    offset.rem_euclid(i64::from(ranks.max(1)))
}

/// Returns a digest of a set of peers, whatever the numbers of their messages.
fn digest(peers: &[(i64, u64)]) -> u64 {
    peers.iter().fold(Digest::new(5), |digest, (peer, _)| digest.word(peer.cast_unsigned())).0
}

/// The distinct sets of peers of each slot: relative, and absolute.
#[derive(Debug, Default)]
pub(super) struct Distinct(HashMap<Slot, [HashSet<u64>; 2]>);

impl Distinct {
    /// Adds the peers of a rank.
    pub(super) fn add(&mut self, rank: &[(Slot, Peers)]) {
        for (slot, peers) in rank {
            let [relative, fixed] = self.0.entry(*slot).or_default();
            relative.insert(digest(&peers.relative));
            fixed.insert(digest(&peers.absolute));
        }
    }

    /// Returns the slots that have fewer sets of absolute peers.
    pub(super) fn absolute(self) -> Absolute {
        let fewer =
            self.0.into_iter().filter(|(_, [relative, fixed])| fixed.len() < relative.len());
        Absolute(fewer.map(|(slot, _)| slot).collect())
    }
}

/// The slots whose peers are absolute.
#[derive(Debug, Default)]
pub(super) struct Absolute(HashSet<Slot>);

impl Absolute {
    /// Returns the peers of a slot, and the numbers of their messages. Those of wildcards are
    /// chance: they are one peer.
    pub(super) fn peers<'a>(&self, slot: &Slot, peers: &'a Peers) -> &'a [(i64, u64)] {
        if slot.is_wildcard {
            &[]
        } else if self.0.contains(slot) {
            &peers.absolute
        } else {
            &peers.relative
        }
    }
}
