//! The ways through an iteration of a loop: which calls follow each other, how often, how long.
//!
//! The edges say how often each call followed another one. They say how often each way was taken
//! only if each has an edge that no other way has. Where two branches follow each other, which
//! combinations occurred is not known, and none is guessed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use tinyprof_messages::graph::{Class, Phase, Place};

use super::Structure;
use super::places::is_loop;
use tinyprof_report::cells::ratio;

/// The largest number of ways that are sought.
const WAYS_MAX: usize = 64;

/// The number of ways that are kept; of more, the rarest are one entry.
const KEPT_MAX: usize = 8;

/// The largest number of steps of a way.
const STEPS_MAX: usize = 256;

/// A step: a call, or a whole loop in the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Call(u32),
    /// The loop at this position of the inner phases.
    Loop(usize),
}

/// A way through an iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    /// The number of iterations that took it, of all ranks of the class.
    pub(super) count: u64,
    /// The mean time of such an iteration, with the computation up to the next one, in ns.
    pub(super) ns: f64,
    /// The steps, each with the mean number of its calls, one after the other.
    pub(super) steps: Vec<(Step, f64)>,
}

/// The ways through the iterations of a loop, of the ranks of a class.
#[derive(Clone, Debug, Default)]
pub(super) struct Iterations {
    /// All iterations: how often ranks came to the step that an iteration begins with.
    pub(super) count: u64,
    /// That step. Where the loop is no region, it is a guess.
    pub(super) head: Option<Step>,
    /// The most frequent ways; none if edges do not tell them.
    pub(super) ways: Vec<Way>,
    /// The number of other ways, their iterations, and the mean time of these in ns.
    pub(super) others: (usize, u64, f64),
}

impl Iterations {
    /// Returns the number of iterations whose way the edges do not tell.
    pub(super) fn unknown(&self) -> u64 {
        let (_, others, _) = self.others;
        let known = self.ways.iter().map(|way| way.count).sum::<u64>() + others;
        self.count.saturating_sub(known)
    }
}

/// How often, and how long in all.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    ns: u128,
}

/// The calls and computations in a loop, of all ranks of a class.
#[derive(Debug, Default)]
struct Body {
    /// The position of the first edge that leads to a step.
    orders: BTreeMap<Step, u32>,
    /// The calls of a step, without the computation before them.
    calls: BTreeMap<Step, Sum>,
    /// The computations within a step.
    within: BTreeMap<Step, Sum>,
    /// From each step to others in the loop, or out of it (none).
    edges: BTreeMap<Step, BTreeMap<Option<Step>, Sum>>,
    /// How often each step was entered from another one or from outside.
    entered: BTreeMap<Step, u64>,
    /// The steps with which an iteration may begin.
    heads: BTreeSet<Step>,
    /// Whether it is a guess which of them does.
    is_guess: bool,
}

impl Structure {
    /// Returns the ways through the iterations of a loop; none if the phase is no loop.
    pub(super) fn iterations(&self, phase: &Phase, class: &Class) -> Option<Iterations> {
        is_loop(phase).then(|| self.body(phase, class).iterations())
    }

    fn body(&self, phase: &Phase, class: &Class) -> Body {
        let step = |node: u32| -> Option<Step> {
            let is_here = |inner: &Phase| is_loop(inner) && self.is_in(inner, node);
            let inner = phase.inner.iter().position(is_here);
            self.is_in(phase, node).then(|| inner.map_or(Step::Call(node), Step::Loop))
        };
        let is_region = self.is_region(phase);
        let mut body = Body { is_guess: !is_region, ..Body::default() };
        let id = match phase.section.places.last() {
            Some(Place::Loop(id)) => *id,
            _ => 0,
        };
        let is_head = |node: u32| match is_region {
            true => !self.nodes.get(node).is_local,
            false => self.sections.heads.contains(&(id, node)),
        };
        for rank in class.ranks.iter() {
            let Some(found) = self.observed.ranks.get(rank as usize) else { continue };
            for visited in &found.visited {
                let Some(step) = step(visited.node) else { continue };
                body.calls.entry(step).or_default().add(visited.times.count, visited.times.sum);
                let order = body.orders.entry(step).or_insert(visited.order);
                *order = visited.order.min(*order);
                if is_head(visited.node) {
                    body.heads.insert(step);
                }
            }
            for flow in &found.flows {
                let ends = (flow.from.and_then(step), step(flow.to));
                body.add_flow(ends, flow.times.count, flow.times.sum);
            }
        }
        body.end();
        body
    }
}

