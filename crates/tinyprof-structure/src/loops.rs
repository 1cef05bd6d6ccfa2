//! Loops, and the straight parts between them, found from the order of calls.
//!
//! A loop is a region that is one, or a cycle of calls: where a program has no regions, or none for
//! its loops, a loop is seen by calls that follow each other in circles. Which of the calls an
//! iteration begins with is a guess then: the first one to which the ranks return often enough. If
//! they also return to it in a circle of the circle, whose requests another call completes, that is
//! a loop in the loop, and an iteration of the outer one begins with that other call.

use std::collections::{BTreeMap, BTreeSet};

use tinyprof_messages::graph::{Folded, Place, Section};

use super::groups::{Edge, Groups, Unit};
use super::nodes::Nodes;
use super::observed::Observed;
use super::places::{Numbering, Walk, name_loops};

/// How deep loops are nested at most.
const NESTED_MAX: usize = 12;

/// The sections of all nodes.
#[derive(Debug, Default)]
pub(super) struct Sections {
    /// By node.
    pub(super) of_node: Vec<Section>,
    /// The name of each loop.
    pub(super) names: BTreeMap<u64, String>,
    /// The loops that are regions.
    pub(super) regions: BTreeSet<u64>,
    /// The calls with which iterations of the other loops begin, by loop.
    pub(super) heads: BTreeSet<(u64, u32)>,
}

impl Sections {
    pub(super) fn of(nodes: &Nodes, observed: &Observed) -> Self {
        let mut walks: BTreeMap<(Vec<u32>, Vec<Edge>), u64> = BTreeMap::new();
        let mut messages: BTreeSet<(u32, u32)> = BTreeSet::new();
        let mut completions: BTreeSet<(u32, u32)> = BTreeSet::new();
        for rank in &observed.ranks {
            let mut visited: Vec<(u32, u32)> =
                rank.visited.iter().map(|visited| (visited.order, visited.node)).collect();
            visited.sort_unstable();
            let visited = visited.into_iter().map(|(_, node)| node).collect();
            let flows = rank.flows.iter();
            let edges = flows.filter_map(|flow| Some((flow.from?, flow.to, flow.times.count)));
            *walks.entry((visited, edges.collect())).or_default() += 1;
            completions.extend(rank.completions.iter().map(|(from, to, _)| (*from, *to)));
            messages.extend(rank.incoming.iter().filter_map(|edge| Some((edge.from?, edge.to))));
        }
        let ranks: u64 = walks.values().sum();
        let (mut edges, mut of_walks) = (Vec::new(), Vec::new());
        for ((visited, of_walk), ranks) in walks {
            let order = (0..).zip(visited).map(|(order, node)| (node, order)).collect();
            edges.push(of_walk.clone());
            of_walks.push(Walk { order, edges: of_walk, ranks });
        }
        let mut division = Division {
            nodes,
            walks: of_walks,
            messages,
            completions,
            ranks,
            of_node: vec![Section::default(); nodes.len()],
            first_of_loop: BTreeMap::new(),
            heads: BTreeSet::new(),
        };
        let members: Vec<u32> = nodes.iter().map(|(node, _)| node).collect();
        division.divide(&members, &edges, 0, &Section::default());
        let mut of_node = division.of_node;
        leave_lone_calls_out(&mut of_node, observed);
        let found = division.first_of_loop;
        let regions = found.iter().filter(|(_, (_, is_region))| *is_region);
        let regions = regions.map(|(id, _)| *id).collect();
        Self { of_node, names: name_loops(nodes, &found), regions, heads: division.heads }
    }
}

/// Makes straight parts in which nobody communicates no phases: `MPI_Init` alone is none.
fn leave_lone_calls_out(of_node: &mut [Section], observed: &Observed) {
    let mut communicates: BTreeSet<Section> = BTreeSet::new();
    for visited in observed.ranks.iter().flat_map(|rank| &rank.visited) {
        let section = &of_node[visited.node as usize];
        if visited.communicates && !communicates.contains(section) {
            communicates.insert(section.clone());
        }
    }
    for section in of_node {
        if section.places.len() == 1 && !communicates.contains(section) {
            *section = Section::default();
        }
    }
}

/// The division of a program into sections.
struct Division<'a> {
    nodes: &'a Nodes,
    walks: Vec<Walk>,
    /// Pairs of nodes of which one has sent a message to the other.
    messages: BTreeSet<(u32, u32)>,
    /// Pairs of nodes of which the second has completed requests of the first.
    completions: BTreeSet<(u32, u32)>,
    ranks: u64,
    of_node: Vec<Section>,
    /// The first node of each loop, and whether the loop is a region.
    first_of_loop: BTreeMap<u64, (u32, bool)>,
    heads: BTreeSet<(u64, u32)>,
}

