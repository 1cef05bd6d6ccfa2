//! How alike two ranks are, and where they differ.

use std::collections::BTreeSet;

use super::peers::{Slot, by_slot, wildcards};
use super::{Direction, NodeKey, Section, Tag, Tally};

/// More than the rounding of a sum of squares, so that a shortcut excludes nothing that is alike.
const ROUNDING: f64 = 1e-9;

/// How many standard errors of a time are chance.
const ERRORS: f64 = 3.0;

/// The number of visits from which on their differences say how much of a time is chance.
const VISITS_MIN: u64 = 3;

/// The rules by which ranks are alike.
///
/// A difference that chance explains does not count: three standard errors of the time of all
/// visits, as the visits differ from each other. Times of fewer than three visits say nothing of
/// chance, and do not count at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The number of ranks in the world.
    pub ranks: u32,
    /// The distance of times up to which ranks are alike, relative to the times: 0.02 is 2 %.
    pub tolerance: f64,
    /// The difference of times that does not matter, in ns for each visit.
    pub floor_ns: u64,
    /// False to compare structure and counts alone.
    pub with_times: bool,
}

impl Comparison {
    /// Returns the usual rules for this many ranks: 2 %, and 1 us a visit.
    #[must_use]
    pub const fn new(ranks: u32) -> Self {
        Self { ranks, tolerance: 0.02, floor_ns: 1_000, with_times: true }
    }

    /// Returns whether counts at wildcards are alike: within 1, or 1 %.
    pub(super) fn are_close(a: u64, b: u64) -> bool {
        a.abs_diff(b) <= (a.max(b) / 100).max(1)
    }

    /// Returns the difference of two times that matters, in ns.
    #[expect(clippy::cast_precision_loss, reason = "a distance, compared with a tolerance")]
    pub(super) fn distance(&self, a: Time, b: Time) -> f64 {
        let floor_ns = self.floor_ns.saturating_mul(a.count.max(b.count));
        let chance_ns = a.chance_ns.hypot(b.chance_ns);
        (a.ns.abs_diff(b.ns).saturating_sub(floor_ns) as f64 - chance_ns).max(0.0)
    }

    /// Returns whether times are alike: the sum of the squares of the differences is small beside
    /// that of the means.
    #[expect(clippy::cast_precision_loss, reason = "a distance, compared with a tolerance")]
    pub(super) fn are_near(&self, a: &Times, b: &Times) -> bool {
        // The means are at most as long as the mean of both lengths, and the difference is at least
        // as long as that of the lengths.
        let most = self.tolerance * f64::midpoint(a.length(), b.length()) * (1.0 + ROUNDING);
        let floor = self.floor_ns as f64 * (a.visits() + b.visits()) + a.chance() + b.chance();
        if (a.length() - b.length()).abs() * (1.0 - ROUNDING) - floor > most {
            return false;
        }
        let most = most.powi(2);
        let (mut apart, mut size) = (0.0, 0.0);
        for (a, b) in a.each.iter().zip(&b.each) {
            apart += self.distance(*a, *b).powi(2);
            if apart > most {
                return false;
            }
            size += f64::midpoint(a.ns as f64, b.ns as f64).powi(2);
        }
        apart <= self.tolerance.powi(2) * size
    }

