//! Loops, and the straight parts between them, found from the order of calls.
//!
//! A loop is a region that is one, or a cycle of calls: where a program has no regions, or none for
//! its loops, a loop is seen by calls that follow each other in circles.

use std::collections::{BTreeMap, BTreeSet};

use tinyprof_messages::graph::{Folded, Place, Section};

use super::cycles::cycles;
use super::nodes::Nodes;
use super::observed::Observed;
use super::places::{Numbering, Walk, name_loops};

/// The mean number of returns to the first call, each time that the cycle is entered, from which on
/// it is a loop: calls that are repeated once are none.
const RETURNS_MIN: u64 = 2;

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
}

/// A part of the nodes that is divided at a time: a node, or all nodes of a loop that is a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Node(u32),
    Region(u64),
}

/// From, to, and how often.
type Edge = (u32, u32, u64);

impl Sections {
    pub(super) fn of(nodes: &Nodes, observed: &Observed) -> Self {
        let mut walks: BTreeMap<(Vec<u32>, Vec<Edge>), u64> = BTreeMap::new();
        let mut messages: BTreeSet<(u32, u32)> = BTreeSet::new();
        for rank in &observed.ranks {
            let mut visited: Vec<(u32, u32)> =
                rank.visited.iter().map(|visited| (visited.order, visited.node)).collect();
            visited.sort_unstable();
            let visited = visited.into_iter().map(|(_, node)| node).collect();
            let flows = rank.flows.iter();
            let edges = flows.filter_map(|flow| Some((flow.from?, flow.to, flow.times.count)));
            *walks.entry((visited, edges.collect())).or_default() += 1;
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
            ranks,
            of_node: vec![Section::default(); nodes.len()],
            first_of_loop: BTreeMap::new(),
        };
        let members: Vec<u32> = nodes.iter().map(|(node, _)| node).collect();
        division.divide(&members, &edges, 0, &Section::default());
        let mut of_node = division.of_node;
        leave_lone_calls_out(&mut of_node, observed);
        let found = division.first_of_loop;
        let regions = found.iter().filter(|(_, (_, is_region))| *is_region);
        let regions = regions.map(|(id, _)| *id).collect();
        Self { of_node, names: name_loops(nodes, &found), regions }
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
    ranks: u64,
    of_node: Vec<Section>,
    /// The first node of each loop, and whether the loop is a region.
    first_of_loop: BTreeMap<u64, (u32, bool)>,
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
            groups.add_cycles(walk, edges, &units, members, number);
        }
        let is_member = |node: &u32| members.binary_search(node).is_ok();
        for (from, to) in self.messages.iter().filter(|(a, b)| is_member(a) && is_member(b)) {
            groups.join_cycles(number(*from), number(*to));
        }
        let loops = groups.loops(&units, self.ranks);
        let of_loop = |node: u32| loops.iter().position(|units| units.contains(&unit(node)));
        let of_members: Vec<(u32, Option<usize>)> =
            members.iter().map(|node| (*node, of_loop(*node))).collect();
        let numbering = Numbering::new(&self.walks, &of_members, loops.len());
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
            let regions = regions + usize::from(region.is_some());
            if section.places.len() > NESTED_MAX {
                self.all_straight(&inside, &section);
                continue;
            }
            let edges = self.edges_inside(&inside, edges, regions);
            self.divide(&inside, &edges, regions, &section);
        }
    }

    /// Returns the edges between nodes of a loop without those that return to its first part on the
    /// rank.
    fn edges_inside(&self, inside: &[u32], edges: &[Vec<Edge>], regions: usize) -> Vec<Vec<Edge>> {
        let part = |node: u32| match self.nodes.get(node).loops.get(regions) {
            Some(id) => Unit::Region(*id),
            None => Unit::Node(node),
        };
        let is_inside = |node: &u32| inside.binary_search(node).is_ok();
        let of_walk = |(walk, edges): (&Walk, &Vec<Edge>)| {
            let first = inside.iter().filter_map(|node| Some((walk.order.get(node)?, node))).min();
            let Some((_, first)) = first else { return Vec::new() };
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

/// Units that are in cycles, united over ranks.
struct Groups {
    /// For each unit another one of its group, or itself.
    parents: Vec<usize>,
    is_in_cycle: Vec<bool>,
    /// The ranks of each cycle that was added, with one of its units.
    added: Vec<(usize, usize, u64)>,
    walks: usize,
}

impl Groups {
    fn new(units: usize) -> Self {
        let is_in_cycle = vec![false; units];
        Self { parents: (0..units).collect(), is_in_cycle, added: Vec::new(), walks: 0 }
    }

    /// Adds the cycles of some ranks.
    fn add_cycles(
        &mut self,
        walk: &Walk,
        edges: &[Edge],
        units: &[Unit],
        members: &[u32],
        number: impl Fn(u32) -> usize,
    ) {
        self.walks += 1;
        let between: Vec<(usize, usize, u64)> = edges
            .iter()
            .map(|(from, to, count)| (number(*from), number(*to), *count))
            // The iterations of a loop that is a region are its own.
            .filter(|(from, to, _)| from != to || matches!(units[*from], Unit::Node(_)))
            .collect();
        let ends: Vec<(usize, usize)> = between.iter().map(|(from, to, _)| (*from, *to)).collect();
        let mut first_visits = vec![u32::MAX; units.len()];
        for node in members {
            if let Some(order) = walk.order.get(node) {
                let first = &mut first_visits[number(*node)];
                *first = (*first).min(*order);
            }
        }
        for cycle in cycles(units.len(), &ends) {
            let Some(first) = cycle.iter().copied().min_by_key(|unit| first_visits[*unit]) else {
                continue;
            };
            let is_return =
                |from: &usize, to: &usize| *to == first && cycle.binary_search(from).is_ok();
            let returns = between.iter().filter(|(from, to, _)| is_return(from, to));
            let returns: u64 = returns.map(|(.., count)| count).sum();
            let visits =
                walk.visits(|node| members.binary_search(&node).map(|_| number(node)) == Ok(first));
            let entries = visits.saturating_sub(returns).max(1);
            if returns < RETURNS_MIN.saturating_mul(entries) {
                continue;
            }
            for unit in &cycle {
                self.is_in_cycle[*unit] = true;
                self.unite(*unit, first);
            }
            self.added.push((first, self.walks, walk.ranks));
        }
    }

    /// Makes two units one group if both are in cycles: ranks that exchange messages in loops are
    /// in one loop, even if the calls have different places in the program.
    fn join_cycles(&mut self, a: usize, b: usize) {
        if self.is_in_cycle[a] && self.is_in_cycle[b] {
            self.unite(a, b);
        }
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b)] = a.min(b);
    }

    fn root(&self, mut unit: usize) -> usize {
        while self.parents[unit] != unit {
            unit = self.parents[unit];
        }
        unit
    }

    /// Returns the loops: cycles that several of the ranks have, or one of two, and regions.
    fn loops(&self, units: &[Unit], ranks: u64) -> Vec<BTreeSet<Unit>> {
        let mut taking_part: BTreeMap<usize, BTreeMap<usize, u64>> = BTreeMap::new();
        for (unit, walk, ranks) in &self.added {
            taking_part.entry(self.root(*unit)).or_default().insert(*walk, *ranks);
        }
        let mut loops: BTreeMap<usize, BTreeSet<Unit>> = BTreeMap::new();
        for (number, unit) in units.iter().enumerate() {
            let root = self.root(number);
            let of_group = taking_part.get(&root).map_or(0, |walks| walks.values().sum::<u64>());
            let is_cycle = self.is_in_cycle[number] && (of_group > 1 || ranks <= 2);
            if is_cycle {
                loops.entry(root).or_default().insert(*unit);
            } else if matches!(unit, Unit::Region(_)) {
                loops.entry(units.len() + number).or_default().insert(*unit);
            }
        }
        loops.into_values().collect()
    }
}
