//! The graphs of several ranks as one, for other tools to draw.

mod control;

use std::collections::BTreeMap;

use tinyprof_format::model::{Edge, MessageKey};
use tinyprof_messages::graph::{Phase, Place, RankSet, Section, Tally};

use super::Structure;
use super::observed::OfRank;
use control::{Control, Heads, Stop};

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
    /// The computations between two calls, and the completions of requests. Where an iteration of
    /// a loop begins, flow leads to the node of the loop, and from there to the call; the time is
    /// that of the first of these edges.
    pub edges: Vec<DrawnEdge>,
    /// The messages between ranks, and who was waited for in collective operations.
    pub messages: Vec<DrawnMessages>,
}

/// The kinds of nodes in a drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrawnKind {
    /// The begin of the recording.
    #[default]
    Begin,
    /// The control node of a loop.
    Loop,
    /// A call.
    Call,
}

/// A node of a drawing.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct DrawnNode {
    /// The kind.
    pub kind: DrawnKind,
    /// The path of a call, or the name of a loop; empty for the begin of the recording.
    pub path: String,
    /// The function: `MPI_Send`. Empty if it is no call.
    pub function: String,
    /// The phase, and the phases in it, in which the node is: `1`, `2.1`. Empty if it is in none.
    pub phase: String,
    /// The innermost loop around the node; empty if there is none.
    pub in_loop: String,
    /// The ranks that have it. If one of each class is drawn, all ranks of these classes.
    pub ranks: RankSet,
    /// The calls and their times, in ns. Of a loop, the number of its iterations, and the sum of
    /// the times in it.
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
    /// The node that it comes from; the begin if it is unknown.
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
        let control = Control::of(&self.sections);
        let mut nodes: BTreeMap<Stop, (u32, DrawnNode)> = BTreeMap::new();
        let mut edges: BTreeMap<(&str, Stop, Stop), Tally> = BTreeMap::new();
        let mut messages: BTreeMap<MessagesKey, Edge> = BTreeMap::new();
        let mut begun = RankSet::default();
        for rank in ranks.iter() {
            let Some(found) = self.observed.ranks.get(rank as usize) else { continue };
            begun.insert(rank);
            self.add_call_nodes(rank, found, &mut nodes);
            let heads = control.heads(found);
            self.add_loop_nodes(&control, &heads, (rank, found), &mut nodes);
            add_flows(&control, &heads, found, &mut nodes, &mut edges);
            for (from, to, times) in &found.completions {
                let key = ("completion", Stop::Call(*from), Stop::Call(*to));
                edges.entry(key).or_default().absorb(*times);
            }
            for edge in &found.incoming {
                let key = (edge.kind.name(), edge.from, edge.to, edge.partner);
                messages.entry(key).or_default().absorb(&edge.edge);
            }
        }
        if *of == DrawnRanks::Classes {
            for phase in &self.phases {
                self.label_classes(&control, phase, &mut nodes);
            }
        }
        let mut ordered: Vec<(u32, Stop, DrawnNode)> =
            nodes.into_iter().map(|(stop, (order, drawn))| (order, stop, drawn)).collect();
        ordered.sort_by_key(|(order, stop, _)| (*order, *stop));
        let positions: BTreeMap<Stop, usize> =
            ordered.iter().zip(1..).map(|((_, stop, _), position)| (*stop, position)).collect();
        // Senders may be on ranks that are not drawn.
        let position = |stop: Stop| positions.get(&stop).copied();
        let begin = DrawnNode { ranks: begun.clone(), ..DrawnNode::default() };
        let edges = edges.into_iter().filter_map(|((kind, from, to), times)| {
            let from = position(from).unwrap_or(0);
            Some(DrawnEdge { kind, from, to: position(to)?, times })
        });
        let mut edges: Vec<DrawnEdge> = edges.collect();
        edges.sort_by_key(|edge| (edge.kind, edge.from, edge.to));
        let messages =
            few_offsets(messages).into_iter().filter_map(|((kind, from, to, offset), sums)| {
                let from = from.and_then(|from| position(Stop::Call(from))).unwrap_or(0);
                let to = position(Stop::Call(to))?;
                Some(DrawnMessages { kind, from, to, offset, sums })
            });
        Drawing {
            ranks: begun,
            edges,
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

    fn add_call_nodes(
        &self,
        rank: u32,
        found: &OfRank,
        nodes: &mut BTreeMap<Stop, (u32, DrawnNode)>,
    ) {
        for visited in &found.visited {
            let (order, drawn) = nodes.entry(Stop::Call(visited.node)).or_insert_with(|| {
                let info = self.nodes.get(visited.node);
                let section = &self.sections.of_node[visited.node as usize];
                let drawn = DrawnNode {
                    kind: DrawnKind::Call,
                    path: info.path.clone(),
                    function: info.function.clone(),
                    phase: phase_numbers(&self.phases, section),
                    in_loop: self.loop_around(&section.places),
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

    /// Adds the loops of a rank, without their iterations.
    fn add_loop_nodes(
        &self,
        control: &Control,
        heads: &Heads,
        (rank, found): (u32, &OfRank),
        nodes: &mut BTreeMap<Stop, (u32, DrawnNode)>,
    ) {
        for (&number, head) in heads {
            let (order, drawn) = nodes.entry(Stop::Loop(number)).or_insert_with(|| {
                let section = control.section(number);
                let around = section.places.split_last().map_or(&[][..], |(_, around)| around);
                let drawn = DrawnNode {
                    kind: DrawnKind::Loop,
                    path: self.loop_around(&section.places),
                    phase: phase_numbers(&self.phases, section),
                    in_loop: self.loop_around(around),
                    ..DrawnNode::default()
                };
                (u32::MAX, drawn)
            });
            *order = (*order).min(head.order);
            drawn.ranks.insert(rank);
        }
        for visited in &found.visited {
            for number in control.around(visited.node) {
                if let Some((_, drawn)) = nodes.get_mut(&Stop::Loop(*number)) {
                    drawn.times.sum = drawn.times.sum.saturating_add(visited.times.sum);
                    drawn.waiting_ns = drawn.waiting_ns.saturating_add(visited.waiting_ns);
                }
            }
        }
    }

    /// Gives nodes of a phase the ranks of all classes whose representatives have them.
    fn label_classes(
        &self,
        control: &Control,
        phase: &Phase,
        nodes: &mut BTreeMap<Stop, (u32, DrawnNode)>,
    ) {
        let is_here = |stop: Stop| match stop {
            Stop::Begin => false,
            Stop::Loop(number) => control.section(number).is_within(&phase.section),
            Stop::Call(node) => self.is_in(phase, node),
        };
        for (_, (_, drawn)) in nodes.iter_mut().filter(|(stop, _)| is_here(**stop)) {
            let mut ranks = RankSet::default();
            let having =
                phase.classes.iter().filter(|class| drawn.ranks.contains(class.representative));
            having.for_each(|class| ranks.absorb(&class.ranks));
            drawn.ranks = ranks;
        }
    }

    /// Returns the name of the innermost loop, or nothing if there is none.
    fn loop_around(&self, places: &[Place]) -> String {
        let innermost = places.iter().rev().find_map(|place| match place {
            Place::Loop(id) => self.sections.names.get(id),
            Place::Straight(_) => None,
        });
        innermost.cloned().unwrap_or_default()
    }
}

/// Adds the flow of a rank.
fn add_flows(
    control: &Control,
    heads: &Heads,
    found: &OfRank,
    nodes: &mut BTreeMap<Stop, (u32, DrawnNode)>,
    edges: &mut BTreeMap<(&str, Stop, Stop), Tally>,
) {
    for flow in &found.flows {
        let mut times = flow.times;
        control.way(heads, flow.from, flow.to, |from, to| {
            edges.entry(("flow", from, to)).or_default().absorb(times);
            if let (Stop::Loop(_), Some((_, drawn))) = (to, nodes.get_mut(&to)) {
                drawn.times.count = drawn.times.count.saturating_add(times.count);
            }
            times = Tally { count: times.count, ..Tally::EMPTY };
        });
        let around = |node| control.around(node).iter();
        let Some(from) = flow.from else { continue };
        for (number, _) in around(from).zip(around(flow.to)).take_while(|(one, other)| one == other)
        {
            if let Some((_, drawn)) = nodes.get_mut(&Stop::Loop(*number)) {
                drawn.times.sum = drawn.times.sum.saturating_add(flow.times.sum);
            }
        }
    }
}

/// Returns the numbers of the phases around a section, 1-based: `2.1`.
fn phase_numbers(phases: &[Phase], section: &Section) -> String {
    let found = (1..).zip(phases).find(|(_, phase)| section.is_within(&phase.section));
    let Some((number, phase)) = found else { return String::new() };
    match phase_numbers(&phase.inner, section) {
        inner if inner.is_empty() => number.to_string(),
        inner => format!("{number}.{inner}"),
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