fn steps_of(way: &Way) -> impl Iterator<Item = &Step> {
    way.steps.iter().map(|(step, _)| step)
}

impl Way {
    /// Adds iterations, and takes the mean of all.
    fn absorb(&mut self, other: &Self) {
        let count = self.count.saturating_add(other.count);
        let part = ratio(other.count.into(), count.max(1).into());
        self.ns += (other.ns - self.ns) * part;
        self.count = count;
    }
}

impl Sum {
    fn add(&mut self, count: u64, ns: u64) {
        self.count = self.count.saturating_add(count);
        self.ns = self.ns.saturating_add(ns.into());
    }
}

impl Body {
    fn add_flow(&mut self, ends: (Option<Step>, Option<Step>), count: u64, ns: u64) {
        match ends {
            (None, None) => {}
            (Some(from), Some(to)) if from == to => {
                self.within.entry(from).or_default().add(count, ns);
            }
            (from, to) => {
                if let Some(from) = from {
                    // What comes after the loop is no part of it.
                    let ns = if to.is_some() { ns } else { 0 };
                    self.edges.entry(from).or_default().entry(to).or_default().add(count, ns);
                }
                if let Some(to) = to {
                    let entered = self.entered.entry(to).or_default();
                    *entered = entered.saturating_add(count);
                }
            }
        }
    }

    /// Lets ranks leave the loop where their recording ended in it.
    fn end(&mut self) {
        for (&step, &entered) in &self.entered {
            let edges = self.edges.entry(step).or_default();
            let left = edges.values().fold(0_u64, |sum, edge| sum.saturating_add(edge.count));
            if entered > left {
                edges.entry(None).or_default().add(entered - left, 0);
            }
        }
    }

    fn iterations(&self) -> Iterations {
        let steps = self.orders.iter();
        let Some((&head, _)) = steps.min_by_key(|(step, order)| {
            let is_head = self.heads.contains(step);
            // Other ranks may begin with another call, which these ranks call more often.
            let entered = self.entered.get(step).copied().filter(|_| is_head && self.is_guess);
            (!is_head, entered, **order)
        }) else {
            return Iterations::default();
        };
        if let ([_], Step::Call(_)) = (self.calls.values().collect::<Vec<_>>().as_slice(), head) {
            return self.of_one_call(head);
        }
        let count = self.entered.get(&head).copied().unwrap_or(0);
        let mut ways = Vec::new();
        let is_whole = self.seek(head, &mut vec![head], &mut ways);
        let counts = if is_whole { self.counts(head, &ways) } else { None };
        let mut ways: Vec<Way> = ways
            .iter()
            .zip(counts.unwrap_or_default())
            .map(|(steps, count)| self.way(steps, head, count))
            .collect();
        ways.sort_by(|a, b| steps_of(a).cmp(steps_of(b)));
        ways.dedup_by(|other, first| {
            // These differ only in what came after them.
            let is_same = steps_of(other).eq(steps_of(first));
            if is_same {
                first.absorb(other);
            }
            is_same
        });
        ways.sort_by_key(|way| Reverse(way.count));
        let rarest = ways.split_off(ways.len().min(KEPT_MAX));
        let mut others = Way::default();
        rarest.iter().for_each(|way| others.absorb(way));
        let others = (rarest.len(), others.count, others.ns);
        Iterations { count, head: Some(head), ways, others }
    }

    /// Returns the iterations of a loop that has one call: each call is one.
    fn of_one_call(&self, head: Step) -> Iterations {
        let calls = self.calls[&head];
        let within = self.within.get(&head).copied().unwrap_or_default();
        let ns = mean(calls.ns + within.ns, calls.count);
        let way = Way { count: calls.count, ns, steps: vec![(head, 1.0)] };
        Iterations { count: calls.count, head: Some(head), ways: vec![way], others: (0, 0, 0.0) }
    }

