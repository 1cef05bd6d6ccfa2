//! The causes of waiting as the program found them out while it ran: its delay costs.

use std::collections::{BTreeMap, HashMap};

use tinyprof_format::model::{Activity, CallpathId, CallpathIndex, Cause, EdgeKey, RankCauses};

use super::elsewhere::{self, Unread};
use super::lookups::{Causes, Left, WaitLeft};
use super::{At, Blame};
use crate::facts::activities::{Activities, Doing};
use crate::facts::calls::Call;
use crate::facts::waits::Waits;

/// The number of the activities that have none of their own.
const OTHER: u64 = 0;

/// The least part of all waiting of which the program has to have looked for the causes.
const KNOWN_PART: f64 = 0.5;

/// The delay costs of a run, collected rank by rank.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    all: Vec<Cost>,
    /// The waiting for ranks that had no processor.
    lost: Vec<Lost>,
    /// The waiting for ranks whose activities could not be read.
    unread: Vec<Unread>,
}

/// The waiting of a rank in a call because another one had no processor.
#[derive(Clone, Copy, Debug)]
struct Lost {
    rank: u32,
    at: CallpathIndex,
    of: u32,
    ns: u64,
}

/// The waiting of a rank in a call because of an activity of another.
#[derive(Clone, Copy, Debug)]
struct Cost {
    rank: u32,
    at: CallpathIndex,
    cause: (u32, Doing),
    direct_ns: u64,
    propagated_ns: u64,
    /// True if the activity is that before the first call, which has the rest of start-up in it.
    is_first: bool,
}

impl Cost {
    fn ns(&self) -> f64 {
        crate::ns(u128::from(self.direct_ns) + u128::from(self.propagated_ns))
    }

    /// Returns the most that the activity can have delayed the rank by, in ns. That is no more than
    /// its own time: what is more began before the recording, in start-up. Ranks leave start-up
    /// one after another; so before the first call, it is by how much it is longer than that of the
    /// rank that waits.
    fn room_ns(&self, activities: &Activities) -> f64 {
        let (rank, doing) = self.cause;
        if self.is_first {
            let longer_ns =
                activities.first_ns(rank).saturating_sub(activities.first_ns(self.rank));
            return crate::ns(longer_ns.into());
        }
        let visits = activities.of(doing).and_then(|of_ranks| of_ranks.get(rank as usize));
        visits.map_or(0.0, |visits| crate::ns(visits.ns.into()))
    }
}

impl Costs {
    /// Adds the causes of a rank's waiting. Those of which the activity is not known are left out.
    pub(crate) fn add(
        &mut self,
        rows: &HashMap<CallpathId, CallpathIndex>,
        rank: u32,
        causes: &RankCauses,
    ) {
        for cost in &causes.costs {
            let Cause::Activity { rank: cause, number } = cost.cause else { continue };
            if number == Activity::NO_PROCESSOR {
                if let Some(at) = rows.get(&cost.callpath) {
                    self.lost.push(Lost { rank, at: *at, of: cause, ns: cost.total_ns() });
                }
                continue;
            }
            if number == OTHER && causes.facts.unread > 0 {
                if let Some(at) = rows.get(&cost.callpath) {
                    let (of, ns) = (cause, cost.direct.ns);
                    self.unread.push(Unread { rank, at: *at, of, ns });
                }
                continue;
            }
            let activity = causes.activity(cost.cause);
            let doing = activity.and_then(|activity| doing(rows, activity));
            let (Some(at), Some(doing)) = (rows.get(&cost.callpath), doing) else { continue };
            self.all.push(Cost {
                rank,
                at: *at,
                cause: (cause, doing),
                direct_ns: cost.direct.ns,
                propagated_ns: cost.propagated.ns,
                is_first: activity.is_some_and(is_first),
            });
        }
    }

