//! The order of loops and straight parts, in which all ranks agree.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use tinyprof_messages::graph::{Phase, Place};

use super::nodes::Nodes;

/// Returns whether a phase is a loop, not a straight part.
pub(super) fn is_loop(phase: &Phase) -> bool {
    matches!(phase.section.places.last(), Some(Place::Loop(_)))
}

/// The order of calls of some ranks that have the same.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// The position of each node by its first visit.
    pub(super) order: HashMap<u32, u32>,
    /// The ways from node to node, and how often they were taken.
    pub(super) edges: Vec<(u32, u32, u64)>,
    /// The number of ranks.
    pub(super) ranks: u64,
}

impl Walk {
    /// Returns how often a node was entered from others.
    pub(super) fn visits(&self, node: u32) -> u64 {
        let entering = self.edges.iter().filter(|(from, to, _)| *to == node && *from != node);
        entering.fold(0, |sum, (.., count)| sum.saturating_add(*count))
    }
}

/// What orders the nodes of a loop: a rank, the first visit, the ranks that begin so, the node.
type First<R> = (R, u32, Reverse<u64>, u32);

/// The order of the loops in one part of a program.
#[derive(Debug)]
pub(super) struct Numbering {
    /// For each loop its first visit in each walk, if it is in it.
    firsts: Vec<Vec<Option<u32>>>,
    /// The first node of each loop.
    first_nodes: Vec<Option<u32>>,
    /// The place of each loop in the order of all, 0-based.
    places: Vec<u32>,
}

impl Numbering {
    /// Orders the loops. `members` says which loop each node is in, if any. Of a loop the first
    /// node is one of those with the lowest `rank`.
    pub(super) fn new<R: Copy + Ord>(
        walks: &[Walk],
        members: &[(u32, Option<usize>)],
        loops: usize,
        rank: impl Fn(u32) -> R,
    ) -> Self {
        let mut firsts = vec![vec![None; walks.len()]; loops];
        let mut first_nodes: Vec<Option<First<R>>> = vec![None; loops];
        for (node, of_loop) in members {
            let Some(of_loop) = *of_loop else { continue };
            for (walk, first) in walks.iter().zip(&mut firsts[of_loop]) {
                let Some(order) = walk.order.get(node).copied() else { continue };
                *first = Some(first.map_or(order, |first: u32| first.min(order)));
                let earliest = &mut first_nodes[of_loop];
                // Of several the one that most ranks begin with.
                let own = (rank(*node), order, Reverse(walk.ranks), *node);
                if earliest.is_none_or(|earliest| own < earliest) {
                    *earliest = Some(own);
                }
            }
        }
        let before = |of_loop: usize, walk: usize| {
            let own = firsts[of_loop][walk]?;
            let earlier = |other: &&Vec<Option<u32>>| other[walk].is_some_and(|first| first < own);
            Some((firsts.iter().filter(earlier).count(), own))
        };
        let key = |of_loop: usize| {
            let of_walks = (0..walks.len()).filter_map(|walk| before(of_loop, walk));
            of_walks.max().unwrap_or_default()
        };
        let mut order: Vec<usize> = (0..loops).collect();
        order.sort_by_key(|of_loop| key(*of_loop));
        let mut places = vec![0; loops];
        for (place, of_loop) in (0..).zip(order) {
            places[of_loop] = place;
        }
        let first_nodes = first_nodes.into_iter().map(|first| first.map(|(.., node)| node));
        Self { first_nodes: first_nodes.collect(), firsts, places }
    }

    /// Returns the number of the straight part that a node is in: the number of loops before it.
    pub(super) fn straight(&self, walks: &[Walk], node: u32) -> u32 {
        let of_walk = |(at, walk): (usize, &Walk)| {
            let own = *walk.order.get(&node)?;
            let earlier = self.firsts.iter().zip(&self.places);
            let earlier = earlier.filter(|(firsts, _)| firsts[at].is_some_and(|first| first < own));
            Some(earlier.map(|(_, place)| place + 1).max().unwrap_or(0))
        };
        walks.iter().enumerate().filter_map(of_walk).max().unwrap_or(0)
    }

    /// Returns the first node of a loop.
    pub(super) fn first_node(&self, of_loop: usize) -> Option<u32> {
        self.first_nodes[of_loop]
    }
}

/// Returns names of loops: the region, or the first call.
pub(super) fn name_loops(
    nodes: &Nodes,
    first_of_loop: &BTreeMap<u64, (u32, bool)>,
) -> BTreeMap<u64, String> {
    let name = |id: u64, (node, is_region): (u32, bool)| {
        let info = nodes.get(node);
        let position = info.loops.iter().position(|around| *around == id);
        match position.and_then(|position| info.loop_names.get(position)) {
            Some(region) if is_region => region.clone(),
            _ => format!("loop from {}", info.name),
        }
    };
    first_of_loop.iter().map(|(id, first)| (*id, name(*id, *first))).collect()
}
