//! Ranks that wait for others: what these do longer, and where.

use tinyprof_messages::delay::Visits;
use tinyprof_messages::waiting::Pattern;
use tinyprof_report::Certainty;

use super::advice::advice;
use super::evidence::{
    Compared, LONGER_BY, certainty_of, chain, excess_ns, waiting_ranks, where_they_wait,
};
use super::groups::Group;
use super::{Facts, masters, oversubscribed, processor, turns};
use crate::blame::Blamed;
use crate::facts::activities::Doing;
use crate::facts::calls::Call;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind};
use crate::phrases::{capital, does, if_many, ns, ranks};
use crate::place::Place;

/// A rank is slow if at least this part of its activities takes this much longer there.
const SLOW_ACTIVITIES: f64 = 0.75;
const SLOWER_BY: f64 = 1.1;
/// The least number of activities. With fewer, a slow rank looks like one with more work.
const SLOW_ACTIVITIES_MIN: usize = 3;

/// The part of all that it does longer that one activity of a slow rank has at most. Otherwise that
/// is the cause, and the others are a little slower because of it.
const SLOW_BY_ONE: f64 = 0.6;

/// The part of what late ranks do for which each other one waits at most, if these are as busy with
/// something else and only chance makes the former late.
const CHANCE_PART: f64 = 0.3;

/// How many times longer than others a rank has to do what is before its number is known.
const FIRST_LONGER_BY: f64 = 2.0;

/// The part of a group's waiting that another finding about the same call has to explain.
const TOLD_PART: f64 = 0.5;

/// Returns a finding for each group of causes that is large enough; and the waiting of those groups
/// that do not do more than others. Waiting that is due to the order of receives, or to locks, is
/// told elsewhere.
pub(super) fn waiting(
    facts: &Facts<'_>,
    groups: Vec<Group>,
    told: &[Finding],
) -> (Vec<Finding>, Blamed) {
    let is_told = |group: &Group| {
        let at = group.blamed.longest().and_then(|(at, _)| at.callpath);
        let least_ns = TOLD_PART * facts.run.a_rank_ns(group.blamed.ns());
        told.iter()
            .filter(|one| one.lost_ns >= least_ns)
            .any(|one| at.is_some() && one.waits_at.as_ref().map(|place| place.index) == at)
    };
    let large =
        groups.into_iter().filter(|group| facts.is_large(group.blamed.ns()) && !is_told(group));
    let mut found = Vec::new();
    let mut left = Blamed::default();
    for group in large {
        match finding(facts, &group) {
            Some(one) => found.push(one),
            None => left.absorb(&group.blamed),
        }
    }
    (found, left)
}

/// Returns whether an activity ends before its rank knows which one it is, so that the program
/// hardly makes it differ: what differs is when the ranks begin, unless it is measured, and takes a
/// multiple of that of others, as for a file that is slow to read on one host.
fn is_before_ranks(facts: &Facts<'_>, group: &Group, doing: Doing) -> bool {
    let run = facts.run;
    let Doing::Before(at) = doing else { return false };
    let is_longer = |one: Compared| one.here.ns >= FIRST_LONGER_BY * one.elsewhere.ns;
    if facts.blame.is_measured
        && Compared::with_all(run, doing, &group.ranks).is_some_and(is_longer)
    {
        return false;
    }
    let asks = |call: &Call| matches!(call.function.as_str(), "MPI_Comm_rank" | "MPI_Comm_size");
    let once = |visits: &[Visits]| visits.iter().all(|visits| visits.count <= 1);
    run.calls.get(&at).is_some_and(asks) && run.activities.of(doing).is_some_and(once)
}

/// Returns whether the ranks of a group do nothing longer than the others: which of them was late
/// is chance.
fn are_equal(run: &Run, group: &Group) -> bool {
    let compared = group
        .activities
        .iter()
        .filter_map(|(doing, _)| Compared::with_all(run, *doing, &group.ranks));
    let (here, elsewhere) = compared.fold((0.0, 0.0), |(here, elsewhere), one| {
        (here + one.here.ns, elsewhere + one.elsewhere.ns)
    });
    group.ranks.len() < run.used() as u64 && here < LONGER_BY * elsewhere
}

/// Returns whether others are as busy with something else, and wait for these ranks for far
/// shorter than these are busy: then it is chance that these were later. Ranks that work one after
/// another wait for about as long.
fn are_as_busy_elsewhere(run: &Run, group: &Group, doing: Doing) -> bool {
    let Some(compared) = Compared::of(run, doing, &group.ranks) else { return false };
    let waiting = crate::ns(waiting_ranks(run, group).len().max(1).into());
    compared.others_are_as_busy(run, &group.ranks)
        && group.blamed.ns() < CHANCE_PART * compared.here.ns * waiting
}

