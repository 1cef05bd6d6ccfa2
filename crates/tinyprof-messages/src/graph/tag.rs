//! The graph of one rank.

use std::collections::BTreeMap;

use super::{NodeKey, Section, Tally};

/// A rank's activity graph.
///
/// Peers are relative to the rank, so that ranks that do the same have the same graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// The rank in the world, 0-based.
    pub rank: u32,
    /// The nodes.
    pub nodes: BTreeMap<NodeKey, Node>,
    /// The computations between two nodes, in ns.
    pub flows: BTreeMap<(NodeKey, NodeKey), Tally>,
    /// From the call that made a request to the call that completed it: the ns between them.
    pub completions: BTreeMap<(NodeKey, NodeKey), Tally>,
    /// The messages by node, direction and peer.
    pub messages: BTreeMap<MessageEdge, Messages>,
    /// Visits of nodes for which there was no room.
    pub lost: u64,
}

/// A node of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The times from entry to exit, in ns.
    pub times: Tally,
    /// The position among the nodes of the rank by their first visits.
    pub order: u32,
    /// The section in which it was visited first.
    pub section: Section,
    /// The number of visits by depth of folded recursion; empty where nothing is folded.
    pub depths: BTreeMap<u32, u64>,
}

/// The side of a message that a rank has recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// It has sent it.
    Out,
    /// It has received it.
    In,
    /// It is the root of a collective.
    Root,
    /// The peer is the root of its collective.
    Rooted,
}

/// The identity of messages that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageEdge {
    /// The rank's node: of a receive with a request, that which made the request.
    pub node: NodeKey,
    /// The rank's side.
    pub direction: Direction,
    /// True for receives from any source: which peers they have is chance.
    pub is_wildcard: bool,
    /// The peer's rank less that of the rank.
    pub offset: i32,
    /// The node of the sender, as its companion says. `None` for messages that are sent, and
    /// where no companion came.
    pub sender: Option<NodeKey>,
}

/// Messages, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Their sizes in bytes.
    pub bytes: Tally,
    /// The number of messages by the number of binary digits of their size.
    pub sizes: BTreeMap<u8, u64>,
    /// The waiting at their receives, in ns.
    pub waiting: Tally,
    /// The waiting that there would have been without measurement.
    pub compensated: Tally,
    /// Their transfers.
    pub transfer: Tally,
    /// The sum of the times from the entry of the sender to that of the receiver.
    pub entry_difference_ns: i64,
}

impl Messages {
    /// Adds a message that was sent.
    pub fn add_sent(&mut self, bytes: u64) {
        self.bytes.add(bytes);
        let class = u8::try_from(u64::BITS - bytes.leading_zeros()).unwrap_or(u8::MAX);
        *self.sizes.entry(class).or_default() += 1;
    }

    /// Adds other messages.
    pub fn absorb(&mut self, other: &Self) {
        self.bytes.absorb(other.bytes);
        for (class, count) in &other.sizes {
            *self.sizes.entry(*class).or_default() += count;
        }
        self.waiting.absorb(other.waiting);
        self.compensated.absorb(other.compensated);
        self.transfer.absorb(other.transfer);
        self.entry_difference_ns =
            self.entry_difference_ns.saturating_add(other.entry_difference_ns);
    }
}
