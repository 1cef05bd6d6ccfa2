//! Many small messages, which cost much by themselves.

use std::iter;

use tinyprof_format::model::{CallpathIndex, Traffic};
use tinyprof_messages::delay::Visits;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;
use tinyprof_report::cells::{count_cell, data};

use super::Facts;
use super::processor::most_lost_ns;
use crate::facts::activities::{Doing, all_ns};
use crate::facts::calls::Call;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// A message below this size takes as long as an empty one.
const SMALL_BYTES: f64 = 4_096.0;
/// The least messages of a rank that are many.
const MANY: f64 = 500.0;

/// Returns the finding about many small messages: the time in calls that exchange them, without
/// waiting that has a cause.
pub(super) fn small(facts: &Facts<'_>) -> Option<Finding> {
    let run = facts.run;
    let costs = costs(facts);
    let sum_ns: f64 = costs.iter().map(|(_, ns)| ns).sum();
    // Ranks that had no processor wait for it there, and not for messages.
    let sum_ns = sum_ns.min(with_processor_ns(facts, &costs));
    let mut all = Traffic::default();
    costs.iter().for_each(|(index, _)| all.absorb(run.calls[index].sent));
    let (first, _) = *costs.first()?;
    // Where others compute far longer than messages take, they are not what is slow.
    if !facts.is_large(sum_ns) || all.count == 0 {
        return None;
    }
    let place = Place::of(&run.callpaths, first);
    let is_sending = |at: &&CallpathIndex| run.calls[at].sent.count > 0;
    let senders = visitors(facts, costs.iter().map(|(index, _)| index).filter(is_sending));
    let sentence = format!(
        "{} {} {} messages of {} on average; that takes {} of all ranks, most of it in {}",
        capital(&ranks(&senders)),
        if_many(&senders, "sends", "send"),
        count_cell(all.count),
        size(mean_bytes(all)),
        ns(sum_ns),
        place.name()
    );
    let advice =
        "Combine messages to the same rank into one: below about 4 KiB a message takes as \
                  long as an empty one."
            .to_owned();
    Some(Finding {
        certainty: Certainty::AtMost,
        ranks: senders.clone(),
        place: Some(place.clone()),
        waits_at: Some(place),
        waiting_ranks: senders,
        chain: links(facts, &costs, sum_ns),
        ..Finding::new(Kind::SmallMessages, run.a_rank_ns(sum_ns), sentence, advice)
    })
}

/// Returns the costliest of these calls, with their parts of `sum_ns`: what ranks had no processor
/// for is part of some call.
fn links(facts: &Facts<'_>, costs: &[(CallpathIndex, f64)], sum_ns: f64) -> Vec<Link> {
    let part = sum_ns / costs.iter().map(|(_, ns)| ns).sum::<f64>();
    let link = |(index, ns): &(CallpathIndex, f64)| Link {
        ranks: visitors(facts, iter::once(index)),
        place: Some(Place::of(&facts.run.callpaths, *index)),
        ns: *ns * part,
        why: "calls that exchange small messages".to_owned(),
    };
    costs.iter().filter(|(_, ns)| *ns > 0.0).take(3).map(link).collect()
}

/// Returns the calls that exchange many small messages, or complete them, with what these cost, in
/// ns, the costliest first.
fn costs(facts: &Facts<'_>) -> Vec<(CallpathIndex, f64)> {
    let many = MANY * crate::ns(facts.run.used().max(1) as u128);
    let is_small = |call: &Call| {
        let traffic = traffic(call);
        crate::ns(traffic.count.into()) >= many && mean_bytes(traffic) < SMALL_BYTES
    };
    // Calls that complete messages have the time, and not always the messages.
    let of_small = facts
        .run
        .calls
        .iter()
        .filter(|(_, call)| is_small(call) || is_completion_of(facts, call, &is_small));
    let costs = of_small.map(|(index, _)| (*index, least_cost_ns(facts, *index)));
    let mut costs: Vec<(CallpathIndex, f64)> = costs.collect();
    costs.sort_by(|a, b| b.1.total_cmp(&a.1));
    costs
}

