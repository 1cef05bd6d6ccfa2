//! The graphs of ranks as they are compared: without what is chance.
//!
//! Times are without waiting, which depends on others. Messages are those that a rank counts
//! itself, whether their companions came or not. What a rank did before a phase is not part of the
//! phase, so that ranks that begin it after different calls can be alike.

use std::collections::{BTreeMap, HashMap, HashSet};

use tinyprof_format::model::EdgeKind;
use tinyprof_messages::graph::{
    Direction, MessageEdge, Messages, Node, NodeKey, NodeKind, Place, Section, Tag, Tally,
};

use super::loops::Sections;
use super::nodes::{NodeInfo, Nodes};
use super::observed::{Observed, OfRank, Visited, is_known};
use tinyprof_report::world_rank;

/// Makes the graphs of ranks.
pub(super) struct Tags<'a> {
    nodes: &'a Nodes,
    observed: &'a Observed,
    sections: &'a Sections,
    /// The time that senders were blocked, by rank and node.
    blocked_ns: HashMap<(u32, u32), u64>,
    /// The nodes whose time is chance.
    of_chance: HashSet<u32>,
}

impl<'a> Tags<'a> {
    /// Prepares the graphs.
    ///
    /// `is_crowded` is true if ranks share CPUs: then a rank does not go on when its partner comes,
    /// but when it is its turn, and the times of calls that wait are chance.
    pub(super) fn new(
        nodes: &'a Nodes,
        observed: &'a Observed,
        sections: &'a Sections,
        is_crowded: bool,
    ) -> Self {
        let incoming = observed.ranks.iter().filter(|_| is_crowded).flat_map(|rank| &rank.incoming);
        let of_chance = incoming.map(|edge| edge.to).collect();
        Self { nodes, observed, sections, blocked_ns: blocked_ns(observed), of_chance }
    }

    /// Returns the graph of a rank.
    pub(super) fn tag(&self, rank: usize) -> Tag {
        let (nodes, sections) = (self.nodes, self.sections);
        let found = &self.observed.ranks[rank];
        let rank = u32::try_from(rank).unwrap_or(u32::MAX);
        let node = |visited: &Visited| {
            let info = nodes.get(visited.node);
            let blocked_ns = self.blocked_ns.get(&(rank, visited.node)).copied().unwrap_or(0);
            let node = Node {
                times: match self.of_chance.contains(&visited.node) {
                    true => without_time(visited.times),
                    false => own_times(info, visited, blocked_ns),
                },
                order: visited.order,
                section: sections.of_node[visited.node as usize].clone(),
                depths: BTreeMap::new(),
            };
            (info.key, node)
        };
        let mut tag = Tag { rank, ..Tag::default() };
        tag.nodes = found.visited.iter().map(node).collect();
        let mut flows = Vec::with_capacity(found.flows.len());
        for flow in &found.flows {
            let (from, times) = match flow.from {
                Some(from) => (entrance(nodes, sections, from, flow.to), flow.times),
                // Ranks begin at different times.
                None => (NodeKey::BEGIN, without_time(flow.times)),
            };
            flows.push(((from, nodes.get(flow.to).key), times));
        }
        tag.flows = joined(flows);
        let key = |node: u32| nodes.get(node).key;
        let completions = found.completions.iter();
        let completions = completions.map(|&(from, to, times)| ((key(from), key(to)), times));
        tag.completions = joined(completions.collect());
        tag.messages = messages(nodes, rank, self.observed.ranks.len(), found);
        tag
    }
}

/// Returns edges by their ends, with the times of equal ones together. Almost sorted lists, as
/// those of [`OfRank`] are, become maps faster at once than one by one.
fn joined(mut edges: Vec<((NodeKey, NodeKey), Tally)>) -> BTreeMap<(NodeKey, NodeKey), Tally> {
    edges.sort_by_key(|(ends, _)| *ends);
    edges.dedup_by(|(ends, times), (first, all)| {
        let is_same = ends == first;
        if is_same {
            all.absorb(*times);
        }
        is_same
    });
    edges.into_iter().collect()
}

/// Returns the time that each sender was blocked until its receivers were there, in ns.
fn blocked_ns(observed: &Observed) -> HashMap<(u32, u32), u64> {
    let mut blocked: HashMap<(u32, u32), u64> = HashMap::new();
    for (rank, found) in (0..).zip(&observed.ranks) {
        for edge in found.incoming.iter().filter(|edge| edge.edge.late_receiver_ns > 0) {
            let sender = world_rank(edge.partner, rank, observed.ranks.len());
            if let Some(key) = sender.zip(edge.from) {
                let sum = blocked.entry(key).or_default();
                *sum = sum.saturating_add(edge.edge.late_receiver_ns);
            }
        }
    }
    blocked
}