impl Division<'_> {
    /// Divides some nodes, which lie in `regions` loops that are regions, and in `prefix`. `edges`
    /// are those between them, by walk.
    fn divide(&mut self, members: &[u32], edges: &[Vec<Edge>], regions: usize, prefix: &Section) {
        let unit = |node: u32| match self.nodes.get(node).loops.get(regions) {
            Some(id) => Unit::Region(*id),
            None => Unit::Node(node),
        };
        let units: Vec<Unit> =
            members.iter().map(|node| unit(*node)).collect::<BTreeSet<_>>().into_iter().collect();
        let number = |node: u32| units.binary_search(&unit(node)).unwrap_or_default();
        let mut groups = Groups::new(units.len());
        for (walk, edges) in self.walks.iter().zip(edges) {
            let of_walk = (walk, edges.as_slice());
            groups.add_cycles(self.nodes, &self.completions, of_walk, &units, members, number);
        }
        let is_member = |node: &u32| members.binary_search(node).is_ok();
        for (from, to) in self.messages.iter().filter(|(a, b)| is_member(a) && is_member(b)) {
            groups.join_cycles(number(*from), number(*to));
        }
        let loops = groups.loops(&units, self.ranks);
        let of_loop = |node: u32| loops.iter().position(|units| units.contains(&unit(node)));
        let of_members: Vec<(u32, Option<usize>)> =
            members.iter().map(|node| (*node, of_loop(*node))).collect();
        let is_head = |node: u32| groups.is_head[number(node)];
        let rank = |node: u32| (!is_head(node), self.nodes.get(node).is_local);
        let numbering = Numbering::new(&self.walks, &of_members, loops.len(), rank);
        let place = |place: Place| {
            let mut section = prefix.clone();
            section.places.push(place);
            section
        };
        for (node, of_loop) in &of_members {
            if of_loop.is_none() {
                let straight = numbering.straight(&self.walks, *node);
                self.of_node[*node as usize] = place(Place::Straight(straight));
            }
        }
        for (position, units) in loops.iter().enumerate() {
            let inside: Vec<u32> = of_members
                .iter()
                .filter(|(_, of_loop)| *of_loop == Some(position))
                .map(|(node, _)| *node)
                .collect();
            let Some(first) = numbering.first_node(position) else { continue };
            let region = match units.iter().next() {
                Some(Unit::Region(id)) if units.len() == 1 => Some(*id),
                _ => None,
            };
            let id = region.unwrap_or_else(|| self.cycle_id(first, prefix));
            self.first_of_loop.entry(id).or_insert((first, region.is_some()));
            let section = place(Place::Loop(id));
            let heads: BTreeSet<u32> = inside
                .iter()
                .filter(|node| region.is_none() && groups.is_head[number(**node)])
                .copied()
                .collect();
            self.heads.extend(heads.iter().map(|node| (id, *node)));
            let regions = regions + usize::from(region.is_some());
            if section.places.len() > NESTED_MAX {
                self.all_straight(&inside, &section);
                continue;
            }
            let edges = self.edges_inside(&inside, &heads, edges, regions);
            self.divide(&inside, &edges, regions, &section);
        }
    }

    /// Returns the edges between nodes of a loop without those that return to the part with which
    /// an iteration begins on the rank: a head, if there is one.
    fn edges_inside(
        &self,
        inside: &[u32],
        heads: &BTreeSet<u32>,
        edges: &[Vec<Edge>],
        regions: usize,
    ) -> Vec<Vec<Edge>> {
        let part = |node: u32| match self.nodes.get(node).loops.get(regions) {
            Some(id) => Unit::Region(*id),
            None => Unit::Node(node),
        };
        let is_inside = |node: &u32| inside.binary_search(node).is_ok();
        let of_walk = |(walk, edges): (&Walk, &Vec<Edge>)| {
            let first = inside.iter().filter_map(|node| {
                let (order, is_head) = (walk.order.get(node)?, heads.contains(node));
                // As for the iterations: the head that is visited least.
                let visits = is_head.then(|| walk.visits(*node));
                Some((!is_head, visits, self.nodes.get(*node).is_local, order, node))
            });
            let Some((.., first)) = first.min() else { return Vec::new() };
            let first = part(*first);
            let is_alone = inside.iter().all(|node| part(*node) == first);
            let returns = |(from, to, _): &Edge| {
                part(*to) == first
                    && (part(*from) != first || (is_alone && matches!(first, Unit::Node(_))))
            };
            let kept = edges.iter().filter(|(from, to, _)| is_inside(from) && is_inside(to));
            kept.filter(|edge| !returns(edge)).copied().collect()
        };
        self.walks.iter().zip(edges).map(of_walk).collect()
    }

    fn cycle_id(&self, first: u32, prefix: &Section) -> u64 {
        let key = self.nodes.get(first).key;
        Folded { regions: vec![key.callpath, prefix.places.len() as u64], depth: 0 }.id()
    }

    fn all_straight(&mut self, nodes: &[u32], section: &Section) {
        for node in nodes {
            let mut section = section.clone();
            section.places.push(Place::Straight(0));
            self.of_node[*node as usize] = section;
        }
    }
}