    /// Returns the causes of all waiting; none if too little is known of them.
    pub(crate) fn blame(
        &self,
        calls: &BTreeMap<CallpathIndex, Call>,
        activities: &Activities,
        waits: &Waits,
    ) -> Option<Blame> {
        let mut left = Left::new(activities.ranks(), waits);
        let all_ns = left.sum_ns();
        let mut blame = Blame { is_measured: true, ..Blame::default() };
        let (mut known_ns, mut startup_ns, mut causes) = (0.0, 0.0, Causes::default());
        let mut behind = Vec::new();
        for cost in &self.all {
            let mut room_ns = cost.room_ns(activities);
            if cost.is_first {
                // Waiting for start-up has a cause that no activity of the program is.
                startup_ns += (cost.ns() - room_ns).max(0.0);
                known_ns += cost.ns().min(room_ns);
            } else {
                known_ns += cost.ns();
            }
            // A call in which a rank may wait itself is no work: it has lost its processor there,
            // or data travelled.
            if is_in_waiting_call(calls, cost.cause.1) {
                behind.push(cost);
                continue;
            }
            let Some((left_ns, pattern)) = left.of(cost.rank, cost.at) else { continue };
            // It has made others late that it waits for: nobody else is the cause, nor is chance.
            if cost.cause.0 == cost.rank {
                *left_ns = (*left_ns - cost.ns()).max(0.0);
                continue;
            }
            for (ns, is_direct) in [(cost.direct_ns, true), (cost.propagated_ns, false)] {
                let ns = crate::ns(ns.into()).min(*left_ns).min(room_ns);
                room_ns -= ns;
                let at = At { callpath: Some(cost.at), pattern, is_direct };
                causes.of(cost.cause).add(at, cost.rank, ns);
                *left_ns -= ns;
            }
        }
        known_ns += self.lost.iter().map(|lost| crate::ns(lost.ns.into())).sum::<f64>();
        let all_ns = all_ns - startup_ns;
        if self.all.is_empty() && self.lost.is_empty() || known_ns < KNOWN_PART * all_ns {
            return None;
        }
        for lost in self.lost.iter().filter(|lost| lost.of != lost.rank) {
            let Some((left_ns, pattern)) = left.of(lost.rank, lost.at) else { continue };
            let ns = crate::ns(lost.ns.into()).min(*left_ns);
            let at = At { callpath: Some(lost.at), pattern, is_direct: true };
            blame.no_processor.add(at, lost.rank, ns);
            blame.without_processor.entry(lost.of).or_default().add(at, lost.rank, ns);
            *left_ns -= ns;
        }
        blame.causes = causes.into_map();
        elsewhere::add(&mut blame, &mut left, &self.unread, activities, waits);
        add_behind_calls(&mut blame, &mut left, &behind);
        for WaitLeft { rank, at, ns, pattern } in left.all {
            let at = At { callpath: Some(at), pattern, is_direct: true };
            blame.unexplained.add(at, rank, ns);
        }
        Some(blame)
    }
}

/// Notes the waiting for ranks that were in calls in which ranks may wait. It stays unexplained.
fn add_behind_calls(blame: &mut Blame, left: &mut Left, behind: &[&Cost]) {
    let mut noted: BTreeMap<(u32, CallpathIndex), f64> = BTreeMap::new();
    for cost in behind.iter().filter(|cost| cost.cause.0 != cost.rank) {
        let Some((left_ns, pattern)) = left.of(cost.rank, cost.at) else { continue };
        let noted_ns = noted.entry((cost.rank, cost.at)).or_default();
        let ns = cost.ns().min(*left_ns - *noted_ns).max(0.0);
        *noted_ns += ns;
        let at = At { callpath: Some(cost.at), pattern, is_direct: true };
        blame.behind_calls.entry(cost.cause.1.callpath()).or_default().add(at, cost.rank, ns);
    }
}

/// Returns an activity of a program as it is shown; none if its callpath is not known.
pub(super) fn doing(
    rows: &HashMap<CallpathId, CallpathIndex>,
    activity: Activity,
) -> Option<Doing> {
    let row = |id: CallpathId| rows.get(&id).copied();
    match activity {
        Activity::Gap { from, to } if to == EdgeKey::UNKNOWN => row(from).map(Doing::In),
        Activity::Gap { to, .. } => row(to).map(Doing::Before),
        Activity::Call(callpath) | Activity::Exclusive(callpath) => row(callpath).map(Doing::In),
        _ => None,
    }
}

/// Returns whether an activity is that before the first call of a rank.
pub(super) fn is_first(activity: Activity) -> bool {
    matches!(activity, Activity::Gap { from, .. } if from == EdgeKey::UNKNOWN)
}

