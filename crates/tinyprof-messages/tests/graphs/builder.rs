//! Makes the graph of a rank from its visits and calls in order, for tests and the example.

use std::collections::{BTreeMap, BTreeSet};

use tinyprof_messages::graph::{
    Direction, Folded, MessageEdge, Messages, Node, NodeKey, NodeKind, Place, Section, Tag, Tally,
    folded,
};
use tinyprof_messages::time::Call;

/// A received message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    /// Its size.
    pub(crate) bytes: u64,
    /// The waiting for it, in ns.
    pub(crate) waiting_ns: u64,
    /// The waiting that there would have been without measurement.
    pub(crate) compensated_ns: u64,
    /// Its transfer.
    pub(crate) transfer_ns: u64,
    /// The time from the entry of the sender to that of the receiver.
    pub(crate) entry_difference_ns: i64,
}

/// Builds the graph of a rank. Times are in ns on the rank's clock.
#[derive(Clone, Debug)]
pub(crate) struct Builder {
    tag: Tag,
    most_nodes: usize,
    stack: Vec<u64>,
    /// The folded stack, kept as long as the stack does not change.
    callpath: Folded,
    loops: Vec<Loop>,
    /// The loops of each section that have been left.
    left: BTreeMap<Vec<Place>, BTreeSet<u64>>,
    latest: (NodeKey, u64),
}

#[derive(Clone, Copy, Debug)]
struct Loop {
    callpath: u64,
    depth: usize,
}

impl Builder {
    /// Begins a graph that has at most this many nodes, besides that for all others.
    pub(crate) fn new(rank: u32, most_nodes: usize, now_ns: u64) -> Self {
        let mut builder = Self {
            tag: Tag { rank, ..Tag::default() },
            most_nodes,
            stack: Vec::new(),
            callpath: folded(&[]),
            loops: Vec::new(),
            left: BTreeMap::new(),
            latest: (NodeKey::BEGIN, now_ns),
        };
        builder.add_visit(NodeKey::BEGIN, 0);
        builder
    }

    /// Enters a region.
    pub(crate) fn enter(&mut self, region: u64) {
        self.stack.push(region);
        self.callpath = folded(&self.stack);
    }

    /// Leaves the innermost region.
    pub(crate) fn leave(&mut self) {
        self.stack.pop();
        self.callpath = folded(&self.stack);
    }

    /// Enters a loop, which is a region, too. Call [`iterate`](Self::iterate) for each iteration.
    pub(crate) fn enter_loop(&mut self, region: u64) {
        self.enter(region);
        self.loops.push(Loop { callpath: self.callpath.id(), depth: self.stack.len() });
    }

    /// Begins an iteration of the innermost loop.
    pub(crate) fn iterate(&mut self, now_ns: u64) {
        if let Some(innermost) = self.loops.last() {
            let key = NodeKey { callpath: innermost.callpath, kind: NodeKind::LoopEntry };
            self.visit(key, Call { entered_ns: now_ns, left_ns: now_ns });
        }
    }

    /// Leaves the innermost loop, and the regions in it.
    pub(crate) fn leave_loop(&mut self, now_ns: u64) {
        let Some(Loop { callpath, depth }) = self.loops.pop() else { return };
        self.stack.truncate(depth - 1);
        self.callpath = folded(&self.stack);
        let around = self.around();
        self.left.entry(around).or_default().insert(callpath);
        let key = NodeKey { callpath, kind: NodeKind::LoopExit };
        self.visit(key, Call { entered_ns: now_ns, left_ns: now_ns });
    }

    /// Adds a call of the function with this number. Returns its node.
    pub(crate) fn call(&mut self, function: u16, call: Call) -> NodeKey {
        let key = NodeKey { callpath: self.callpath.id(), kind: NodeKind::Call(function) };
        self.visit(key, call)
    }

    /// Adds a message to a rank of the world.
    pub(crate) fn sent(&mut self, node: NodeKey, to: u32, bytes: u64) {
        self.messages(node, Direction::Out, false, to, None).add_sent(bytes);
    }