    /// Returns where two ranks differ in a section, the most important first: structure, then
    /// counts, then times by their difference. Empty if they are alike.
    #[must_use]
    pub fn differences(&self, a: &Tag, b: &Tag, section: &Section) -> Vec<Difference> {
        let mut found = Vec::new();
        let mut chance = wildcards(a);
        chance.extend(wildcards(b));
        let is_here = |tag: &Tag, key: &NodeKey| {
            tag.nodes.get(key).is_some_and(|node| node.section.is_within(section))
        };
        let keys: BTreeSet<&NodeKey> = a.nodes.keys().chain(b.nodes.keys()).collect();
        for key in keys {
            let times = [a, b]
                .map(|tag| tag.nodes.get(key).filter(|_| is_here(tag, key)).map(|node| node.times));
            found.extend(self.difference(Part::Node(*key), times, chance.contains(key)));
        }
        let flows: BTreeSet<_> = a.flows.keys().chain(b.flows.keys()).collect();
        for edge in flows {
            let times =
                [a, b].map(|tag| tag.flows.get(edge).copied().filter(|_| is_here(tag, &edge.1)));
            let is_chance = chance.contains(&edge.0) || chance.contains(&edge.1);
            found.extend(self.difference(Part::Flow(edge.0, edge.1), times, is_chance));
        }
        let completions: BTreeSet<_> = a.completions.keys().chain(b.completions.keys()).collect();
        for edge in completions {
            // Their times are waiting and computation, which others tell.
            let times = [a, b].map(|tag| {
                let times = tag.completions.get(edge).filter(|_| is_here(tag, &edge.1))?;
                Some(Tally { sum: 0, ..*times })
            });
            let is_chance = chance.contains(&edge.0) || chance.contains(&edge.1);
            found.extend(self.difference(Part::Completion(edge.0, edge.1), times, is_chance));
        }
        self.peers_differ(a, b, section, &mut found);
        let nothing_but_times = found.iter().all(|difference| difference.apart_ns > 0.0);
        if nothing_but_times && !self.exceeds(&found, a, b, section) {
            return Vec::new();
        }
        found.sort_by(|a, b| {
            let rank =
                |d: &Difference| (d.times[0].is_some() == d.times[1].is_some(), d.apart_ns > 0.0);
            rank(a).cmp(&rank(b)).then(b.apart_ns.total_cmp(&a.apart_ns))
        });
        found
    }

    /// Returns the difference of a part, if there is one: of structure, count or time.
    fn difference(
        &self,
        part: Part,
        times: [Option<Tally>; 2],
        is_chance: bool,
    ) -> Option<Difference> {
        let [Some(a), Some(b)] = times else {
            let is_on_one = times.iter().any(Option::is_some);
            return is_on_one.then_some(Difference { part, times, apart_ns: 0.0 });
        };
        let are_close = is_chance && Self::are_close(a.count, b.count);
        if a.count != b.count && !are_close {
            return Some(Difference { part, times, apart_ns: 0.0 });
        }
        let apart_ns = self.distance(Time::of(a), Time::of(b));
        (self.with_times && apart_ns > 0.0).then_some(Difference { part, times, apart_ns })
    }

    /// Adds messages whose peers differ both as numbers and relative to the ranks.
    fn peers_differ(&self, a: &Tag, b: &Tag, section: &Section, found: &mut Vec<Difference>) {
        let within = |tag: &Tag, slot: &Slot| {
            tag.nodes.get(&slot.node).is_some_and(|node| node.section.is_within(section))
        };
        let slots = |tag: &Tag| {
            let mut slots = by_slot(tag, self.ranks);
            slots.retain(|(slot, _)| within(tag, slot));
            slots
        };
        let (of_a, of_b) = (slots(a), slots(b));
        let all: BTreeSet<Slot> = of_a.iter().chain(&of_b).map(|(slot, _)| *slot).collect();
        for slot in all {
            let find = |of: &[(Slot, super::peers::Peers)]| {
                of.iter().find(|(other, _)| *other == slot).map(|(_, peers)| peers.clone())
            };
            let (a, b) = (find(&of_a), find(&of_b));
            let are_alike = a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| {
                let is_chance = slot.is_wildcard && Self::are_close(a.bytes.count, b.bytes.count);
                is_chance || a.relative == b.relative || a.absolute == b.absolute
            });
            if !are_alike {
                let part = Part::Messages(slot.node, slot.direction);
                let times = [a, b].map(|peers| peers.map(|peers| peers.bytes));
                found.push(Difference { part, times, apart_ns: 0.0 });
            }
        }
    }

    /// Returns whether differences of times are together beyond the tolerance.
    #[expect(clippy::cast_precision_loss, reason = "a distance, compared with a tolerance")]
    fn exceeds(&self, found: &[Difference], a: &Tag, b: &Tag, section: &Section) -> bool {
        let apart: f64 = found.iter().map(|difference| difference.apart_ns.powi(2)).sum();
        let sum = |tag: &Tag, part: Part| match part {
            Part::Node(key) => tag.nodes.get(&key).map_or(0, |node| node.times.sum),
            Part::Flow(from, to) => tag.flows.get(&(from, to)).map_or(0, |flow| flow.sum),
            Part::Completion(..) | Part::Messages(..) => 0,
        };
        let nodes = a.nodes.iter().filter(|(_, node)| node.section.is_within(section));
        let nodes = nodes.map(|(key, _)| Part::Node(*key));
        let is_here = |to: &NodeKey| a.nodes.get(to).is_some_and(|n| n.section.is_within(section));
        let flows = a.flows.keys().filter(|(_, to)| is_here(to));
        let parts = nodes.chain(flows.map(|(from, to)| Part::Flow(*from, *to)));
        let size = |part| f64::midpoint(sum(a, part) as f64, sum(b, part) as f64).powi(2);
        apart > self.tolerance.powi(2) * parts.map(size).sum::<f64>()
    }
}

