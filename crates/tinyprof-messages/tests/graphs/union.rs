//! The graphs of all ranks as one: whatever is received was sent.

use std::collections::BTreeMap;

use tinyprof_messages::graph::{
    Direction, MessageEdge, Messages, Node, NodeKey, RankSet, Tag, Tally,
};

/// The union of the graphs of some ranks: what they did together, and who did it.
///
/// Associative and commutative: aggregators unite in any order and grouping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Union {
    /// The ranks that are in it.
    pub(crate) ranks: RankSet,
    /// The nodes, each with its ranks. Order and section are the lowest.
    pub(crate) nodes: BTreeMap<NodeKey, (Node, RankSet)>,
    /// The computations between nodes.
    pub(crate) flows: BTreeMap<(NodeKey, NodeKey), Tally>,
    /// The completions of requests.
    pub(crate) completions: BTreeMap<(NodeKey, NodeKey), Tally>,
    /// The messages, by the side that has recorded them.
    pub(crate) messages: BTreeMap<MessageEdge, Messages>,
    /// Visits of nodes for which there was no room.
    pub(crate) lost: u64,
}

/// The messages that a node has sent to the peer at an offset, counted on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sides {
    /// Messages that were sent.
    pub(crate) sent: u64,
    /// Messages that were received.
    pub(crate) received: u64,
}

impl Union {
    /// Adds the graph of a rank that is not in the union.
    pub(crate) fn add(&mut self, tag: &Tag) {
        let ranks: RankSet = std::iter::once(tag.rank).collect();
        for (key, node) in &tag.nodes {
            self.add_node(*key, node, &ranks);
        }
        add_tallies(&mut self.flows, &tag.flows);
        add_tallies(&mut self.completions, &tag.completions);
        self.add_messages(&tag.messages);
        self.lost += tag.lost;
        self.ranks.absorb(&ranks);
    }

    /// Adds the union of other ranks.
    pub(crate) fn absorb(&mut self, other: &Self) {
        for (key, (node, ranks)) in &other.nodes {
            self.add_node(*key, node, ranks);
        }
        add_tallies(&mut self.flows, &other.flows);
        add_tallies(&mut self.completions, &other.completions);
        self.add_messages(&other.messages);
        self.lost += other.lost;
        self.ranks.absorb(&other.ranks);
    }

    fn add_node(&mut self, key: NodeKey, node: &Node, ranks: &RankSet) {
        let (united, of) = self.nodes.entry(key).or_insert_with(|| {
            let times = Tally::EMPTY;
            (Node { times, depths: BTreeMap::new(), ..node.clone() }, RankSet::default())
        });
        united.times.absorb(node.times);
        united.order = united.order.min(node.order);
        if node.section < united.section {
            united.section = node.section.clone();
        }
        for (depth, count) in &node.depths {
            *united.depths.entry(*depth).or_default() += count;
        }
        of.absorb(ranks);
    }

    fn add_messages(&mut self, messages: &BTreeMap<MessageEdge, Messages>) {
        for (edge, messages) in messages {
            self.messages.entry(*edge).or_default().absorb(messages);
        }
    }

    /// Returns the messages by sending node and offset of the receiver, as counted by those who
    /// sent and by those who received them. They differ by messages that were never received, or
    /// whose companion never came.
    pub(crate) fn sides(&self) -> BTreeMap<(NodeKey, i32), Sides> {
        let mut sides: BTreeMap<(NodeKey, i32), Sides> = BTreeMap::new();
        for (edge, messages) in &self.messages {
            match (edge.direction, edge.sender) {
                (Direction::Out, _) => {
                    let side = sides.entry((edge.node, edge.offset)).or_default();
                    side.sent += messages.bytes.count;
                }
                (Direction::In, Some(sender)) => {
                    let side = sides.entry((sender, edge.offset.wrapping_neg())).or_default();
                    side.received += messages.bytes.count;
                }
                (Direction::In, None) | (Direction::Root | Direction::Rooted, _) => {}
            }
        }
        sides
    }
}

fn add_tallies(
    to: &mut BTreeMap<(NodeKey, NodeKey), Tally>,
    from: &BTreeMap<(NodeKey, NodeKey), Tally>,
) {
    for (edge, tally) in from {
        to.entry(*edge).or_default().absorb(*tally);
    }
}
