//! What ranks did, as plain lists by rank: small enough for thousands of ranks.

use std::collections::BTreeSet;

use tinyprof_format::model::{
    CallpathValues, Edge, EdgeKey, EdgeKind, ExecutionSummary, MessageKey, MessageKind,
};
use tinyprof_messages::graph::Tally;

use super::nodes::Nodes;

/// The calls of a node on a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visited {
    pub(super) node: u32,
    /// The position among the rank's edges of the first one that leads here.
    pub(super) order: u32,
    pub(super) times: Tally,
    /// The time until partners came, in ns.
    pub(super) waiting_ns: u64,
    /// Whether a message or collective operation was seen.
    pub(super) communicates: bool,
    /// The bytes of collective operations: put in, and got.
    pub(super) collective_bytes: [u64; 2],
}

/// A computation between two nodes. `from` is none at the begin of the recording.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) from: Option<u32>,
    pub(super) to: u32,
    pub(super) order: u32,
    pub(super) times: Tally,
}

/// Messages of a node with a partner, as the rank itself counts them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchanged {
    pub(super) node: u32,
    pub(super) is_out: bool,
    pub(super) partner: i32,
    pub(super) count: u64,
    pub(super) bytes: u64,
}

/// An edge from another rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming {
    pub(super) kind: EdgeKind,
    pub(super) partner: i32,
    pub(super) from: Option<u32>,
    pub(super) to: u32,
    pub(super) edge: Edge,
}

/// What one rank did. Nodes are sorted by their numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct OfRank {
    pub(super) visited: Vec<Visited>,
    pub(super) flows: Vec<Flow>,
    /// From the call that made a request to the call that completed it.
    pub(super) completions: Vec<(u32, u32, Tally)>,
    pub(super) exchanged: Vec<Exchanged>,
    pub(super) incoming: Vec<Incoming>,
}

/// What all ranks did.
#[derive(Debug)]
pub(super) struct Observed {
    pub(super) ranks: Vec<OfRank>,
}

impl Observed {
    pub(super) fn new(ranks: usize) -> Self {
        Self { ranks: vec![OfRank::default(); ranks] }
    }

    /// Adds the values of a callpath of a node on a rank.
    pub(super) fn add(&mut self, nodes: &Nodes, rank: u32, node: u32, values: &CallpathValues) {
        let flows = values.edges.iter().filter(|(key, _)| key.kind == EdgeKind::Flow);
        let order = flows.map(|(_, edge)| edge.order).min();
        if values.is_absent() {
            return;
        }
        let Some(own) = self.ranks.get_mut(rank as usize) else { return };
        let collective = |kind| {
            let of_kind = values.messages.iter().filter(|(key, _)| key.kind == kind);
            of_kind.fold(0_u64, |sum, (_, traffic)| sum.saturating_add(traffic.bytes))
        };
        let waits = values.edges.iter().filter(|(key, _)| key.kind.waits());
        let communicates = !values.messages.is_empty()
            || values.edges.keys().any(|key| key.kind != EdgeKind::Flow);
        own.visited.push(Visited {
            node,
            // No call comes before `MPI_Init`.
            order: order.map_or(0, |order| order.saturating_add(1)),
            times: times(&values.executions),
            waiting_ns: waits.fold(0_u64, |sum, (_, edge)| sum.saturating_add(edge.sum_ns)),
            communicates,
            collective_bytes: [
                collective(MessageKind::CollectiveOut),
                collective(MessageKind::CollectiveIn),
            ],
        });
        for (key, edge) in &values.edges {
            own.add_edge(nodes, node, *key, edge);
        }
        for (key, traffic) in &values.messages {
            let is_out = match key.kind {
                MessageKind::MessageOut => true,
                MessageKind::MessageIn => false,
                _ => continue,
            };
            own.exchanged.push(Exchanged {
                node,
                is_out,
                partner: key.partner,
                count: traffic.count,
                bytes: traffic.bytes,
            });
        }
    }

