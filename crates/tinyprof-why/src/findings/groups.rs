//! The causes of waiting that are one: of one rank, or of one activity.

use std::collections::BTreeMap;

use tinyprof_messages::graph::RankSet;

use crate::blame::{Blame, Blamed, Cause};
use crate::facts::activities::Doing;

/// The part of the largest activity's waiting that a single rank has to explain to be named for all
/// that it does.
const RANK_PART: f64 = 0.75;
/// The part of the largest rank's waiting from which on a rank is named beside it.
const BESIDE_PART: f64 = 0.2;
/// The most groups that are looked for.
const GROUPS_MAX: usize = 8;

/// Causes that are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    pub(crate) ranks: RankSet,
    /// What they do, with the waiting that it explains in ns, the longest first.
    pub(crate) activities: Vec<(Doing, f64)>,
    pub(crate) blamed: Blamed,
}

/// Returns groups of causes, the costliest first.
pub(crate) fn groups(blame: &Blame) -> Vec<Group> {
    let mut left = blame.causes.clone();
    let mut found = Vec::new();
    while found.len() < GROUPS_MAX {
        let Some(group) = largest(&left) else { break };
        let is_one = group.ranks.len() == 1;
        let first = group.activities.first().map(|(doing, _)| *doing);
        left.retain(|(rank, doing), _| {
            let is_in = if is_one { group.ranks.contains(*rank) } else { Some(*doing) == first };
            !is_in
        });
        found.push(group);
    }
    found
}

fn largest(causes: &BTreeMap<Cause, Blamed>) -> Option<Group> {
    let mut of_ranks: BTreeMap<u32, f64> = BTreeMap::new();
    let mut of_activities: BTreeMap<Doing, f64> = BTreeMap::new();
    for ((rank, doing), blamed) in causes {
        *of_ranks.entry(*rank).or_default() += blamed.ns();
        *of_activities.entry(*doing).or_default() += blamed.ns();
    }
    let (rank, rank_ns) = most(&of_ranks)?;
    let (doing, doing_ns) = most(&of_activities)?;
    if rank_ns >= RANK_PART * doing_ns {
        return Some(group(causes, |cause| cause.0 == rank));
    }
    let of_activity = causes.iter().filter(|(cause, _)| cause.1 == doing);
    let top_ns = of_activity.clone().map(|(_, blamed)| blamed.ns()).fold(0.0, f64::max);
    let named = of_activity.filter(|(_, blamed)| blamed.ns() >= BESIDE_PART * top_ns);
    let named: RankSet = named.map(|(cause, _)| cause.0).collect();
    Some(group(causes, |cause| cause.1 == doing && named.contains(cause.0)))
}

fn most<T: Copy>(sums: &BTreeMap<T, f64>) -> Option<(T, f64)> {
    sums.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(key, ns)| (*key, *ns))
}

fn group(causes: &BTreeMap<Cause, Blamed>, is_in: impl Fn(&Cause) -> bool) -> Group {
    let mut group = Group::default();
    let mut activities: BTreeMap<Doing, f64> = BTreeMap::new();
    for (cause, blamed) in causes.iter().filter(|(cause, _)| is_in(cause)) {
        group.ranks.insert(cause.0);
        *activities.entry(cause.1).or_default() += blamed.ns();
        group.blamed.absorb(blamed);
    }
    group.activities = activities.into_iter().collect();
    group.activities.sort_by(|a, b| b.1.total_cmp(&a.1));
    group
}