fn finding(facts: &Facts<'_>, group: &Group) -> Option<Finding> {
    let run = facts.run;
    let (doing, _) = *group.activities.first()?;
    if is_before_ranks(facts, group, doing) {
        return None;
    }
    if masters::kind(run, group).is_none() {
        if let Some(found) = turns::in_turns(facts, group) {
            return found;
        }
        if are_equal(run, group) || are_as_busy_elsewhere(run, group, doing) {
            return None;
        }
    }
    let late = Late {
        group,
        doing,
        compared: Compared::of(run, doing, &group.ranks)?,
        kind: kind(facts, group, doing),
        lost_ns: processor::may_be_lost_ns(facts, group),
    };
    let (at, _) = group.blamed.longest()?;
    let is_lost = late.lost_ns.is_some();
    Some(Finding {
        certainty: if is_lost { Certainty::AtMost } else { certainty_of(facts, group) },
        ranks: group.ranks.clone(),
        place: Some(run.place(doing)),
        waits_at: at.callpath.map(|callpath| Place::of(&run.callpaths, callpath)),
        waiting_ranks: waiting_ranks(run, group),
        chain: chain(facts, group),
        ..Finding::new(
            if is_lost { Kind::Oversubscription } else { late.kind },
            run.a_rank_ns(group.blamed.ns()),
            late.sentence(run),
            late.advice(run),
        )
    })
}

/// Ranks that others wait for, and what they do.
struct Late<'a> {
    group: &'a Group,
    doing: Doing,
    compared: Compared,
    kind: Kind,
    /// How long they may have had no processor, if that may be all that they do longer.
    lost_ns: Option<f64>,
}

impl Late<'_> {
    /// Returns whether it is when they begin that makes others wait.
    fn is_no_longer(&self, run: &Run) -> bool {
        self.kind != Kind::MasterSaturated && is_no_longer(run, self.group, &self.compared)
    }

    /// Returns `Rank 3 computes 178 ms before MPI_Irecv ..., the others 70 ms; ranks 0-2 wait ...`.
    fn sentence(&self, run: &Run) -> String {
        let group = self.group;
        let others = if self.is_no_longer(run) {
            ", no longer than others that do it".to_owned()
        } else {
            self.compared.others(run, &group.ranks)
        };
        let region = region(run, group, self.doing);
        let in_region = region.map_or_else(String::new, |place| format!(" (in {})", place.name()));
        let lost = self.lost_ns.map_or_else(String::new, |lost_ns| {
            let had = if_many(&group.ranks, "was", "were");
            format!(", but {had} ready to run without a processor for up to {}", ns(lost_ns))
        });
        let waiting = waiting_ranks(run, group);
        format!(
            "{} {}{in_region}{others}{lost}; {} {} {} for {}{}",
            capital(&ranks(&group.ranks)),
            does(run, &group.ranks, self.doing, self.compared.here.ns),
            ranks(&waiting),
            if_many(&waiting, "waits", "wait"),
            ns(group.blamed.ns()),
            if_many(&group.ranks, "it", "them"),
            where_they_wait(run, group, &run.place(self.doing)),
        )
    }

    fn advice(&self, run: &Run) -> String {
        let who = &self.group.ranks;
        if self.lost_ns.is_some() {
            return oversubscribed::ADVICE.to_owned();
        }
        if self.is_no_longer(run) {
            return format!(
                "{} {} no longer there than others, but {} later: what {} for should come \
                 earlier, or be done while others work.",
                capital(&ranks(who)),
                if_many(who, "takes", "take"),
                if_many(who, "begins", "begin"),
                if_many(who, "it waits", "they wait"),
            );
        }
        advice(run, self.kind, self.group, self.doing, &self.compared)
    }
}

/// Returns whether those others that do the same as a group take as long, and there are enough of
/// them to say so: then it is when the group begins that makes others wait.
fn is_no_longer(run: &Run, group: &Group, compared: &Compared) -> bool {
    let others = (run.used() as u64).saturating_sub(group.ranks.len());
    others > 0
        && compared.elsewhere.visits > 0.0
        && compared.here.ns < LONGER_BY * compared.elsewhere.ns
        && compared.work_elsewhere_ns(run, &group.ranks).is_none()
}