/// Returns the time of all ranks in these calls for which they have had a processor for certain, in
/// ns: what is beyond the time without one, or as often as the shortest visit. A rank that waits in
/// a loop for its messages, and has lost its processor, moves no data (seen with MPICH), and
/// nothing of that is due to the messages.
fn with_processor_ns(facts: &Facts<'_>, costs: &[(CallpathIndex, f64)]) -> f64 {
    kept_and_least_ns(facts, costs).iter().map(|(kept_ns, least_ns)| kept_ns.max(*least_ns)).sum()
}

/// Returns the time of each rank in these calls beyond that without a processor, in ns, and as
/// often as the shortest visit.
pub(super) fn kept_and_least_ns(
    facts: &Facts<'_>,
    costs: &[(CallpathIndex, f64)],
) -> Vec<(f64, f64)> {
    let run = facts.run;
    let mut of_ranks = vec![(0.0, 0.0); run.ranks];
    for (index, _) in costs {
        for (rank, visits) in (0_u32..).zip(in_call(run, *index)) {
            let (sum_ns, least_ns) = &mut of_ranks[rank as usize];
            *sum_ns += crate::ns(visits.ns.into());
            *least_ns += crate::ns(run.in_calls.least_ns(Doing::In(*index), rank).into());
        }
    }
    for (rank, (sum_ns, _)) in (0_u32..).zip(&mut of_ranks) {
        *sum_ns = (*sum_ns - most_lost_ns(run, rank)).max(0.0);
    }
    of_ranks
}

/// Returns a mean size for a sentence.
pub(super) fn size(bytes: f64) -> String {
    data(u64::try_from(tinyprof_report::cells::whole(bytes)).unwrap_or(u64::MAX))
}

fn traffic(call: &Call) -> Traffic {
    if call.sent.count >= call.received.count { call.sent } else { call.received }
}

pub(super) fn mean_bytes(traffic: Traffic) -> f64 {
    tinyprof_report::mean_bytes(traffic).unwrap_or(0.0)
}

/// Returns whether a call completes messages that were started right before by such a call.
fn is_completion_of(facts: &Facts<'_>, call: &Call, is_start: &dyn Fn(&Call) -> bool) -> bool {
    call.function.starts_with("MPI_Wait")
        && call
            .before
            .and_then(|(before, _)| facts.run.calls.get(&before))
            .is_some_and(|before| before.function.starts_with("MPI_I") && is_start(before))
}

/// Returns the time of all ranks in a call for its messages alone, in ns: where some rank has many,
/// the least that a rank takes for one, for each. What others take longer is that MPI waits for a
/// receiver, or that they have lost their processors.
fn least_cost_ns(facts: &Facts<'_>, index: CallpathIndex) -> f64 {
    let all = in_call(facts.run, index);
    let many = all.iter().filter(|visits| crate::ns(visits.count.into()) >= MANY);
    let each_ns = many.map(|visits| crate::ns(visits.ns.into()) / crate::ns(visits.count.into()));
    let visits = crate::ns(all.iter().map(|visits| u128::from(visits.count)).sum());
    cost_ns(facts, index).min(each_ns.fold(f64::INFINITY, f64::min) * visits.max(1.0))
}

/// Returns the time of all ranks in a call that is no waiting with a cause, in ns.
fn cost_ns(facts: &Facts<'_>, index: CallpathIndex) -> f64 {
    let unexplained = &facts.blame.unexplained.at;
    let waited = unexplained.iter().filter(|(at, _)| at.callpath == Some(index));
    in_call_ns(facts, index) + waited.map(|(_, share)| share.ns).sum::<f64>()
}

pub(super) fn in_call_ns(facts: &Facts<'_>, index: CallpathIndex) -> f64 {
    crate::ns(all_ns(in_call(facts.run, index)))
}

/// Returns the visits of a call by rank, without waiting.
fn in_call(run: &Run, index: CallpathIndex) -> &[Visits] {
    let doing = Doing::In(index);
    run.in_calls.of(doing).or_else(|| run.activities.of(doing)).unwrap_or_default()
}

/// Returns the ranks that visit these calls.
fn visitors<'a>(facts: &'a Facts<'_>, calls: impl Iterator<Item = &'a CallpathIndex>) -> RankSet {
    let mut found = RankSet::default();
    for index in calls {
        let run = facts.run;
        let of =
            run.may_wait.of(Doing::In(*index)).or_else(|| run.activities.of(Doing::In(*index)));
        for (rank, visits) in (0..).zip(of.unwrap_or_default()) {
            if visits.count > 0 {
                found.insert(rank);
            }
        }
    }
    found
}