/// The time of a node or flow edge on a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Time {
    pub(super) ns: u64,
    pub(super) count: u64,
    /// The part that is chance.
    pub(super) chance_ns: f64,
}

impl Time {
    #[expect(clippy::cast_precision_loss, reason = "a distance, compared with a tolerance")]
    pub(super) fn of(tally: Tally) -> Self {
        let chance_ns = if tally.count < VISITS_MIN {
            tally.sum as f64
        } else {
            ERRORS * tally.square_deviation().max(0.0).sqrt()
        };
        Self { ns: tally.sum, count: tally.count, chance_ns }
    }
}

/// The times of a section on a rank.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    each: Vec<Time>,
    squares: f64,
    squares_of_counts: f64,
    squares_of_chance: f64,
}

impl Times {
    #[expect(clippy::cast_precision_loss, reason = "a distance, compared with a tolerance")]
    pub(super) fn extend(&mut self, time: Option<Time>) {
        if let Some(time) = time {
            self.squares += (time.ns as f64).powi(2);
            self.squares_of_counts += (time.count as f64).powi(2);
            self.squares_of_chance += time.chance_ns.powi(2);
            self.each.push(time);
        }
    }

    fn length(&self) -> f64 {
        self.squares.sqrt()
    }

    fn visits(&self) -> f64 {
        self.squares_of_counts.sqrt()
    }

    fn chance(&self) -> f64 {
        self.squares_of_chance.sqrt()
    }
}

/// A part of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A node.
    Node(NodeKey),
    /// A computation between two nodes.
    Flow(NodeKey, NodeKey),
    /// The completion of a request.
    Completion(NodeKey, NodeKey),
    /// The peers of a node's messages.
    Messages(NodeKey, Direction),
}

/// A part in which two ranks differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The part.
    pub part: Part,
    /// Its times on both ranks, in ns; of messages their sizes in bytes. `None` where a rank does
    /// not have it.
    pub times: [Option<Tally>; 2],
    /// The difference of the times beyond the floor, in ns; 0 if structure or counts differ.
    pub apart_ns: f64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The shortcuts exclude nothing.
        #[test]
        fn near_is_what_the_formula_says(
            ranks in proptest::collection::vec(
                (0_u64..1_000_000, 1_u64..20, -50_i64..50, 1_i64..30), 1..6),
            chance_ns in 0_u32..10_000,
            floor_ns in 0_u64..2_000,
        ) {
            let comparison = Comparison { floor_ns, ..Comparison::new(2) };
            let (mut a, mut b) = (Times::default(), Times::default());
            let (mut apart, mut size) = (0.0, 0.0);
            for (ns, count, permille, more) in ranks {
                let of_a = Time { ns, count, chance_ns: chance_ns.into() };
                let moved_ns = ns.cast_signed() * permille / 1_000 + more;
                let of_b = Time { ns: ns.saturating_add_signed(moved_ns), ..of_a };
                a.extend(Some(of_a));
                b.extend(Some(of_b));
                apart += comparison.distance(of_a, of_b).powi(2);
                let [x, y] = [of_a, of_b].map(|time| f64::from(u32::try_from(time.ns).unwrap()));
                size += f64::midpoint(x, y).powi(2);
            }
            prop_assert_eq!(comparison.are_near(&a, &b), apart <= 0.02_f64.powi(2) * size);
            prop_assert_eq!(comparison.are_near(&b, &a), apart <= 0.02_f64.powi(2) * size);
        }
    }

    #[test]
    fn counts_at_wildcards_are_close_within_one_or_a_hundredth() {
        for (a, b, expected) in
            [(0, 1, true), (1, 3, false), (100, 101, true), (1_000, 1_010, true), (500, 506, false)]
        {
            assert_eq!(Comparison::are_close(a, b), expected, "{a} {b}");
        }
    }
}