/// Returns the region that takes most of the extra time of a computation before a call, if one
/// does.
fn region(run: &Run, group: &Group, doing: Doing) -> Option<Place> {
    let Doing::Before(_) = doing else { return None };
    let excess = |visits: &[Visits]| excess_ns(visits, &group.ranks);
    let wanted = excess(run.activities.of(doing)?);
    // The region of the whole program says nothing.
    let inner = run
        .regions
        .iter()
        .filter(|(region, _)| run.callpaths.get(region.callpath()).parent.is_some());
    let most = inner.map(|(region, visits)| (region, excess(visits)));
    let (region, found) = most.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (wanted > 0.0 && found >= 0.6 * wanted).then(|| Place::of(&run.callpaths, region.callpath()))
}

fn kind(facts: &Facts<'_>, group: &Group, doing: Doing) -> Kind {
    let run = facts.run;
    if matches!(doing, Doing::In(at) if run.calls.get(&at).is_some_and(Call::is_file)) {
        return Kind::SerialIo;
    }
    if let Some(kind) = masters::kind(run, group) {
        return kind;
    }
    if is_slow(run, group) {
        return Kind::SlowRank;
    }
    match group.blamed.longest().map(|(at, _)| at.pattern) {
        Some(Pattern::LateReceiver) => Kind::LateReceiver,
        Some(Pattern::LateBroadcast) => Kind::LateRoot,
        Some(Pattern::LateSender | Pattern::LateSenderWrongOrder) | None => Kind::LateSender,
        Some(
            Pattern::WaitAtFence | Pattern::LatePost | Pattern::EarlyWait | Pattern::LockContention,
        ) => Kind::LateToWindow,
        Some(_) => Kind::LateToCollective,
    }
}

/// Returns whether a rank takes longer in nearly all of its activities that count.
fn is_slow(run: &Run, group: &Group) -> bool {
    if group.ranks.len() != 1 {
        return false;
    }
    let all = run.activities.iter().filter_map(|(doing, _)| Compared::of(run, doing, &group.ranks));
    let all: Vec<Compared> = all.collect();
    let excesses = all.iter().map(|one| (one.here.ns - one.elsewhere.ns).max(0.0));
    let (sum_ns, largest_ns) =
        excesses.fold((0.0, 0.0), |(sum, largest): (f64, f64), ns| (sum + ns, largest.max(ns)));
    if largest_ns > SLOW_BY_ONE * sum_ns {
        return false;
    }
    let most_ns = all.iter().map(|one| one.elsewhere.ns).fold(0.0, f64::max);
    let counts: Vec<&Compared> = all
        .iter()
        .filter(|one| one.elsewhere.ns >= 0.1 * most_ns && one.elsewhere.ns > 0.0)
        .collect();
    let slow = counts.iter().filter(|one| one.here.ns >= SLOWER_BY * one.elsewhere.ns).count();
    counts.len() >= SLOW_ACTIVITIES_MIN
        && crate::ns(slow as u128) >= SLOW_ACTIVITIES * crate::ns(counts.len() as u128)
}

#[cfg(test)]
mod tests {
    use super::super::example::{row_of, run_of};
    use super::*;
    use crate::blame::At;

    /// Returns whether it is chance that rank 1 is late, which the others wait for, 10 ms each.
    fn is_chance(rows: &[(&str, &[u64])]) -> bool {
        let (run, mut blamed) = (run_of(rows), Blamed::default());
        let row = row_of(&run, rows[0].0);
        let callpath = Some(row);
        let at = At { callpath, pattern: Pattern::LateSender, is_direct: true };
        [0, 2].into_iter().for_each(|rank| blamed.add(at, rank, 10e6));
        let doing = Doing::Before(row);
        let (ranks, activities) = ([1].into_iter().collect(), vec![(doing, 20e6)]);
        are_as_busy_elsewhere(&run, &Group { ranks, activities, blamed }, doing)
    }

    #[test]
    fn a_rank_is_not_late_by_what_keeps_others_as_busy_elsewhere() {
        let (send, recv): (&[u64], &[u64]) = (&[0, 160, 0], &[158, 0, 162]);
        assert!(is_chance(&[("MPI_Send", send), ("MPI_Recv", recv)]));
        assert!(!is_chance(&[("MPI_Send", send), ("MPI_Recv", &[120, 0, 130])]), "it works longer");
        assert!(!is_chance(&[("MPI_Send", &[20, 160, 20]), ("MPI_Recv", recv)]), "all do it");
        let short: [(&str, &[u64]); 2] = [("MPI_Send", &[0, 12, 0]), ("MPI_Recv", &[12, 0, 12])];
        assert!(!is_chance(&short), "they wait for as long as it works");
    }
}
