//! The graphs of several ranks as one, for other tools to draw.

use std::collections::BTreeMap;

use tinyprof_format::model::{Edge, MessageKey};
use tinyprof_messages::graph::{Phase, RankSet, Tally};

use super::Structure;
use super::observed::OfRank;
use super::places::is_loop;

/// The number of distances between two nodes up to which each has an edge of its own.
const OFFSETS_MAX: usize = 16;

/// The key of messages: kind, sending and receiving node, and the sender's rank less that of the
/// receiver.
type MessagesKey = (&'static str, Option<u32>, u32, i32);

/// The ranks of a drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrawnRanks {
    /// All ranks.
    All,
    /// These ranks; those that do not exist are ignored.
    Some(RankSet),
    /// One rank of each class of each phase, in place of all of its class.
    Classes,
}

/// A graph of what ranks do, united over ranks.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Drawing {
    /// The ranks whose counts and times are in it.
    pub ranks: RankSet,
    /// The nodes, the begin of the recording first.
    pub nodes: Vec<DrawnNode>,
    /// The computations between two calls, and the completions of requests.
    pub edges: Vec<DrawnEdge>,
    /// The messages between ranks, and who was waited for in collective operations.
    pub messages: Vec<DrawnMessages>,
}

/// A node of a drawing.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DrawnNode {
    /// The path; empty for the begin of the recording.
    pub path: String,
    /// The function: `MPI_Send`.
    pub function: String,
    /// The phase, and the phases in it, in which the node is: `1`, `2.1`. Empty if it is in none.
    pub phase: String,
    /// The innermost loop around the node; empty if there is none.
    pub in_loop: String,
    /// The ranks that have it. If one of each class is drawn, all ranks of these classes.
    pub ranks: RankSet,
    /// The calls and their times, in ns.
    pub times: Tally,
    /// The part of the times until partners came, in ns.
    pub waiting_ns: u64,
}

/// An edge between two nodes of the same rank, by their positions.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DrawnEdge {
    /// `flow` or `completion`.
    pub kind: &'static str,
    /// The node that it comes from.
    pub from: usize,
    /// The node that it leads to.
    pub to: usize,
    /// The instances and their times, in ns.
    pub times: Tally,
}

/// Messages between nodes of different ranks, by their positions.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct DrawnMessages {
    /// The kind of the edge: `message`, `barrier` and the like.
    pub kind: &'static str,
    /// The node that it comes from; the begin where nobody has said it.
    pub from: usize,
    /// The node that it leads to.
    pub to: usize,
    /// The rank of the sender relative to the receiver; `i32::MAX` where it is not known, and for
    /// all together where there are more than 16.
    pub offset: i32,
    /// Counts, bytes, waiting and transfer.
    pub sums: Edge,
}

impl Structure {
    /// Returns the graph of some ranks.
    ///
    /// # Cost
    /// Linear in the number of nodes and edges of these ranks.
    #[must_use]
    pub fn drawing(&self, of: &DrawnRanks) -> Drawing {
        let ranks = self.drawn_ranks(of);
        let mut nodes: BTreeMap<u32, (u32, DrawnNode)> = BTreeMap::new();
        let mut flows: BTreeMap<(&str, Option<u32>, u32), Tally> = BTreeMap::new();
        let mut messages: BTreeMap<MessagesKey, Edge> = BTreeMap::new();
        let mut begun = RankSet::default();
        for rank in ranks.iter() {
            let Some(found) = self.observed.ranks.get(rank as usize) else { continue };
            begun.insert(rank);
            self.add_nodes(rank, found, &mut nodes);
            for flow in &found.flows {
                flows.entry(("flow", flow.from, flow.to)).or_default().absorb(flow.times);
            }
            for (from, to, times) in &found.completions {
                flows.entry(("completion", Some(*from), *to)).or_default().absorb(*times);
            }
            for edge in &found.incoming {
                let key = (edge.kind.name(), edge.from, edge.to, edge.partner);
                messages.entry(key).or_default().absorb(&edge.edge);
            }
        }
        if *of == DrawnRanks::Classes {
            for phase in &self.phases {
                self.label_classes(phase, &mut nodes);
            }
        }
        let mut ordered: Vec<(u32, u32, DrawnNode)> =
            nodes.into_iter().map(|(node, (order, drawn))| (order, node, drawn)).collect();
        ordered.sort_by_key(|(order, node, _)| (*order, *node));
        let positions: BTreeMap<u32, usize> =
            ordered.iter().zip(1..).map(|((_, node, _), position)| (*node, position)).collect();
        // Senders may be on ranks that are not drawn.
        let position = |node: Option<u32>| node.and_then(|node| positions.get(&node)).copied();
        let begin = DrawnNode { ranks: begun.clone(), ..DrawnNode::default() };
        let edges = flows.into_iter().filter_map(|((kind, from, to), times)| {
            let from = position(from).unwrap_or(0);
            Some(DrawnEdge { kind, from, to: position(Some(to))?, times })
        });
        let messages =
            few_offsets(messages).into_iter().filter_map(|((kind, from, to, offset), sums)| {
                let from = position(from).unwrap_or(0);
                Some(DrawnMessages { kind, from, to: position(Some(to))?, offset, sums })
            });
        Drawing {
            ranks: begun,
            edges: edges.collect(),
            messages: messages.collect(),
            nodes: std::iter::once(begin)
                .chain(ordered.into_iter().map(|(_, _, drawn)| drawn))
                .collect(),
        }
    }

