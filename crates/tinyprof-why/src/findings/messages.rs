//! Messages that cost much by themselves: many small ones, and large ones.

use std::iter;

use tinyprof_format::model::{CallpathIndex, Traffic};
use tinyprof_messages::delay::Visits;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;
use tinyprof_report::cells::{count_cell, data};

use super::Facts;
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
/// A message from this size on takes as long as its bytes.
const LARGE_BYTES: f64 = 65_536.0;

/// Returns the finding about many small messages: the time in calls that exchange them, without
/// waiting that has a cause.
pub(super) fn small(facts: &Facts<'_>) -> Option<Finding> {
    let run = facts.run;
    let is_small = |call: &Call| {
        let traffic = traffic(call);
        let many = MANY * crate::ns(run.used().max(1) as u128);
        crate::ns(traffic.count.into()) >= many && mean_bytes(traffic) < SMALL_BYTES
    };
    // Calls that complete messages have the time, and not always the messages.
    let of_small: Vec<CallpathIndex> = run
        .calls
        .iter()
        .filter(|(_, call)| is_small(call) || is_completion_of(facts, call, &is_small))
        .map(|(index, _)| *index)
        .collect();
    let costs = of_small.iter().map(|index| (*index, least_cost_ns(facts, *index)));
    let mut costs: Vec<(CallpathIndex, f64)> = costs.collect();
    costs.sort_by(|a, b| b.1.total_cmp(&a.1));
    let sum_ns: f64 = costs.iter().map(|(_, ns)| ns).sum();
    // Ranks that had no processor wait for it there, and not for messages.
    let sum_ns = sum_ns.min(with_processor_ns(facts, &costs));
    let mut all = Traffic::default();
    for index in &of_small {
        all.absorb(run.calls[index].sent);
    }
    let (first, _) = *costs.first()?;
    // Where others compute far longer than messages take, they are not what is slow.
    if !facts.is_large(sum_ns) || all.count == 0 {
        return None;
    }
    let place = Place::of(&run.callpaths, first);
    let senders = visitors(facts, of_small.iter().filter(|at| run.calls[at].sent.count > 0));
    let sentence = format!(
        "{} {} {} messages of {} on average; that takes {} of all ranks, most of it in {}",
        capital(&ranks(&senders)),
        if_many(&senders, "sends", "send"),
        count_cell(all.count),
        size(mean_bytes(all)),
        ns(sum_ns),
        place.name()
    );
    // What ranks had no processor for is part of some call.
    let part = sum_ns / costs.iter().map(|(_, ns)| ns).sum::<f64>();
    let link = |(index, ns): &(CallpathIndex, f64)| Link {
        ranks: visitors(facts, iter::once(index)),
        place: Some(Place::of(&run.callpaths, *index)),
        ns: *ns * part,
        why: "calls that exchange small messages".to_owned(),
    };
    let links: Vec<Link> = costs.iter().filter(|(_, ns)| *ns > 0.0).take(3).map(link).collect();
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
        chain: links,
        ..Finding::new(Kind::SmallMessages, run.a_rank_ns(sum_ns), sentence, advice)
    })
}

/// Returns the finding about large messages that take long after both ends are there.
pub(super) fn large(facts: &Facts<'_>, told: &[Finding]) -> Option<Finding> {
    let run = facts.run;
    let mut all = Traffic::default();
    for call in run.calls.values() {
        all.absorb(call.sent);
    }
    if mean_bytes(all) < LARGE_BYTES {
        return None;
    }
    let is_transfer = |call: &Call| {
        let name = &call.function;
        (["Send", "Recv", "Wait"].iter().any(|part| name.contains(part)) || is_of_data(call))
            && !call.is_startup
    };
    let calls = run.calls.iter().filter(|(_, call)| is_transfer(call) && call.may_wait());
    let costs = calls.map(|(index, _)| (*index, in_call_ns(facts, *index)));
    let mut costs: Vec<(CallpathIndex, f64)> = costs.collect();
    costs.sort_by(|a, b| b.1.total_cmp(&a.1));
    let sum_ns: f64 = costs.iter().map(|(_, ns)| ns).sum();
    let (first, first_ns) = *costs.first()?;
    if !run.has_messages() || !facts.is_large(with_processor_ns(facts, &costs)) {
        return None;
    }
    // There the receiver was late, and what else the call takes may be due to that.
    let is_late = |one: &Finding| one.kind == Kind::LateReceiver;
    let at = |one: &Finding| one.waits_at.as_ref().map(|place| place.index);
    if told.iter().any(|one| is_late(one) && at(one) == Some(first)) {
        return None;
    }
    let call = &run.calls[&first];
    let place = Place::of(&run.callpaths, first);
    // From the start of the operation to its completion nothing is computed.
    let between = call.before.map_or(0, |(_, ns)| ns);
    let starts = call.before.and_then(|(before, _)| run.calls.get(&before));
    let is_started = call.function.starts_with("MPI_Wait")
        && starts.is_some_and(|before| before.function.starts_with("MPI_I"));
    let is_adjacent = is_started && crate::ns(between.into()) < 0.1 * first_ns;
    let (kind, advice) = if is_of_data(call) {
        (
            Kind::Bandwidth,
            "Send less data, share it out more evenly among the ranks, or let it travel while they \
             compute (MPI_Ialltoall and its kin).",
        )
    } else if is_adjacent {
        (
            Kind::NoOverlap,
            "Compute what does not need the data between the start of the messages and their \
             completion.",
        )
    } else if is_started {
        (
            Kind::Bandwidth,
            "The messages are started before the computation, and travel after it: let MPI go on \
             meanwhile (its own thread, or MPI_Testall now and then), or send less data.",
        )
    } else {
        (
            Kind::Bandwidth,
            "Send less data, or let it travel while the ranks compute (MPI_Isend, MPI_Irecv).",
        )
    };
    let with = (0..).zip(run.may_wait.of(Doing::In(first)).unwrap_or_default());
    let who: RankSet = with.filter(|(_, visits)| visits.ns > 0).map(|(rank, _)| rank).collect();
    let heavy = heavy(call, run.used());
    let most = heavy.as_ref().map_or_else(String::new, |(ranks_of, here, elsewhere)| {
        let sends = if_many(ranks_of, "sends", "send");
        format!(
            "; {} {sends} {} there, the others {}",
            ranks(ranks_of),
            size(*here),
            size(*elsewhere)
        )
    });
    let sentence = format!(
        "{} messages of {} on average travel for {} of all ranks after both sides are there, most \
         of it in {}{}{most}",
        count_cell(all.count),
        size(mean_bytes(all)),
        ns(sum_ns),
        place.name(),
        if is_adjacent { ", which comes right after their start" } else { "" },
    );
    let why = "time in the call after the partner had come".to_owned();
    let link = Link { ranks: who.clone(), place: Some(place.clone()), ns: sum_ns, why };
    Some(Finding {
        certainty: Certainty::AtMost,
        ranks: heavy.map_or_else(|| who.clone(), |(ranks_of, ..)| ranks_of),
        place: Some(place.clone()),
        waits_at: Some(place),
        waiting_ranks: who,
        chain: vec![link],
        ..Finding::new(kind, run.a_rank_ns(sum_ns), sentence, advice.to_owned())
    })
}