fn is_in_waiting_call(calls: &BTreeMap<CallpathIndex, Call>, doing: Doing) -> bool {
    matches!(doing, Doing::In(at) if calls.get(&at).is_some_and(Call::may_wait))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tinyprof_format::model::{DelayCost, Waited};
    use tinyprof_messages::delay::Visits;
    use tinyprof_messages::waiting::Pattern;

    use super::*;
    use crate::facts::waits::Wait;

    const COMPUTE: CallpathId = CallpathId::from_bits(7);
    const RECEIVE: CallpathId = CallpathId::from_bits(8);

    /// Returns the causes of rank 0: it has waited this long in row 1 for what rank 2 does before
    /// row 0.
    fn causes(direct: u64, propagated: u64) -> RankCauses {
        let gap = Activity::Gap { from: RECEIVE, to: COMPUTE };
        let cost = DelayCost {
            callpath: RECEIVE,
            cause: Cause::Activity { rank: 2, number: 5 },
            direct: Waited { ns: direct, count: 1 },
            propagated: Waited { ns: propagated, count: 1 },
        };
        RankCauses {
            activities: Arc::new([(5, gap)].into()),
            costs: vec![cost],
            ..RankCauses::default()
        }
    }

    fn waits(ns: u64) -> Waits {
        let wait = Wait {
            rank: 0,
            at: Some(CallpathIndex::new(1)),
            for_rank: 1,
            from: None,
            pattern: Pattern::LateSender,
            ns,
            count: 1,
            is_heard: false,
        };
        Waits { all: vec![wait], for_nobody_ns: 0, are_recorded: true }
    }

    /// Returns what rank 2 has computed before row 0.
    fn computed() -> Activities {
        let mut activities = Activities::new(3);
        let visits = Visits { count: 1, ns: 950 };
        activities.add(Doing::Before(CallpathIndex::new(0)), 2, visits, 950);
        activities
    }

    #[test]
    fn a_cost_is_no_more_than_its_activity_takes() {
        let rows = [(COMPUTE, CallpathIndex::new(0)), (RECEIVE, CallpathIndex::new(1))].into();
        let mut costs = Costs::default();
        costs.add(&rows, 0, &causes(5_000, 300));
        let blame = costs.blame(&BTreeMap::new(), &computed(), &waits(9_000)).expect("known");
        let blamed = &blame.causes[&(2, Doing::Before(CallpathIndex::new(0)))];
        assert_eq!((blamed.ns(), blame.unexplained.ns()), (950.0, 8_050.0));
    }

    #[test]
    fn costs_and_what_they_leave_add_up_to_the_waiting() {
        let rows = [(COMPUTE, CallpathIndex::new(0)), (RECEIVE, CallpathIndex::new(1))].into();
        let mut costs = Costs::default();
        costs.add(&rows, 0, &causes(600, 300));
        let blame =
            costs.blame(&BTreeMap::new(), &computed(), &waits(1_000)).expect("most is known");
        let blamed = &blame.causes[&(2, Doing::Before(CallpathIndex::new(0)))];
        assert_eq!((blamed.ns(), blame.unexplained.ns()), (900.0, 100.0));
        assert_eq!(blamed.at.values().map(|share| share.ns).collect::<Vec<_>>(), [300.0, 600.0]);
        assert!(blame.is_measured);
    }

    #[test]
    fn waiting_for_startup_does_not_hide_what_is_known() {
        let rows = [(COMPUTE, CallpathIndex::new(0)), (RECEIVE, CallpathIndex::new(1))].into();
        let mut causes = causes(400, 0);
        let startup = Activity::Gap { from: EdgeKey::UNKNOWN, to: COMPUTE };
        let number = Cause::Activity { rank: 2, number: 6 };
        let direct = Waited { ns: 9_000, count: 1 };
        causes.activities = Arc::new([(5, causes.activities[&5]), (6, startup)].into());
        causes.costs.push(DelayCost { cause: number, direct, ..causes.costs[0] });
        let mut costs = Costs::default();
        costs.add(&rows, 0, &causes);
        let blame = costs.blame(&BTreeMap::new(), &computed(), &waits(9_500)).expect("known");
        let blamed = &blame.causes[&(2, Doing::Before(CallpathIndex::new(0)))];
        assert_eq!((blamed.ns(), blame.unexplained.ns()), (400.0, 9_100.0));
        assert!(costs.blame(&BTreeMap::new(), &computed(), &waits(9_900)).is_none());
    }

    #[test]
    fn what_a_rank_does_before_its_first_call_is_a_cause_as_far_as_it_is_longer() {
        let rows = [(COMPUTE, CallpathIndex::new(0)), (RECEIVE, CallpathIndex::new(1))].into();
        let first = Activity::Gap { from: EdgeKey::UNKNOWN, to: COMPUTE };
        let mut causes = causes(700, 0);
        causes.activities = Arc::new([(5, first)].into());
        let mut costs = Costs::default();
        costs.add(&rows, 0, &causes);
        let doing = Doing::Before(CallpathIndex::new(0));
        let mut activities = computed();
        activities.begin(doing, 2, 500);
        activities.begin(Doing::Before(CallpathIndex::new(1)), 0, 100);
        let blame = costs.blame(&BTreeMap::new(), &activities, &waits(700)).expect("known");
        assert_eq!((blame.causes[&(2, doing)].ns(), blame.unexplained.ns()), (400.0, 300.0));
        // The rank left start-up later, and did no more than the one that waits.
        activities.begin(Doing::Before(CallpathIndex::new(1)), 0, 600);
        let blame = costs.blame(&BTreeMap::new(), &activities, &waits(700)).expect("known");
        assert_eq!((blame.causes.len(), blame.unexplained.ns()), (0, 700.0));
    }

    #[test]
    fn too_little_is_known_for_costs() {
        let rows = [(COMPUTE, CallpathIndex::new(0)), (RECEIVE, CallpathIndex::new(1))].into();
        let mut costs = Costs::default();
        assert!(costs.blame(&BTreeMap::new(), &computed(), &waits(0)).is_none());
        costs.add(&rows, 0, &causes(400, 0));
        assert!(costs.blame(&BTreeMap::new(), &computed(), &waits(1_000)).is_none());
    }
}
