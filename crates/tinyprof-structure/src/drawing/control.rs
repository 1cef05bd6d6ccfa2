//! Control nodes of loops: flow into a loop, and back to where its iterations begin, leads through
//! the loop's own node.

use std::collections::BTreeMap;

use tinyprof_messages::graph::{Place, Section};

use super::super::loops::Sections;
use super::super::observed::OfRank;

/// A node of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stop {
    /// The begin of the recording.
    Begin,
    /// A loop, by its number in [`Control`].
    Loop(usize),
    /// The node of a call.
    Call(u32),
}

/// The call with which the iterations of a loop begin on a rank.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    node: u32,
    /// The position of its first visit.
    pub(super) order: u32,
    /// True if the rank makes no other call in the loop.
    is_alone: bool,
}

/// Where each loop of a rank begins, by its number in [`Control`].
pub(super) type Heads = BTreeMap<usize, Head>;

/// The loops of a program. Outer ones have lower numbers than those in them.
#[derive(Debug)]
pub(super) struct Control {
    loops: Vec<Section>,
    /// For each node the loops around it, from the outermost on.
    around: Vec<Vec<usize>>,
}

impl Control {
    pub(super) fn of(sections: &Sections) -> Self {
        let around = |section: &Section| -> Vec<Section> {
            let ends = (1..).zip(&section.places);
            let ends = ends.filter(|(_, place)| matches!(place, Place::Loop(_)));
            ends.map(|(end, _)| Section { places: section.places[..end].to_vec() }).collect()
        };
        let mut loops: Vec<Section> = sections.of_node.iter().flat_map(around).collect();
        loops.sort_unstable();
        loops.dedup();
        let number = |section: &Section| loops.binary_search(section).ok();
        let of_node = sections.of_node.iter();
        let around = of_node.map(|own| around(own).iter().filter_map(number).collect()).collect();
        Self { loops, around }
    }

    /// Returns the section of a loop.
    pub(super) fn section(&self, number: usize) -> &Section {
        &self.loops[number]
    }

    /// Returns the loops around a node, from the outermost on.
    pub(super) fn around(&self, node: u32) -> &[usize] {
        &self.around[node as usize]
    }

    /// Returns where the loops of a rank begin.
    pub(super) fn heads(&self, found: &OfRank) -> Heads {
        let mut heads = Heads::new();
        for visited in &found.visited {
            let own = Head { node: visited.node, order: visited.order, is_alone: true };
            for number in self.around(visited.node) {
                let head = heads.entry(*number).or_insert(own);
                let is_alone = head.node == own.node;
                let is_first = (own.order, own.node) < (head.order, head.node);
                *head = Head { is_alone, ..if is_first { own } else { *head } };
            }
        }
        heads
    }

    /// Calls `step` for each edge on the way between two calls that follow each other on a rank
    /// whose loops begin there. A call that is repeated in a row begins no iteration, unless the
    /// loop has no other.
    pub(super) fn way(
        &self,
        heads: &Heads,
        from: Option<u32>,
        to: u32,
        mut step: impl FnMut(Stop, Stop),
    ) {
        let before = from.map_or(&[][..], |from| self.around(from));
        let after = self.around(to);
        let shared = before.iter().zip(after).take_while(|(one, other)| one == other).count();
        let begins = |number: &usize| {
            let head = heads.get(number).filter(|head| head.node == to);
            head.is_some_and(|head| from != Some(to) || head.is_alone)
        };
        let begun = after.iter().position(begins).unwrap_or(after.len());
        // Back to the innermost loop that both are in, and into those that begin here.
        let through = if begun < shared { shared - 1 } else { begun };
        let mut last = from.map_or(Stop::Begin, Stop::Call);
        let stops = after[through..].iter().map(|number| Stop::Loop(*number));
        for stop in stops.chain([Stop::Call(to)]) {
            step(last, stop);
            last = stop;
        }
    }
}