/// Returns the time of all ranks in these calls for which they have had a processor for certain, in
/// ns. A rank that waits in a loop for its messages, and has lost its processor, moves no data
/// (seen with MPICH), and nothing of that is due to the messages.
fn with_processor_ns(facts: &Facts<'_>, costs: &[(CallpathIndex, f64)]) -> f64 {
    let run = facts.run;
    let mut of_ranks = vec![0_u64; run.ranks];
    for (index, _) in costs {
        for (sum_ns, visits) in of_ranks.iter_mut().zip(in_call(run, *index)) {
            *sum_ns = sum_ns.saturating_add(visits.ns);
        }
    }
    let lost_ns = run.no_processor_ns.iter().map(|[_, most_ns]| *most_ns).chain(iter::repeat(0));
    let kept_ns = of_ranks.iter().zip(lost_ns).map(|(ns, lost_ns)| ns.saturating_sub(lost_ns));
    crate::ns(kept_ns.map(u128::from).sum())
}

/// Returns whether a call exchanges data among all ranks.
fn is_of_data(call: &Call) -> bool {
    ["Alltoall", "Allgather", "Gather", "Scatter", "Bcast"].iter().any(|name| {
        call.function.strip_prefix("MPI_").is_some_and(|function| function.starts_with(name))
    })
}

/// Returns the ranks that send far more in a call than the others, if these are most, with the mean
/// of both, in bytes.
fn heavy(call: &Call, used: usize) -> Option<(RankSet, f64, f64)> {
    /// How much more that is.
    const TIMES: f64 = 4.0;
    let most = crate::ns(call.sent_by.values().copied().max()?.into());
    let is_heavy = |bytes: u64| crate::ns(bytes.into()) >= most / TIMES;
    let (mut ranks, mut here, mut elsewhere) = (RankSet::default(), 0.0, 0.0);
    for (rank, bytes) in &call.sent_by {
        if is_heavy(*bytes) {
            ranks.insert(*rank);
            here += crate::ns((*bytes).into());
        } else {
            elsewhere += crate::ns((*bytes).into());
        }
    }
    let (count, others) = (ranks.len(), (used as u64).saturating_sub(ranks.len()));
    let mean = elsewhere / crate::ns(u128::from(others.max(1)));
    (count > 0 && 2 * count <= used as u64).then(|| (ranks, here / crate::ns(count.into()), mean))
}

/// Returns a mean size for a sentence.
fn size(bytes: f64) -> String {
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

fn in_call_ns(facts: &Facts<'_>, index: CallpathIndex) -> f64 {
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

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;
    use tinyprof_report::Totals;

    use super::*;
    use crate::blame::Blame;
    use crate::facts::run::RunBuilder;

    /// Returns what is found of two ranks of 1 s, which complete large messages for 0.2 s each, and
    /// had no processor for so long.
    fn found(no_processor_ns: [u64; 2]) -> Option<Kind> {
        let text = "id,parent,tag,is_loop,times\nMPI_Waitall,null,COMM,0,0.1|0.1\n";
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let totals = Totals::of_profile(&profile);
        let mut run = RunBuilder::new(&profile.callpaths, 2).finish(&totals);
        let index = CallpathIndex::new(0);
        run.rank_ns = vec![1_000_000_000; 2];
        run.no_processor_ns = vec![no_processor_ns; 2];
        run.waits.are_recorded = true;
        run.calls.entry(index).or_default().function = "MPI_Waitall".to_owned();
        run.calls.entry(index).or_default().sent = Traffic { count: 20, bytes: 20 << 20 };
        for rank in 0..2 {
            run.in_calls.add(Doing::In(index), rank, Visits { count: 10, ns: 200_000_000 }, 0);
        }
        large(&Facts { run: &run, blame: &Blame::default() }, &[]).map(|one| one.kind)
    }

    #[test]
    fn a_rank_without_a_processor_moves_no_data() {
        assert_eq!(found([0; 2]), Some(Kind::Bandwidth));
        assert_eq!(found([20_000_000; 2]), Some(Kind::Bandwidth), "most of it remains");
        // It may have been in the call.
        assert_eq!(found([0, 190_000_000]), None);
    }
}
