//! What the ranks of a class do in a phase: calls, partners, and times, as the mean over the ranks.

use std::collections::{BTreeMap, BTreeSet};

use tinyprof_messages::graph::{Class, Phase, RankSet};

use super::Structure;
use super::observed::{OfRank, is_known};
use super::places::is_loop;
use tinyprof_report::cells::ratio;
use tinyprof_report::world_rank;

/// The partners of the messages of some ranks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Partners {
    /// There are no messages.
    #[default]
    None,
    /// The same relative to each rank.
    Relative(Vec<i64>),
    /// The same ranks for all.
    Ranks(RankSet),
    /// Each rank has others.
    Various,
}

/// A call as the ranks of a class make it.
#[derive(Clone, Debug)]
pub(super) struct ClassCall {
    pub(super) node: u32,
    /// The mean number of calls of a rank.
    pub(super) calls: f64,
    /// The mean time of a rank in these calls, in ns.
    pub(super) ns: f64,
    /// The part of it until partners came.
    pub(super) waiting_ns: f64,
    /// The mean bytes of a rank, sent and received, with collective operations.
    pub(super) bytes: [f64; 2],
    pub(super) partners: Partners,
    /// True if messages come from any source.
    pub(super) is_wildcard: bool,
}

/// What the ranks of a class do.
#[derive(Clone, Debug)]
pub(super) struct ClassFacts {
    /// The calls in the order of their first visits.
    pub(super) calls: Vec<ClassCall>,
    pub(super) partners: Partners,
    /// The mean time of a rank in calls, in ns.
    pub(super) in_calls_ns: f64,
    /// The mean time of a rank between calls, in ns; before the first call only in a straight part:
    /// that is no iteration of a loop.
    pub(super) computing_ns: f64,
    /// The mean time of a rank between the call before a loop and its first one, in ns.
    pub(super) before_ns: f64,
}

impl Partners {
    /// Returns the partners of ranks that each have these offsets; the first description that fits
    /// all of them.
    fn of_ranks(ranks: usize, offsets: &[(u32, BTreeSet<i32>)]) -> Self {
        let sets = || offsets.iter().map(|(_, set)| set);
        if sets().all(BTreeSet::is_empty) {
            return Self::None;
        }
        let same = |of: &dyn Fn(u32, i32) -> Option<i64>| -> Option<BTreeSet<i64>> {
            let mut all = offsets
                .iter()
                .map(|(rank, set)| set.iter().map(|offset| of(*rank, *offset)).collect());
            let first: Option<BTreeSet<i64>> = all.next()?;
            all.all(|other| other == first).then_some(first)?
        };
        let count = i64::try_from(ranks).unwrap_or(i64::MAX).max(1);
        // The shortest way around a ring of all ranks.
        let around = |offset: i32| {
            let forward = i64::from(offset).rem_euclid(count);
            if forward > count / 2 { forward - count } else { forward }
        };
        let relative = same(&|_, offset| Some(offset.into()))
            .or_else(|| same(&|_, offset| Some(around(offset))));
        if let Some(relative) = relative {
            return Self::Relative(relative.into_iter().collect());
        }
        let absolute = same(&|rank, offset| world_rank(offset, rank, ranks).map(i64::from));
        absolute.map_or(Self::Various, |absolute| {
            Self::Ranks(absolute.into_iter().filter_map(|rank| u32::try_from(rank).ok()).collect())
        })
    }
}

/// The sums of a call over the ranks of a class.
#[derive(Default)]
struct Sums {
    order: u32,
    calls: u128,
    ns: u128,
    waiting_ns: u128,
    bytes: [u128; 2],
    offsets: Vec<(u32, BTreeSet<i32>)>,
    is_wildcard: bool,
}

impl Structure {
    /// Returns whether a node is in a phase.
    pub(super) fn is_in(&self, phase: &Phase, node: u32) -> bool {
        self.sections.of_node[node as usize].is_within(&phase.section)
    }

    /// Returns what the ranks of a class do in a phase.
    pub(super) fn facts(&self, phase: &Phase, class: &Class) -> ClassFacts {
        let mut sums: BTreeMap<u32, Sums> = BTreeMap::new();
        let mut offsets: Vec<(u32, BTreeSet<i32>)> = Vec::new();
        let (mut computing_ns, mut before_ns) = (0_u128, 0_u128);
        for rank in class.ranks.iter() {
            let Some(found) = self.observed.ranks.get(rank as usize) else { continue };
            let of_rank = self.add_rank(phase, rank, found, &mut sums);
            offsets.push((rank, of_rank));
            for flow in found.flows.iter().filter(|flow| self.is_in(phase, flow.to)) {
                let Some(from) = flow.from else { continue };
                let is_before = is_loop(phase) && !self.is_in(phase, from);
                let sum = if is_before { &mut before_ns } else { &mut computing_ns };
                *sum += u128::from(flow.times.sum);
            }
        }
        let ranks = self.observed.ranks.len();
        let count = u128::from(class.ranks.len().max(1));
        let mut ordered: Vec<(u32, Sums)> = sums.into_iter().collect();
        ordered.sort_by_key(|(node, sums)| (sums.order, *node));
        let in_calls_ns: u128 = ordered.iter().map(|(_, sums)| sums.ns).sum();
        let call = |(node, sums): (u32, Sums)| ClassCall {
            node,
            calls: ratio(sums.calls, count),
            ns: ratio(sums.ns, count),
            waiting_ns: ratio(sums.waiting_ns, count),
            bytes: sums.bytes.map(|bytes| ratio(bytes, count)),
            partners: Partners::of_ranks(ranks, &sums.offsets),
            is_wildcard: sums.is_wildcard,
        };
        ClassFacts {
            calls: ordered.into_iter().map(call).collect(),
            partners: Partners::of_ranks(ranks, &offsets),
            in_calls_ns: ratio(in_calls_ns, count),
            computing_ns: ratio(computing_ns, count),
            before_ns: ratio(before_ns, count),
        }
    }

    /// Adds the calls of a rank in a phase. Returns the offsets of its partners.
    fn add_rank(
        &self,
        phase: &Phase,
        rank: u32,
        found: &OfRank,
        sums: &mut BTreeMap<u32, Sums>,
    ) -> BTreeSet<i32> {
        let wildcards = found.wildcards();
        for visited in found.visited.iter().filter(|visited| self.is_in(phase, visited.node)) {
            let of_node = sums
                .entry(visited.node)
                .or_insert_with(|| Sums { order: visited.order, ..Sums::default() });
            of_node.order = of_node.order.min(visited.order);
            of_node.calls += u128::from(visited.times.count);
            of_node.ns += u128::from(visited.times.sum);
            of_node.waiting_ns += u128::from(visited.waiting_ns);
            for (sum, bytes) in of_node.bytes.iter_mut().zip(visited.collective_bytes) {
                *sum += u128::from(bytes);
            }
            of_node.is_wildcard |= wildcards.contains(&visited.node);
            of_node.offsets.push((rank, BTreeSet::new()));
        }
        let mut offsets = BTreeSet::new();
        for exchanged in &found.exchanged {
            let Some(of_node) = sums.get_mut(&exchanged.node) else { continue };
            of_node.bytes[usize::from(!exchanged.is_out)] += u128::from(exchanged.bytes);
            let is_chance = !exchanged.is_out && wildcards.contains(&exchanged.node);
            if is_known(exchanged.partner) && !is_chance {
                offsets.insert(exchanged.partner);
                if let Some((_, of_rank)) = of_node.offsets.last_mut() {
                    of_rank.insert(exchanged.partner);
                }
            }
        }
        offsets
    }
}
