//! Circles of calls, united over ranks: the loops of a part of a program.

use std::collections::{BTreeMap, BTreeSet};

use super::circle::Circle;
use super::cycles::cycles;
use super::nodes::Nodes;
use super::places::Walk;

/// How many calls of a circle are tried as the one that an iteration begins with.
const CANDIDATES_MAX: usize = 16;

/// A part of the nodes that is divided at a time: a node, or all nodes of a loop that is a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    Node(u32),
    Region(u64),
}

/// From, to, and how often.
pub(super) type Edge = (u32, u32, u64);

/// Units that are in cycles, united over ranks.
pub(super) struct Groups {
    /// For each unit another one of its group, or itself.
    parents: Vec<usize>,
    is_in_cycle: Vec<bool>,
    /// Whether iterations begin with it.
    pub(super) is_head: Vec<bool>,
    /// The ranks of each cycle that was added, with one of its units.
    added: Vec<(usize, usize, u64)>,
    walks: usize,
}

impl Groups {
    pub(super) fn new(units: usize) -> Self {
        Self {
            parents: (0..units).collect(),
            is_in_cycle: vec![false; units],
            is_head: vec![false; units],
            added: Vec::new(),
            walks: 0,
        }
    }

    /// Adds the cycles of some ranks.
    pub(super) fn add_cycles(
        &mut self,
        nodes: &Nodes,
        completions: &BTreeSet<(u32, u32)>,
        (walk, edges): (&Walk, &[Edge]),
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
        let mut visits = vec![0_u64; units.len()];
        let unit_of = |node: u32| members.binary_search(&node).is_ok().then(|| number(node));
        for (from, to, count) in &walk.edges {
            let Some(unit) = unit_of(*to) else { continue };
            if from == to || unit_of(*from) != Some(unit) {
                visits[unit] = visits[unit].saturating_add(*count);
            }
        }
        let is_local = |unit: &usize| match units[*unit] {
            Unit::Node(node) => nodes.get(node).is_local,
            Unit::Region(_) => false,
        };
        for cycle in cycles(units.len(), &ends) {
            let mut candidates: Vec<usize> =
                cycle.iter().copied().filter(|unit| !is_local(unit)).collect();
            candidates.sort_by_key(|unit| first_visits[*unit]);
            candidates.truncate(CANDIDATES_MAX);
            let circle = Circle { units: &cycle, between: &between, visits: &visits };
            let Some(first) = candidates.iter().copied().find(|unit| circle.is_loop_from(*unit))
            else {
                continue;
            };
            let completes = |unit: usize, of: &[usize]| {
                let is_one =
                    |node: u32, of: &[usize]| unit_of(node).is_some_and(|n| of.contains(&n));
                completions.iter().any(|(from, to)| is_one(*to, &[unit]) && is_one(*from, of))
            };
            let head = circle.outer_head(first, &candidates, completes).unwrap_or(first);
            self.is_head[head] = true;
            for unit in &cycle {
                self.is_in_cycle[*unit] = true;
                self.unite(*unit, first);
            }
            self.added.push((first, self.walks, walk.ranks));
        }
    }

    /// Makes two units one group if both are in cycles: ranks that exchange messages in loops are
    /// in one loop, even if the calls have different places in the program.
    pub(super) fn join_cycles(&mut self, a: usize, b: usize) {
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
    pub(super) fn loops(&self, units: &[Unit], ranks: u64) -> Vec<BTreeSet<Unit>> {
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
