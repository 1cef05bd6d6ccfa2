//! Phases and classes to be drawn from left to right: a lane for the ranks that are in the same
//! class in every phase.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Value, json};
use tinyprof_format::model::{Edge, EdgeKind};
use tinyprof_messages::graph::{Class, Phase, RankSet};

use super::Structure;
use super::class::ClassCall;
use super::places::is_loop;
use super::text::partners;
use tinyprof_report::world_rank;

/// The most lanes; ranks beyond them are not drawn.
const LANES_MAX: usize = 64;
/// The most connections, those with the most bytes and waiting.
const MESSAGES_MAX: usize = 2_000;

/// The ends of messages: lanes, and nodes where they are known.
type Ends = (usize, Option<u32>, usize, u32);

impl Structure {
    /// Returns phases, classes and messages to be drawn, or null if nothing of it was recorded.
    ///
    /// * `lanes`: for each its `ranks` as text and how many they are (`size`).
    /// * `ranks_omitted`: the ranks that are in none of the lanes.
    /// * `phases`: the innermost ones, each with its `number`, `name`, `kind` and `classes`; a
    ///   class has its `lanes`, and its `calls` in order with times as means of a rank, in ns.
    /// * `messages`: between calls of lanes, given by their positions and by `node`. `from_node` is
    ///   null if it is unknown.
    #[must_use]
    pub fn lanes_json(&self) -> Value {
        if !self.is_recorded() {
            return Value::Null;
        }
        let mut leaves = Vec::new();
        add_leaves(&self.phases, "", &mut leaves);
        let lanes = lanes(self.ranks(), &leaves);
        let drawn = &lanes[..lanes.len().min(LANES_MAX)];
        let omitted: u64 = lanes[drawn.len()..].iter().map(RankSet::len).sum();
        let phases = leaves.iter().map(|(number, phase)| {
            let classes = phase.classes.iter();
            json!({
                "number": number,
                "name": self.phase_name(phase),
                "kind": if is_loop(phase) { "loop" } else { "straight" },
                "classes":
                    classes.map(|class| self.drawn_class(phase, class, drawn)).collect::<Value>(),
            })
        });
        json!({
            "lanes": drawn
                .iter()
                .map(|ranks| json!({ "ranks": ranks.to_string(), "size": ranks.len() }))
                .collect::<Value>(),
            "ranks_omitted": omitted,
            "phases": phases.collect::<Value>(),
            "messages": self.drawn_messages(drawn),
        })
    }

    fn drawn_class(&self, phase: &Phase, class: &Class, lanes: &[RankSet]) -> Value {
        let facts = self.facts(phase, class);
        // All ranks of a lane are in the same class.
        let is_own = |ranks: &RankSet| ranks.iter().next().is_some_and(|r| class.ranks.contains(r));
        let own = (0..).zip(lanes).filter(|(_, ranks)| is_own(ranks)).map(|(lane, _)| lane);
        json!({
            "ranks": class.ranks.to_string(),
            "size": class.ranks.len(),
            "lanes": own.collect::<Vec<usize>>(),
            "in_calls_ns": facts.in_calls_ns,
            "computing_ns": facts.computing_ns,
            "calls": facts.calls.iter().map(|call| self.drawn_call(call)).collect::<Value>(),
        })
    }

    fn drawn_call(&self, call: &ClassCall) -> Value {
        let info = self.nodes.get(call.node);
        json!({
            "node": call.node,
            "callpath": self.nodes.first_row(call.node),
            "function": info.function,
            "calls": call.calls,
            "ns": call.ns,
            "waiting_ns": call.waiting_ns,
            "bytes_out": call.bytes[0],
            "bytes_in": call.bytes[1],
            "partners": partners(call),
        })
    }

    fn drawn_messages(&self, lanes: &[RankSet]) -> Value {
        let mut lane_of: Vec<Option<usize>> = vec![None; self.observed.ranks.len()];
        for (lane, ranks) in lanes.iter().enumerate() {
            for rank in ranks.iter() {
                lane_of[rank as usize] = Some(lane);
            }
        }
        let mut sums: BTreeMap<(EdgeKind, Ends), Edge> = BTreeMap::new();
        for (rank, found) in (0_u32..).zip(&self.observed.ranks) {
            let Some(to) = lane_of[rank as usize] else { continue };
            for edge in &found.incoming {
                let partner = world_rank(edge.partner, rank, lane_of.len());
                let Some(from) = partner.and_then(|partner| lane_of[partner as usize]) else {
                    continue;
                };
                let key = (edge.kind, (from, edge.from, to, edge.to));
                sums.entry(key).or_default().absorb(&edge.edge);
            }
        }
        let mut messages: Vec<_> = sums.into_iter().collect();
        messages.sort_by_key(|(_, sum)| Reverse((sum.sum_ns, sum.bytes)));
        let of_one = |((kind, (from, from_node, to, to_node)), sum): &((EdgeKind, Ends), Edge)| {
            json!({
                "kind": kind.name(),
                "from": from,
                "from_node": from_node,
                "to": to,
                "to_node": to_node,
                "count": sum.count,
                "bytes": sum.bytes,
                "waiting_ns": sum.sum_ns,
            })
        };
        messages.iter().take(MESSAGES_MAX).map(of_one).collect()
    }
}

/// Adds the phases that have no others in them, with their numbers: `2.1`.
fn add_leaves<'a>(phases: &'a [Phase], above: &str, leaves: &mut Vec<(String, &'a Phase)>) {
    for (number, phase) in (1..).zip(phases) {
        let number = format!("{above}{number}");
        if phase.inner.is_empty() {
            leaves.push((number, phase));
        } else {
            add_leaves(&phase.inner, &format!("{number}."), leaves);
        }
    }
}

/// Returns the ranks that are in the same class in every phase, in the order of their first ranks.
fn lanes(ranks: u32, leaves: &[(String, &Phase)]) -> Vec<RankSet> {
    let mut classes: Vec<Vec<Option<usize>>> = vec![Vec::new(); ranks as usize];
    for (_, phase) in leaves {
        classes.iter_mut().for_each(|of_rank| of_rank.push(None));
        for (number, class) in phase.classes.iter().enumerate() {
            for rank in class.ranks.iter() {
                if let Some(last) = classes.get_mut(rank as usize).and_then(|all| all.last_mut()) {
                    *last = Some(number);
                }
            }
        }
    }
    let mut known: BTreeMap<&[Option<usize>], usize> = BTreeMap::new();
    let mut lanes: Vec<RankSet> = Vec::new();
    for (rank, of_rank) in (0..).zip(&classes) {
        if of_rank.iter().all(Option::is_none) {
            continue;
        }
        let lane = *known.entry(of_rank).or_insert(lanes.len());
        if lane == lanes.len() {
            lanes.push(RankSet::default());
        }
        lanes[lane].insert(rank);
    }
    lanes
}