    /// Collects the ways from the last step of `steps` back to `head` or out of the loop. Returns
    /// false if there are too many, or circles in the loop that are no loops.
    fn seek(&self, head: Step, steps: &mut Vec<Step>, ways: &mut Vec<Vec<Option<Step>>>) -> bool {
        let Some(next) = steps.last().and_then(|last| self.edges.get(last)) else { return true };
        for &to in next.keys() {
            match to.filter(|&to| to != head) {
                None => ways.push(steps.iter().copied().map(Some).chain([to]).collect()),
                Some(to) if steps.contains(&to) || steps.len() == STEPS_MAX => return false,
                Some(to) => {
                    steps.push(to);
                    let is_whole = self.seek(head, steps, ways);
                    steps.pop();
                    if !is_whole {
                        return false;
                    }
                }
            }
            if ways.len() > WAYS_MAX {
                return false;
            }
        }
        true
    }

    /// Returns how often each way was taken, by an edge that only this way has; none if a way has
    /// no such edge, or if ways do not add up to the edges.
    ///
    /// Ways that differ only in how they end (with another iteration or not) are counted apart.
    fn counts(&self, head: Step, ways: &[Vec<Option<Step>>]) -> Option<Vec<u64>> {
        let mut of_edges: BTreeMap<(Option<Step>, Option<Step>), Vec<usize>> = BTreeMap::new();
        for (number, way) in ways.iter().enumerate() {
            for pair in way.windows(2) {
                of_edges.entry((pair[0], pair[1])).or_default().push(number);
            }
        }
        let count = |(from, to): (Option<Step>, Option<Step>)| -> u64 {
            let edges = from.and_then(|from| self.edges.get(&from));
            edges.and_then(|edges| edges.get(&to)).map_or(0, |sum| sum.count)
        };
        let mut counts: Vec<Option<u64>> = vec![None; ways.len()];
        for (&edge, of_edge) in of_edges.iter().filter(|(_, of_edge)| of_edge.len() == 1) {
            counts[of_edge[0]] = Some(count(edge));
        }
        let counts: Vec<u64> = counts.into_iter().collect::<Option<_>>()?;
        let adds_up = |(edge, of_edge): (&(Option<Step>, Option<Step>), &Vec<usize>)| {
            of_edge.iter().map(|&way| counts[way]).sum::<u64>() == count(*edge)
        };
        let all = counts.iter().sum::<u64>();
        let entered = self.entered.get(&head).copied().unwrap_or(0);
        (of_edges.iter().all(adds_up) && all <= entered).then_some(counts)
    }

    fn way(&self, way: &[Option<Step>], head: Step, count: u64) -> Way {
        let steps = way.iter().take(way.len() - 1).flatten();
        let mut ns = 0.0;
        for pair in way.windows(2) {
            let Some(from) = pair[0] else { continue };
            let passed = self.passed(from, head);
            let calls = self.calls.get(&from).copied().unwrap_or_default();
            let within = self.within.get(&from).copied().unwrap_or_default();
            let after = self.edges.get(&from).and_then(|edges| edges.get(&pair[1]));
            let after = after.copied().unwrap_or_default();
            ns += mean(calls.ns + within.ns, passed) + mean(after.ns, after.count);
        }
        let steps = steps.map(|&step| {
            let calls = self.calls.get(&step).map_or(0, |calls| calls.count);
            (step, mean(calls.into(), self.passed(step, head)))
        });
        Way { count, ns, steps: steps.collect() }
    }

    /// Returns how often a step was passed.
    fn passed(&self, step: Step, head: Step) -> u64 {
        self.entered.get(&step).or_else(|| self.entered.get(&head)).copied().unwrap_or(0)
    }
}

/// Returns the mean of `count` times; 0 of none.
fn mean(sum_ns: u128, count: u64) -> f64 {
    ratio(sum_ns, count.max(1).into())
}
