//! Phases and classes as JSON.

use serde_json::{Value, json};
use tinyprof_messages::graph::{Class, Phase, Place};

use super::Structure;
use super::class::{ClassCall, ClassFacts, Partners};
use super::iterations::{Iterations, Step, Way};
use super::places::is_loop;
use tinyprof_report::cells::ratio;

impl Structure {
    /// Returns the phases as JSON.
    ///
    /// * `phases`: in the order in which they begin, each with its `name`, its `kind` (`loop` or
    ///   `straight`), its `ranks` as text, its `classes`, and the phases in it as `inner`.
    /// * `classes`: each with its `ranks` as text like `1-6`, how many they are (`size`), and what
    ///   they do. `peers` are the partners of their messages relative to the rank, and
    ///   `peer_ranks` the ranks, as text; one of them is null unless both are. Times are means of
    ///   a rank, in ns.
    /// * `iterations`: null for straight parts. `count` is how many a rank has; `ways` are the
    ///   sequences of calls in them, at most 8, each with its `count`, its mean time (`time_ns`)
    ///   and its `steps`: calls, or loops in the loop, with the number of calls one after the
    ///   other. `others` are the rarest ways (`ways`, `count`, `time_ns`) if there are more, and
    ///   `unknown` are the iterations whose way the profile does not tell.
    /// * `differs`: where the class differs from the one that is most like it, whose ranks are in
    ///   `from`. Null if it is the only one, or there are more than 32.
    #[must_use]
    pub fn to_json(&self, name: &str) -> Value {
        json!({
            "schema_version": 1,
            "name": name,
            "ranks": self.observed.ranks.len(),
            "structure_only": !self.comparison.with_times,
            "tolerance": self.comparison.tolerance,
            "phases": self.phases.iter().map(|phase| self.phase_json(phase)).collect::<Vec<_>>(),
        })
    }

    fn phase_json(&self, phase: &Phase) -> Value {
        let mut ranks = tinyprof_messages::graph::RankSet::default();
        phase.classes.iter().for_each(|class| ranks.absorb(&class.ranks));
        json!({
            "name": self.phase_name(phase),
            "kind": if is_loop(phase) { "loop" } else { "straight" },
            "ranks": ranks.to_string(),
            "classes":
                phase.classes.iter().map(|class| self.class_json(phase, class)).collect::<Vec<_>>(),
            "inner": phase.inner.iter().map(|inner| self.phase_json(inner)).collect::<Vec<_>>(),
        })
    }

    fn class_json(&self, phase: &Phase, class: &Class) -> Value {
        let facts = self.facts(phase, class);
        let (peers, peer_ranks) = partners_json(&facts.partners);
        json!({
            "ranks": class.ranks.to_string(),
            "size": class.ranks.len(),
            "representative": class.representative,
            "peers": peers,
            "peer_ranks": peer_ranks,
            "in_calls_ns": facts.in_calls_ns,
            "computing_ns": facts.computing_ns,
            "computing_before_ns": facts.before_ns,
            "calls": facts.calls.iter().map(|call| self.call_json(call)).collect::<Vec<_>>(),
            "iterations": self.iterations(phase, class).map(|iterations| {
                self.iterations_json(phase, &iterations, &facts, class.ranks.len())
            }),
            "differs": self.differs(phase, class).map(|differs| json!({
                "from": differs.from.to_string(),
                "count": differs.all,
                "parts": differs.told.into_iter().map(|told| told.json).collect::<Vec<_>>(),
            })),
        })
    }

    fn iterations_json(
        &self,
        phase: &Phase,
        iterations: &Iterations,
        facts: &ClassFacts,
        ranks: u64,
    ) -> Value {
        let of_rank = |count: u64| ratio(count.into(), ranks.max(1).into());
        let step = |&(step, calls): &(Step, f64)| match step {
            Step::Loop(inner) => {
                json!({ "loop": self.phase_name(&phase.inner[inner]), "calls": calls })
            }
            Step::Call(node) => {
                let info = self.nodes.get(node);
                let call = facts.calls.iter().find(|call| call.node == node);
                let (peers, peer_ranks) =
                    call.map_or((Value::Null, Value::Null), |call| partners_json(&call.partners));
                json!({
                    "callpath": info.path,
                    "function": info.function,
                    "calls": calls,
                    "peers": peers,
                    "peer_ranks": peer_ranks,
                })
            }
        };
        // Where iterations begin is a guess in a loop that is no region.
        let begin = |head: &Step| match *head {
            Step::Loop(inner) => self.phase_name(&phase.inner[inner]),
            Step::Call(node) => self.nodes.get(node).path.clone(),
        };
        let way = |way: &Way| {
            json!({
                "count": of_rank(way.count),
                "time_ns": way.ns,
                "steps": way.steps.iter().map(step).collect::<Vec<_>>(),
            })
        };
        let (others, of_others, ns) = iterations.others;
        json!({
            "count": of_rank(iterations.count),
            "of": (!self.is_region(phase)).then(|| iterations.head.as_ref().map(begin)),
            "ways": iterations.ways.iter().map(way).collect::<Vec<_>>(),
            "others": (others > 0).then(|| {
                json!({ "ways": others, "count": of_rank(of_others), "time_ns": ns })
            }),
            "unknown": of_rank(iterations.unknown()),
        })
    }

    fn call_json(&self, call: &ClassCall) -> Value {
        let info = self.nodes.get(call.node);
        let (peers, peer_ranks) = partners_json(&call.partners);
        json!({
            "callpath": info.path,
            "function": info.function,
            "calls": call.calls,
            "time_ns": call.ns,
            "waiting_ns": call.waiting_ns,
            "bytes_out": call.bytes[0],
            "bytes_in": call.bytes[1],
            "peers": peers,
            "peer_ranks": peer_ranks,
            "from_any": call.is_wildcard,
        })
    }

    /// Returns whether a phase is a loop that is a region.
    pub(super) fn is_region(&self, phase: &Phase) -> bool {
        let place = phase.section.places.last();
        matches!(place, Some(Place::Loop(id)) if self.sections.regions.contains(id))
    }

    /// Returns the name of a phase: that of its loop, or the number of the straight part.
    pub(super) fn phase_name(&self, phase: &Phase) -> String {
        match phase.section.places.last() {
            Some(Place::Loop(id)) => self.sections.names.get(id).cloned().unwrap_or_default(),
            Some(Place::Straight(number)) => format!("straight {}", u64::from(*number) + 1),
            None => String::new(),
        }
    }
}

fn partners_json(partners: &Partners) -> (Value, Value) {
    match partners {
        Partners::None => (json!([]), json!("")),
        Partners::Relative(offsets) => (json!(offsets), Value::Null),
        Partners::Ranks(ranks) => (Value::Null, json!(ranks.to_string())),
        Partners::Various => (Value::Null, Value::Null),
    }
}
