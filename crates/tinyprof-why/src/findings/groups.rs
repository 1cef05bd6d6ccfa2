//! The causes of waiting that are one: of one rank, or of one activity.

use std::collections::BTreeMap;

use tinyprof_messages::graph::RankSet;

use crate::blame::{Blame, Blamed, Cause};
use crate::facts::activities::Doing;
use crate::facts::run::Run;

/// The part of the largest activity's waiting that a single rank has to explain to be named for all
/// that it does.
const RANK_PART: f64 = 0.75;
/// The part of the largest rank's waiting from which on a rank is named beside it.
const BESIDE_PART: f64 = 0.2;
/// The part of the time of the longest that a rank has to spend there to be named beside it.
const AS_LONG_PART: f64 = 0.5;
/// The part of a single rank's time from which on others are as late by the same.
const EQUAL_PART: f64 = 0.9;
/// The part of the waiting for a rank from which on others were waited for because they had no
/// processor, and do not do as much for certain.
const LOST_PART: f64 = 0.5;
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

/// Causes that no group has yet, each with its waiting in ns.
type Left<'a> = Vec<(Cause, f64, &'a Blamed)>;

/// Returns groups of causes, the costliest first.
pub(crate) fn groups(run: &Run, blame: &Blame) -> Vec<Group> {
    let all = blame.causes.iter().map(|(cause, blamed)| (*cause, blamed.ns(), blamed));
    let mut left: Left<'_> = all.collect();
    let (mut found, mut told) = (Vec::new(), RankSet::default());
    while found.len() < GROUPS_MAX {
        let Some(group) = largest(run, blame, &left, &told) else { break };
        // Either all that its ranks do, or one activity.
        let is_of_ranks = group.ranks.len() == 1 || group.activities.len() > 1;
        let first = group.activities.first().map(|(doing, _)| *doing);
        left.retain(|((rank, doing), _, _)| {
            let is_in =
                if is_of_ranks { group.ranks.contains(*rank) } else { Some(*doing) == first };
            !is_in
        });
        if is_of_ranks {
            told.absorb(&group.ranks);
        }
        found.push(group);
    }
    found
}

fn largest(run: &Run, blame: &Blame, causes: &Left<'_>, told: &RankSet) -> Option<Group> {
    let mut of_ranks: BTreeMap<u32, f64> = BTreeMap::new();
    let mut of_activities: BTreeMap<Doing, f64> = BTreeMap::new();
    for ((rank, doing), ns, _) in causes {
        *of_ranks.entry(*rank).or_default() += ns;
        *of_activities.entry(*doing).or_default() += ns;
    }
    let (rank, rank_ns) = most(&of_ranks)?;
    let (doing, doing_ns) = most(&of_activities)?;
    let time_ns = |rank: u32, doing: Doing| {
        let visits = run.activities.of(doing).and_then(|visits| visits.get(rank as usize));
        visits.map_or(0.0, |visits| crate::ns(visits.ns.into()))
    };
    if rank_ns >= RANK_PART * doing_ns {
        let alone = group(causes, |cause| cause.0 == rank);
        let (first, _) = *alone.activities.first()?;
        // Others that take as long are hidden behind it, and no less the cause: unless that is what
        // most ranks do.
        let least_ns = EQUAL_PART * time_ns(rank, first);
        let all = 0..u32::try_from(run.ranks).unwrap_or(u32::MAX);
        // A rank whose visits can be far shorter has lost its processor in others.
        let shortest = |other: u32| run.activities.least_ns(first, other);
        let is_equal = |other: &u32| {
            let can_be_short = shortest(*other) > 0 && 2 * shortest(*other) < shortest(rank);
            time_ns(*other, first) >= least_ns && !can_be_short && !told.contains(*other)
        };
        // A rank that others had to wait for because it had no processor has that in its time.
        let without = |other: &u32| blame.without_processor.get(other).map_or(0.0, Blamed::ns);
        let is_lost = |other: &u32| *other != rank && without(other) >= LOST_PART * rank_ns;
        let equal: RankSet = all.filter(|rank| is_equal(rank) && !is_lost(rank)).collect();
        if least_ns == 0.0 || equal.len() == 1 || 2 * equal.len() > run.used() as u64 {
            return Some(alone);
        }
        let mut late = group(causes, |cause| equal.contains(cause.0));
        late.ranks = equal;
        return Some(late);
    }
    let of_activity = causes.iter().filter(|(cause, _, _)| cause.1 == doing);
    let top_ns = of_activity.clone().map(|(_, ns, _)| *ns).fold(0.0, f64::max);
    let named = of_activity.filter(|(_, ns, _)| *ns >= BESIDE_PART * top_ns);
    let named: Vec<u32> = named.map(|(cause, _, _)| cause.0).collect();
    let longest_ns = named.iter().map(|rank| time_ns(*rank, doing)).fold(0.0, f64::max);
    let as_long = |rank: &u32| time_ns(*rank, doing) >= AS_LONG_PART * longest_ns;
    let named: RankSet = named.into_iter().filter(as_long).collect();
    Some(group(causes, |cause| cause.1 == doing && named.contains(cause.0)))
}

fn most<T: Copy>(sums: &BTreeMap<T, f64>) -> Option<(T, f64)> {
    sums.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|(key, ns)| (*key, *ns))
}

fn group(causes: &Left<'_>, is_in: impl Fn(&Cause) -> bool) -> Group {
    let mut group = Group::default();
    let mut activities: BTreeMap<Doing, f64> = BTreeMap::new();
    for (cause, ns, blamed) in causes.iter().filter(|(cause, _, _)| is_in(cause)) {
        group.ranks.insert(cause.0);
        *activities.entry(cause.1).or_default() += ns;
        group.blamed.absorb(blamed);
    }
    group.activities = activities.into_iter().collect();
    group.activities.sort_by(|a, b| b.1.total_cmp(&a.1));
    group
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::CallpathIndex;
    use tinyprof_messages::waiting::Pattern;

    use super::super::example::run_of;
    use super::*;
    use crate::blame::At;

    /// Returns the ranks of the first group where rank 0 waits 100 ms for rank 1, which computes as
    /// long as rank 3, and this long for rank 3, because that had no processor.
    fn ranks_of_first(without_ms: f64) -> String {
        let run = run_of(&[("MPI_Send", &[50, 150, 50, 150, 50])]);
        let callpath = Some(CallpathIndex::new(0));
        let at = At { callpath, pattern: Pattern::LateSender, is_direct: true };
        let mut blame = Blame::default();
        let cause = (1, Doing::Before(CallpathIndex::new(0)));
        blame.causes.entry(cause).or_default().add(at, 0, 100e6);
        blame.without_processor.entry(3).or_default().add(at, 0, without_ms * 1e6);
        groups(&run, &blame).first().map_or_else(String::new, |group| group.ranks.to_string())
    }

    #[test]
    fn a_rank_that_had_no_processor_is_not_as_busy() {
        assert_eq!(ranks_of_first(10.0), "1,3");
        assert_eq!(ranks_of_first(90.0), "1");
    }
}