    fn drawn_ranks(&self, of: &DrawnRanks) -> RankSet {
        let all = u32::try_from(self.observed.ranks.len()).unwrap_or(u32::MAX);
        match of {
            DrawnRanks::All => (0..all).collect(),
            DrawnRanks::Some(ranks) => ranks.iter().filter(|rank| *rank < all).collect(),
            DrawnRanks::Classes => {
                let classes = self.phases.iter().flat_map(|phase| &phase.classes);
                classes.map(|class| class.representative).collect()
            }
        }
    }

    fn add_nodes(&self, rank: u32, found: &OfRank, nodes: &mut BTreeMap<u32, (u32, DrawnNode)>) {
        for visited in &found.visited {
            let (order, drawn) = nodes.entry(visited.node).or_insert_with(|| {
                let info = self.nodes.get(visited.node);
                let drawn = DrawnNode {
                    path: info.path.clone(),
                    function: info.function.clone(),
                    phase: self.phase_numbers(&self.phases, visited.node),
                    in_loop: self.loop_around(&self.phases, visited.node),
                    ..DrawnNode::default()
                };
                (u32::MAX, drawn)
            });
            *order = (*order).min(visited.order);
            drawn.ranks.insert(rank);
            drawn.times.absorb(visited.times);
            drawn.waiting_ns = drawn.waiting_ns.saturating_add(visited.waiting_ns);
        }
    }

    /// Gives nodes of a phase the ranks of all classes whose representatives have them.
    fn label_classes(&self, phase: &Phase, nodes: &mut BTreeMap<u32, (u32, DrawnNode)>) {
        let here = nodes.iter_mut().filter(|(node, _)| self.is_in(phase, **node));
        for (_, (_, drawn)) in here {
            let mut ranks = RankSet::default();
            let having =
                phase.classes.iter().filter(|class| drawn.ranks.contains(class.representative));
            having.for_each(|class| ranks.absorb(&class.ranks));
            drawn.ranks = ranks;
        }
    }

    /// Returns the numbers of the phases around a node, 1-based: `2.1`.
    fn phase_numbers(&self, phases: &[Phase], node: u32) -> String {
        let found = (1..).zip(phases).find(|(_, phase)| self.is_in(phase, node));
        let Some((number, phase)) = found else { return String::new() };
        match self.phase_numbers(&phase.inner, node) {
            inner if inner.is_empty() => number.to_string(),
            inner => format!("{number}.{inner}"),
        }
    }

    fn loop_around(&self, phases: &[Phase], node: u32) -> String {
        let Some(phase) = phases.iter().find(|phase| self.is_in(phase, node)) else {
            return String::new();
        };
        match self.loop_around(&phase.inner, node) {
            inner if inner.is_empty() && is_loop(phase) => self.phase_name(phase),
            inner => inner,
        }
    }
}

/// Returns the messages with those of too many distances as one.
fn few_offsets(messages: BTreeMap<MessagesKey, Edge>) -> BTreeMap<MessagesKey, Edge> {
    let mut offsets: BTreeMap<(&str, Option<u32>, u32), usize> = BTreeMap::new();
    for (kind, from, to, _) in messages.keys() {
        *offsets.entry((*kind, *from, *to)).or_default() += 1;
    }
    let mut few: BTreeMap<MessagesKey, Edge> = BTreeMap::new();
    for ((kind, from, to, offset), edge) in messages {
        let is_few = offsets[&(kind, from, to)] <= OFFSETS_MAX;
        let offset = if is_few { offset } else { MessageKey::ANY_PARTNER };
        few.entry((kind, from, to, offset)).or_default().absorb(&edge);
    }
    few
}