/// Returns the times of a node without waiting. Setting MPI up takes as long as starting all ranks.
fn own_times(info: &NodeInfo, visited: &Visited, blocked_ns: u64) -> Tally {
    if info.function.starts_with("MPI_Init") {
        return without_time(visited.times);
    }
    let times = visited.times;
    let sum = times.sum.saturating_sub(visited.waiting_ns).saturating_sub(blocked_ns);
    // The deviation is that of all times: what varies in waiting varies in the rest, too.
    let deviation = times.square_deviation().max(0.0);
    let of_mean = u128::from(sum).pow(2) / u128::from(times.count.max(1));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a deviation is not negative"
    )]
    let squares = of_mean.saturating_add(deviation as u128);
    Tally { sum, squares, ..times }
}

const fn without_time(times: Tally) -> Tally {
    Tally { sum: 0, minimum: 0, maximum: 0, squares: 0, ..times }
}

/// Returns the node from which a flow comes: the other one, or the entrance of the section.
fn entrance(nodes: &Nodes, sections: &Sections, from: u32, to: u32) -> NodeKey {
    let [before, here] = [from, to].map(|node| &sections.of_node[node as usize]);
    if before == here || before.places.is_empty() || here.places.is_empty() {
        return nodes.get(from).key;
    }
    entrance_of(here)
}

/// Returns a key for the entrance of a section.
fn entrance_of(section: &Section) -> NodeKey {
    let word = |place: &Place| match place {
        Place::Straight(number) => u64::from(*number),
        Place::Loop(id) => *id,
    };
    let words = section.places.iter().map(word);
    let callpath = words
        .fold(0_u64, |id, word| (id ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    NodeKey { callpath, kind: NodeKind::LoopEntry }
}

/// Returns the messages of a rank, and its part in operations with a root.
fn messages(
    nodes: &Nodes,
    rank: u32,
    ranks: usize,
    found: &OfRank,
) -> BTreeMap<MessageEdge, Messages> {
    let wildcards = found.wildcards();
    let mut all: Vec<(MessageEdge, Messages)> = Vec::with_capacity(found.exchanged.len());
    for exchanged in &found.exchanged {
        let is_wildcard = !exchanged.is_out && wildcards.contains(&exchanged.node);
        let direction = if exchanged.is_out { Direction::Out } else { Direction::In };
        let edge = MessageEdge {
            node: nodes.get(exchanged.node).key,
            direction,
            is_wildcard: is_wildcard || !is_known(exchanged.partner),
            offset: exchanged.partner,
            sender: None,
        };
        let bytes = Tally { count: exchanged.count, sum: exchanged.bytes, ..Tally::EMPTY };
        all.push((edge, Messages { bytes, ..Messages::default() }));
    }
    let once = Messages { bytes: Tally::from_iter([0]), ..Messages::default() };
    for visited in &found.visited {
        let info = nodes.get(visited.node);
        if is_root(&info.function, visited.collective_bytes) {
            let edge = MessageEdge {
                node: info.key,
                direction: Direction::Root,
                is_wildcard: false,
                offset: 0,
                sender: None,
            };
            all.push((edge, once.clone()));
        }
    }
    for edge in found.incoming.iter().filter(|edge| edge.kind == EdgeKind::FromRoot) {
        if world_rank(edge.partner, rank, ranks).is_some() {
            let edge = MessageEdge {
                node: nodes.get(edge.to).key,
                direction: Direction::Rooted,
                is_wildcard: false,
                offset: edge.partner,
                sender: None,
            };
            all.push((edge, once.clone()));
        }
    }
    // Sorted at once, which is faster than one by one.
    all.into_iter().collect()
}

/// Returns whether the rank is the root of an operation, as its bytes tell: what was put in and
/// what was got. The edges tell only who waited.
pub(super) fn is_root(function: &str, [put_in, got]: [u64; 2]) -> bool {
    let is_any = |names: &[&str]| names.iter().any(|name| function.contains(name));
    if function.starts_with("MPI_Reduce_scatter") || function.starts_with("MPI_Ireduce_scatter") {
        return false;
    }
    (is_any(&["MPI_Bcast", "MPI_Ibcast", "MPI_Scatter", "MPI_Iscatter"]) && put_in > 0)
        || (is_any(&["MPI_Gather", "MPI_Igather", "MPI_Reduce", "MPI_Ireduce"]) && got > 0)
}
