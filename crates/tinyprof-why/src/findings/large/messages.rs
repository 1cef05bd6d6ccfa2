//! Large messages, and ranks that send far more than the others.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, Traffic};
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;
use tinyprof_report::cells::count_cell;

use super::super::Facts;
use super::super::messages::{mean_bytes, size};
use super::travel::{Heavy, LARGE_BYTES, Travel, costs, visitors};
use crate::blame::Blamed;
use crate::facts::calls::Call;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind};
use crate::phrases::{capital, if_many, ranks};
use crate::place::Place;

/// Returns the finding about large messages that take long after both ends are there.
pub(super) fn found(facts: &Facts<'_>, told: &[Finding]) -> Option<(Finding, Blamed)> {
    let run = facts.run;
    let sent = Sent::of(run)?;
    let is_transfer = |call: &Call| {
        let name = &call.function;
        ["Send", "Recv", "Wait"].iter().any(|part| name.contains(part)) && !call.is_startup
    };
    let costs = costs(facts, &is_transfer);
    let (first, first_ns) = *costs.first()?;
    let travel = Travel::of(facts, &costs)?;
    // There the receiver was late, and what else the call takes may be due to that.
    let is_late = |one: &Finding| one.kind == Kind::LateReceiver;
    let at = |one: &Finding| one.waits_at.as_ref().map(|place| place.index);
    if told.iter().any(|one| is_late(one) && at(one) == Some(first)) {
        return None;
    }
    let (kind, is_adjacent, advice) = overlap(run, first, first_ns);
    let right_after = if is_adjacent { ", which comes right after their start" } else { "" };
    let waits_at = Place::of(&run.callpaths, first);
    let who = visitors(run, first);
    let (place, sentence, of_ranks) = sent.told(run, &travel, (&waits_at, &who), right_after);
    let lost_ns = run.a_rank_ns(travel.sum_ns());
    let finding = Finding {
        certainty: Certainty::AtMost,
        ranks: of_ranks,
        place: Some(place),
        waits_at: Some(waits_at),
        waiting_ranks: who,
        chain: travel.chain,
        ..Finding::new(kind, lost_ns, sentence, advice.to_owned())
    };
    Some((finding, travel.behind))
}

/// The messages that ranks send, and the ranks that send far more than the others, if there are
/// any.
struct Sent {
    all: Traffic,
    heavy: Option<Heavy>,
}

impl Sent {
    /// Returns none if the messages are not large, neither of all ranks nor of some.
    fn of(run: &Run) -> Option<Self> {
        let mut all = Traffic::default();
        let mut by: BTreeMap<u32, Traffic> = BTreeMap::new();
        for call in run.calls.values() {
            all.absorb(call.sent);
            call.sent_by.iter().for_each(|(rank, sent)| by.entry(*rank).or_default().absorb(*sent));
        }
        let is_large = |heavy: &Heavy| mean_bytes(heavy.here) >= LARGE_BYTES;
        let heavy = Heavy::of(&by, run.used() as u64).filter(is_large);
        (mean_bytes(all) >= LARGE_BYTES || heavy.is_some()).then_some(Self { all, heavy })
    }

    /// Returns the place, the sentence, and the ranks that are named, where messages are completed
    /// mostly at `waits_at` by `who`.
    fn told(
        self,
        run: &Run,
        travel: &Travel,
        (waits_at, who): (&Place, &RankSet),
        right_after: &str,
    ) -> (Place, String, RankSet) {
        let Some(heavy) = self.heavy else {
            let sentence = of_all(run, self.all, travel, waits_at, right_after);
            return (waits_at.clone(), sentence, who.clone());
        };
        let place = sent_at(run, &heavy.ranks).unwrap_or_else(|| waits_at.clone());
        let sentence = of_some(run, &heavy, travel, [&place, waits_at], right_after);
        (place, sentence, heavy.ranks)
    }
}

/// Returns the sentence about ranks that send far more than the others.
fn of_some(
    run: &Run,
    heavy: &Heavy,
    travel: &Travel,
    [place, waits_at]: [&Place; 2],
    right_after: &str,
) -> String {
    format!(
        "{} {} {} in messages of {} on average in {}, the others {} each; messages travel for {} of \
         all ranks after both sides are there, most of it in {}{right_after}{}",
        capital(&ranks(&heavy.ranks)),
        if_many(&heavy.ranks, "sends", "send"),
        size(heavy.here_bytes),
        size(mean_bytes(heavy.here)),
        place.name(),
        size(heavy.others_bytes),
        travel.text,
        waits_at.short_name(place),
        travel.meanwhile(run, place),
    )
}

/// Returns the sentence about messages of all ranks.
fn of_all(run: &Run, all: Traffic, travel: &Travel, waits_at: &Place, right_after: &str) -> String {
    format!(
        "{} messages of {} on average travel for {} of all ranks after both sides are there, most \
         of it in {}{right_after}{}",
        count_cell(all.count),
        size(mean_bytes(all)),
        travel.text,
        waits_at.name(),
        travel.meanwhile(run, waits_at),
    )
}

/// Returns the kind of a finding about messages that are completed in this call, whether nothing is
/// computed between their start and that, and the advice.
fn overlap(run: &Run, at: CallpathIndex, in_call_ns: f64) -> (Kind, bool, &'static str) {
    let call = &run.calls[&at];
    let between = call.before.map_or(0, |(_, ns)| ns);
    let starts = call.before.and_then(|(before, _)| run.calls.get(&before));
    let is_started = call.function.starts_with("MPI_Wait")
        && starts.is_some_and(|before| before.function.starts_with("MPI_I"));
    let is_adjacent = is_started && crate::ns(between.into()) < 0.1 * in_call_ns;
    let (kind, advice) = if is_adjacent {
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
    (kind, is_adjacent, advice)
}

/// Returns the call in which these ranks send most of their data.
fn sent_at(run: &Run, of: &RankSet) -> Option<Place> {
    let bytes = |call: &Call| -> u64 {
        let theirs = call.sent_by.iter().filter(|(rank, _)| of.contains(**rank));
        theirs.map(|(_, sent)| sent.bytes).fold(0, u64::saturating_add)
    };
    let most = run.calls.iter().max_by_key(|(_, call)| bytes(call));
    most.map(|(index, _)| Place::of(&run.callpaths, *index))
}