    /// Puts the lists in order, and adds up callpaths that are one node.
    pub(super) fn finish(&mut self) {
        for rank in &mut self.ranks {
            rank.finish();
        }
    }
}

impl OfRank {
    fn add_edge(&mut self, nodes: &Nodes, to: u32, key: EdgeKey, edge: &Edge) {
        let from = nodes.of_id(key.from);
        match key.kind {
            EdgeKind::Flow => {
                // A flow from a callpath that is no call is one from an unknown place.
                self.flows.push(Flow { from, to, order: edge.order, times: tally(edge) });
            }
            EdgeKind::Completion => {
                if let Some(from) = from {
                    self.completions.push((from, to, tally(edge)));
                }
            }
            kind => {
                let partner = key.partner;
                self.incoming.push(Incoming { kind, partner, from, to, edge: *edge });
            }
        }
    }

    fn finish(&mut self) {
        self.visited.sort_by_key(|visited| visited.node);
        self.visited.dedup_by(|other, first| {
            let is_same = other.node == first.node;
            if is_same {
                first.absorb(other);
            }
            is_same
        });
        self.flows.sort_by_key(|flow| (flow.from, flow.to));
        self.flows.dedup_by(|other, first| {
            let is_same = (other.from, other.to) == (first.from, first.to);
            if is_same {
                first.order = first.order.min(other.order);
                first.times.absorb(other.times);
            }
            is_same
        });
        let key = |found: &Exchanged| (found.node, !found.is_out, found.partner);
        self.exchanged.sort_by_key(key);
        self.exchanged.dedup_by(|other, first| {
            let is_same = key(other) == key(first);
            if is_same {
                first.count = first.count.saturating_add(other.count);
                first.bytes = first.bytes.saturating_add(other.bytes);
            }
            is_same
        });
        self.incoming.sort_by_key(|found| (found.to, found.kind, found.partner, found.from));
    }

    /// Returns the nodes whose partners are chance: those that receive from any source, and those
    /// that made the requests of such receives.
    pub(super) fn wildcards(&self) -> BTreeSet<u32> {
        let any = self.incoming.iter().filter(|found| found.kind == EdgeKind::MessageToAny);
        let mut nodes: BTreeSet<u32> = any.map(|found| found.to).collect();
        let requests = self.completions.iter().filter(|(_, to, _)| nodes.contains(to));
        let requests: Vec<u32> = requests.map(|(from, ..)| *from).collect();
        nodes.extend(requests);
        nodes
    }
}

impl Visited {
    fn absorb(&mut self, other: &Self) {
        self.order = self.order.min(other.order);
        self.times.absorb(other.times);
        self.waiting_ns = self.waiting_ns.saturating_add(other.waiting_ns);
        self.communicates |= other.communicates;
        for (own, other) in self.collective_bytes.iter_mut().zip(other.collective_bytes) {
            *own = own.saturating_add(other);
        }
    }
}

/// Returns whether a partner is a rank of the world.
pub(super) const fn is_known(partner: i32) -> bool {
    partner != MessageKey::ANY_PARTNER
}

fn times(executions: &[ExecutionSummary]) -> Tally {
    let mut all = Tally::EMPTY;
    for of_execution in executions {
        all.absorb(Tally {
            count: of_execution.visits,
            sum: of_execution.sum_ns,
            minimum: of_execution.min_ns,
            maximum: of_execution.max_ns,
            squares: whole(of_execution.sum_squares_ns2),
        });
    }
    all
}

fn tally(edge: &Edge) -> Tally {
    Tally {
        count: edge.count,
        sum: edge.sum_ns,
        minimum: edge.min_ns,
        maximum: edge.max_ns,
        squares: whole(edge.sum_squares_ns2),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "squares are not negative, and what is too large becomes the largest"
)]
fn whole(squares: f64) -> u128 {
    squares.round() as u128
}