    /// Adds a message from a rank of the world, which `sender`'s node has sent.
    pub(crate) fn received(
        &mut self,
        node: NodeKey,
        from: u32,
        sender: Option<NodeKey>,
        is_wildcard: bool,
        message: &Received,
    ) {
        let messages = self.messages(node, Direction::In, is_wildcard, from, sender);
        messages.add_sent(message.bytes);
        messages.waiting.add(message.waiting_ns);
        messages.compensated.add(message.compensated_ns);
        messages.transfer.add(message.transfer_ns);
        messages.entry_difference_ns =
            messages.entry_difference_ns.saturating_add(message.entry_difference_ns);
    }

    /// Adds the root of a collective, as rank of the world.
    pub(crate) fn rooted(&mut self, node: NodeKey, root: u32, bytes: u64) {
        let is_root = root == self.tag.rank;
        let direction = if is_root { Direction::Root } else { Direction::Rooted };
        self.messages(node, direction, false, root, None).add_sent(bytes);
    }

    /// Adds the completion of a request, this many ns after the call that made it.
    pub(crate) fn completed(&mut self, request: NodeKey, wait: NodeKey, ns: u64) {
        self.tag.completions.entry((request, wait)).or_default().add(ns);
    }

    /// Ends the graph.
    pub(crate) fn end(mut self, now_ns: u64) -> Tag {
        self.visit(NodeKey::END, Call { entered_ns: now_ns, left_ns: now_ns });
        self.tag
    }

    /// Visits a node, or that for all others if there is no room. Returns the node.
    fn visit(&mut self, key: NodeKey, call: Call) -> NodeKey {
        let has_room = self.tag.nodes.len() < self.most_nodes;
        let is_kept = has_room || key == NodeKey::END || self.tag.nodes.contains_key(&key);
        let key = if is_kept { key } else { NodeKey::OTHER };
        self.tag.lost += u64::from(!is_kept);
        let (previous, left_ns) = self.latest;
        let flow: &mut Tally = self.tag.flows.entry((previous, key)).or_default();
        flow.add(call.entered_ns.saturating_sub(left_ns));
        self.add_visit(key, call.duration_ns());
        self.latest = (key, call.left_ns);
        key
    }

    fn add_visit(&mut self, key: NodeKey, ns: u64) {
        let order = u32::try_from(self.tag.nodes.len()).unwrap_or(u32::MAX);
        if !self.tag.nodes.contains_key(&key) {
            let section = self.section(key);
            let node = Node { order, section, ..Node::default() };
            self.tag.nodes.insert(key, node);
        }
        if let Some(node) = self.tag.nodes.get_mut(&key) {
            node.times.add(ns);
            if self.callpath.depth > 0 {
                let depth = u32::try_from(self.callpath.depth).unwrap_or(u32::MAX);
                *node.depths.entry(depth).or_default() += 1;
            }
        }
    }

    fn messages(
        &mut self,
        node: NodeKey,
        direction: Direction,
        is_wildcard: bool,
        peer: u32,
        sender: Option<NodeKey>,
    ) -> &mut Messages {
        let offset = peer.cast_signed().wrapping_sub(self.tag.rank.cast_signed());
        let edge = MessageEdge { node, direction, is_wildcard, offset, sender };
        self.tag.messages.entry(edge).or_default()
    }

    /// The loops around the present place.
    fn around(&self) -> Vec<Place> {
        self.loops.iter().map(|outer| Place::Loop(outer.callpath)).collect()
    }

    /// The section of a node that is visited now for the first time.
    fn section(&self, key: NodeKey) -> Section {
        let mut places = self.around();
        if key.kind == NodeKind::LoopExit {
            // A loop's exit belongs to the loop.
            places.push(Place::Loop(key.callpath));
            places.push(Place::Straight(0));
            return Section { places };
        }
        let before = self.left.get(&places).map_or(0, BTreeSet::len);
        places.push(Place::Straight(u32::try_from(before).unwrap_or(u32::MAX)));
        Section { places }
    }
}
