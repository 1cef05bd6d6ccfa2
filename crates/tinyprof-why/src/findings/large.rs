//! Large messages, and operations that move much data: what they take after all sides are there.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, Traffic};
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;
use tinyprof_report::cells::count_cell;

use super::Facts;
use super::messages::{in_call_ns, mean_bytes, size, with_processor_ns};
use crate::blame::{At, Blamed};
use crate::facts::activities::Doing;
use crate::facts::calls::Call;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// A message from this size on takes as long as its bytes.
const LARGE_BYTES: f64 = 65_536.0;

/// Of how many times as much data as each other one a rank has far more.
const FAR_MORE: f64 = 4.0;

/// Ranks that move far more data than the others, and how much of it, on average.
#[derive(Clone, Debug)]
struct Heavy {
    ranks: RankSet,
    here: Traffic,
    /// The bytes of each of them, and of each other one.
    here_bytes: f64,
    others_bytes: f64,
}

impl Heavy {
    /// Returns the ranks that have far more than each other one of `among`, if these are most.
    fn of(by: &BTreeMap<u32, Traffic>, among: u64) -> Option<Self> {
        let most = crate::ns(by.values().map(|traffic| traffic.bytes).max()?.into());
        let is_heavy = |traffic: &Traffic| crate::ns(traffic.bytes.into()) >= most / FAR_MORE;
        let (mut ranks, mut here, mut others) =
            (RankSet::default(), Traffic::default(), Traffic::default());
        for (rank, traffic) in by {
            if is_heavy(traffic) {
                ranks.insert(*rank);
                here.absorb(*traffic);
            } else {
                others.absorb(*traffic);
            }
        }
        let each = |bytes: u64, of: u64| crate::ns(bytes.into()) / crate::ns(of.max(1).into());
        let (count, rest) = (ranks.len(), among.saturating_sub(ranks.len()));
        let (here_bytes, others_bytes) = (each(here.bytes, count), each(others.bytes, rest));
        (most > 0.0 && 2 * count <= among).then_some(Self { ranks, here, here_bytes, others_bytes })
    }
}

/// What a link says of ranks that wait while data travels elsewhere.
pub(crate) const BEHIND: &str = "waits meanwhile for those ranks";

/// Returns the findings about large messages, and about the operation that moves data the longest,
/// and the waiting of others that they explain.
pub(super) fn large(facts: &Facts<'_>, told: &[Finding]) -> (Vec<Finding>, Blamed) {
    let (mut found, mut explained) = (Vec::new(), Blamed::default());
    for (finding, behind) in of_messages(facts, told).into_iter().chain(of_operation(facts)) {
        found.push(finding);
        explained.absorb(&behind);
    }
    (found, explained)
}

/// The time that data takes in some calls.
struct Travel {
    /// The time for which ranks had a processor for certain, in ns, and its words.
    certain_ns: f64,
    text: String,
    /// The waiting of others for ranks that are in these calls.
    behind: Blamed,
    chain: Vec<Link>,
}

impl Travel {
    /// Returns what data takes in these calls, the longest first, if it is large.
    fn of(facts: &Facts<'_>, costs: &[(CallpathIndex, f64)]) -> Option<Self> {
        /// The part of the time from which on what is certain is nearly all.
        const NEARLY_ALL: f64 = 0.8;
        let run = facts.run;
        let (first, _) = *costs.first()?;
        let certain_ns = with_processor_ns(facts, costs);
        let mut behind = Blamed::default();
        for (index, _) in costs {
            facts.blame.behind_calls.get(index).into_iter().for_each(|of| behind.absorb(of));
        }
        // As far as those that are in these calls had a processor.
        let all_ns: f64 = costs.iter().map(|(_, ns)| ns).sum();
        let part = if all_ns > 0.0 { certain_ns / all_ns } else { 0.0 };
        behind.at.values_mut().for_each(|share| share.ns *= part);
        if !run.has_messages() || !facts.is_large(certain_ns + behind.ns()) {
            return None;
        }
        let at_least = if part < NEARLY_ALL { "at least " } else { "" };
        let why = "time in the call after those had come that it waits for".to_owned();
        let place = Some(Place::of(&run.callpaths, first));
        let mut chain = vec![Link { ranks: visitors(run, first), place, ns: certain_ns, why }];
        if let Some((at, _)) = behind.longest().filter(|_| behind.ns() > 0.0) {
            let place = at.callpath.map(|at| Place::of(&run.callpaths, at));
            let (ranks, ns, why) = (behind.ranks(), behind.ns(), BEHIND.to_owned());
            chain.push(Link { ranks, place, ns, why });
        }
        let text = format!("{at_least}{}", ns(certain_ns));
        Some(Self { certain_ns, text, behind, chain })
    }

    fn sum_ns(&self) -> f64 {
        self.certain_ns + self.behind.ns()
    }

    /// Returns `; ranks 1-2 wait 27 ms meanwhile in MPI_Barrier (halo.c:8)`.
    fn meanwhile(&self, run: &Run, beside: &Place) -> String {
        let Some((At { callpath: Some(at), .. }, _)) = self.behind.longest() else {
            return String::new();
        };
        if self.behind.ns() < MEANWHILE_PART * self.sum_ns() {
            return String::new();
        }
        let who = self.behind.ranks();
        format!(
            "; {} {} {} for that in {}",
            ranks(&who),
            if_many(&who, "waits", "wait"),
            ns(self.behind.ns()),
            Place::of(&run.callpaths, at).short_name(beside)
        )
    }
}

/// The part of what data takes from which on it is said that others wait meanwhile.
const MEANWHILE_PART: f64 = 0.1;

/// Returns the finding about large messages that take long after both ends are there.
fn of_messages(facts: &Facts<'_>, told: &[Finding]) -> Option<(Finding, Blamed)> {
    let run = facts.run;
    let mut all = Traffic::default();
    let mut by: BTreeMap<u32, Traffic> = BTreeMap::new();
    for call in run.calls.values() {
        all.absorb(call.sent);
        call.sent_by.iter().for_each(|(rank, sent)| by.entry(*rank).or_default().absorb(*sent));
    }
    let heavy =
        Heavy::of(&by, run.used() as u64).filter(|heavy| mean_bytes(heavy.here) >= LARGE_BYTES);
    if mean_bytes(all) < LARGE_BYTES && heavy.is_none() {
        return None;
    }
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
    let waits_at = Place::of(&run.callpaths, first);
    let (kind, is_adjacent, advice) = overlap(run, first, first_ns);
    let who = visitors(run, first);
    let right_after = if is_adjacent { ", which comes right after their start" } else { "" };
    let (place, sentence, of_ranks) = match heavy {
        Some(heavy) => {
            let place = sent_at(run, &heavy.ranks).unwrap_or_else(|| waits_at.clone());
            let sentence = format!(
                "{} {} {} in messages of {} on average in {}, the others {} each; messages travel \
                 for {} of all ranks after both sides are there, most of it in {}{right_after}{}",
                capital(&ranks(&heavy.ranks)),
                if_many(&heavy.ranks, "sends", "send"),
                size(heavy.here_bytes),
                size(mean_bytes(heavy.here)),
                place.name(),
                size(heavy.others_bytes),
                travel.text,
                waits_at.short_name(&place),
                travel.meanwhile(run, &place),
            );
            (place, sentence, heavy.ranks)
        }
        None => {
            let sentence = format!(
                "{} messages of {} on average travel for {} of all ranks after both sides are \
                 there, most of it in {}{right_after}{}",
                count_cell(all.count),
                size(mean_bytes(all)),
                travel.text,
                waits_at.name(),
                travel.meanwhile(run, &waits_at),
            );
            (waits_at.clone(), sentence, who.clone())
        }
    };
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

/// What ranks put into an operation, or get from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Puts,
    Gets,
    /// Into a file, or from it.
    Files,
}

impl Side {
    const fn of(self, call: &Call) -> &BTreeMap<u32, Traffic> {
        match self {
            Self::Puts => &call.put_by,
            Self::Gets => &call.got_by,
            Self::Files => &call.files_by,
        }
    }
}

/// How an operation moves data.
#[derive(Clone, Copy, Debug)]
struct Moves {
    /// The side that says how much it is.
    side: Side,
    /// The sides on which ranks may have more than others.
    uneven: &'static [Side],
    /// True if each rank has a part for each other one.
    is_divided: bool,
}

/// Returns how a function moves data among ranks; none if it does not, or the call only begins it.
fn moves(call: &Call) -> Option<Moves> {
    let of = |side, uneven, is_divided| Some(Moves { side, uneven, is_divided });
    let name = call.function.strip_prefix("MPI_")?;
    let is = |begins: &[&str]| begins.iter().any(|begin| name.starts_with(begin));
    match () {
        () if is(&["File_"]) && name.ends_with("_all") => of(Side::Files, &[Side::Files], false),
        () if is(&["Alltoall"]) => of(Side::Puts, &[Side::Puts, Side::Gets], true),
        () if is(&["Neighbor_"]) => of(Side::Puts, &[Side::Puts, Side::Gets], false),
        () if is(&["Allgather", "Gather"]) => of(Side::Puts, &[Side::Puts], false),
        () if is(&["Scatter", "Reduce_scatter"]) => of(Side::Gets, &[Side::Gets], false),
        () if is(&["Bcast", "Reduce", "Allreduce", "Scan", "Exscan"]) => of(Side::Puts, &[], false),
        () => None,
    }
}

/// Returns the finding about the operation that takes the longest to move its data.
fn of_operation(facts: &Facts<'_>) -> Option<(Finding, Blamed)> {
    let run = facts.run;
    let is_of_data = |call: &Call| !call.is_startup && is_large(call, run);
    let first = *costs(facts, &is_of_data).first()?;
    let (index, _) = first;
    let travel = Travel::of(facts, &[first])?;
    let call = &run.calls[&index];
    let Moves { side, uneven, .. } = moves(call)?;
    let heavy = heavy_of(call, uneven);
    let is_file = side == Side::Files;
    let place = Place::of(&run.callpaths, index);
    let who = visitors(run, index);
    let does = |side: Side, of: &RankSet, each: f64| {
        let (verb, into) = match side {
            Side::Puts => (if_many(of, "puts", "put"), "each time into"),
            Side::Gets => (if_many(of, "gets", "get"), "each time from"),
            Side::Files => (if_many(of, "moves", "move"), "each time in"),
        };
        format!("{} {verb} {} {into} {}", capital(&ranks(of)), size(each), place.name())
    };
    let (of_ranks, what, others, advice) = match heavy {
        Some((side, heavy)) => (
            heavy.ranks.clone(),
            does(side, &heavy.ranks, mean_bytes(heavy.here)),
            format!(", the others {}", size(per_visit(&heavy, side.of(call)))),
            "Share the data out more evenly among the ranks, move less of it",
        ),
        // That a file takes long is no fault of ranks.
        None if is_file => return None,
        None => {
            let all = of_all(side.of(call));
            let does = does(side, &all.0, all.1);
            (all.0, does, String::new(), "Move less data")
        }
    };
    let sentence = format!(
        "{what}{others}; moving it takes {} of all ranks, without waiting for late ones{}",
        travel.text,
        travel.meanwhile(run, &place)
    );
    let begins = match call.function.strip_prefix("MPI_File_") {
        Some(name) => format!("MPI_File_i{name}"),
        None => format!("MPI_I{}", call.function.trim_start_matches("MPI_").to_ascii_lowercase()),
    };
    let advice = format!("{advice}, or let it travel while they compute ({begins}).");
    let kind = if is_file { Kind::SerialIo } else { Kind::Bandwidth };
    let lost_ns = run.a_rank_ns(travel.sum_ns());
    let finding = Finding {
        certainty: Certainty::AtMost,
        ranks: of_ranks,
        place: Some(place.clone()),
        waits_at: Some(place),
        waiting_ranks: who,
        chain: travel.chain,
        ..Finding::new(kind, lost_ns, sentence, advice)
    };
    Some((finding, travel.behind))
}

/// Returns the ranks that have far more than the others on one of these sides, and that side.
fn heavy_of(call: &Call, sides: &[Side]) -> Option<(Side, Heavy)> {
    let among = |side: Side| match side {
        // Who puts nothing into an operation is counted, too.
        Side::Puts | Side::Gets => call.put_by.len() as u64,
        Side::Files => call.files_by.len() as u64,
    };
    let heavy =
        sides.iter().filter_map(|side| Some((*side, Heavy::of(side.of(call), among(*side))?)));
    let more = |heavy: &Heavy| heavy.here_bytes / heavy.others_bytes.max(1.0);
    heavy.max_by(|a, b| more(&a.1).total_cmp(&more(&b.1)))
}

/// Returns whether some rank has a large amount of data in a call.
fn is_large(call: &Call, run: &Run) -> bool {
    let Some(moves) = moves(call) else { return false };
    let parts = if moves.is_divided { crate::ns(run.used().max(1) as u128) } else { 1.0 };
    moves.side.of(call).values().any(|traffic| mean_bytes(*traffic) >= LARGE_BYTES * parts)
}

/// Returns the bytes of each visit of the ranks that are not heavy.
fn per_visit(heavy: &Heavy, by: &BTreeMap<u32, Traffic>) -> f64 {
    let others = by.iter().filter(|(rank, _)| !heavy.ranks.contains(**rank));
    let mut sum = Traffic::default();
    others.for_each(|(_, traffic)| sum.absorb(*traffic));
    mean_bytes(sum)
}

/// Returns the ranks that have any data, and how much in each visit.
fn of_all(by: &BTreeMap<u32, Traffic>) -> (RankSet, f64) {
    let any = by.iter().filter(|(_, traffic)| traffic.bytes > 0);
    let mut sum = Traffic::default();
    any.clone().for_each(|(_, traffic)| sum.absorb(*traffic));
    (any.map(|(rank, _)| *rank).collect(), mean_bytes(sum))
}

/// Returns the time of all ranks in each call of a kind that may wait, without waiting, the longest
/// first.
fn costs(facts: &Facts<'_>, is_in: &dyn Fn(&Call) -> bool) -> Vec<(CallpathIndex, f64)> {
    let calls = facts.run.calls.iter().filter(|(_, call)| call.may_wait() && is_in(call));
    let mut costs: Vec<(CallpathIndex, f64)> =
        calls.map(|(index, _)| (*index, in_call_ns(facts, *index))).collect();
    costs.sort_by(|a, b| b.1.total_cmp(&a.1));
    costs
}

fn visitors(run: &Run, at: CallpathIndex) -> RankSet {
    let with = (0..).zip(run.may_wait.of(Doing::In(at)).unwrap_or_default());
    with.filter(|(_, visits)| visits.ns > 0).map(|(rank, _)| rank).collect()
}

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;
    use tinyprof_messages::delay::Visits;
    use tinyprof_report::Totals;

    use super::*;
    use crate::blame::Blame;
    use crate::facts::run::RunBuilder;

    /// Returns a run of ranks of 1 s, which are in a call of this function for 0.2 s each.
    fn run_of(function: &str, ranks: usize) -> (Run, CallpathIndex) {
        let times = vec!["0.1"; ranks].join("|");
        let text = format!("id,parent,tag,is_loop,times\n{function},null,COMM,0,{times}\n");
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let totals = Totals::of_profile(&profile);
        let mut run = RunBuilder::new(&profile.callpaths, ranks).finish(&totals);
        let index = CallpathIndex::new(0);
        run.rank_ns = vec![1_000_000_000; ranks];
        run.waits.are_recorded = true;
        run.calls.entry(index).or_default().function = function.to_owned();
        for rank in 0..ranks {
            let visits = Visits { count: 10, ns: 200_000_000 };
            run.in_calls.add(Doing::In(index), rank, visits, 0);
            run.may_wait.add(Doing::In(index), rank, visits, 0);
        }
        (run, index)
    }

    fn found_in(run: &Run) -> Option<Finding> {
        large(&Facts { run, blame: &Blame::default() }, &[]).0.pop()
    }

    /// Returns what is found of two ranks, which complete large messages, and had no processor for
    /// so long.
    fn found(no_processor_ns: [u64; 2]) -> Option<Kind> {
        let (mut run, index) = run_of("MPI_Waitall", 2);
        run.no_processor_ns = vec![no_processor_ns; 2];
        run.calls.entry(index).or_default().sent = Traffic { count: 20, bytes: 20 << 20 };
        found_in(&run).map(|one| one.kind)
    }

    #[test]
    fn a_rank_without_a_processor_moves_no_data() {
        assert_eq!(found([0; 2]), Some(Kind::Bandwidth));
        assert_eq!(found([20_000_000; 2]), Some(Kind::Bandwidth), "most of it remains");
        // It may have been in the call.
        assert_eq!(found([0, 190_000_000]), None);
    }

    /// Returns the ranks that are named, and the sentence, where ranks put these bytes into ten
    /// operations, and get those.
    fn moved(function: &str, put: &[u64], got: &[u64]) -> Option<(String, String)> {
        let (mut run, index) = run_of(function, put.len());
        let by = |bytes: &[u64]| {
            let traffic = |bytes: &u64| Traffic { count: 10, bytes: 10 * bytes };
            (0..).zip(bytes.iter().map(traffic)).collect()
        };
        let call = run.calls.entry(index).or_default();
        (call.put_by, call.got_by) = (by(put), by(got));
        found_in(&run).map(|one| (one.ranks.to_string(), one.sentence))
    }

    #[test]
    fn the_rank_with_far_more_data_is_named() {
        const MB: u64 = 1_000_000;
        let (ranks, sentence) =
            moved("MPI_Alltoallv", &[100, 9 * MB, 100], &[3 * MB, 100, 3 * MB]).expect("large");
        assert_eq!(ranks, "1");
        assert_eq!(
            sentence,
            "Rank 1 puts 9 MB each time into MPI_Alltoallv, the others 100 B; moving it takes 600 ms \
             of all ranks, without waiting for late ones"
        );
        let named = |function, put: &[u64], got: &[u64]| {
            moved(function, put, got).map_or_else(String::new, |(ranks, _)| ranks)
        };
        assert_eq!(named("MPI_Alltoallv", &[3 * MB; 4], &[12 * MB, 0, 0, 0]), "0");
        assert_eq!(named("MPI_Allgatherv", &[10, 10, MB], &[MB; 3]), "2");
        // That the root has all of it is what the operation is for.
        assert_eq!(named("MPI_Gather", &[MB; 4], &[4 * MB, 0, 0, 0]), "0-3");
        assert_eq!(named("MPI_Scatterv", &[MB, 0, 0, 0], &[10, 10, 10, MB]), "3");
        assert_eq!(named("MPI_Bcast", &[MB, 0, 0, 0], &[0, MB, MB, MB]), "0");
        let (mut run, index) = run_of("MPI_File_write_at_all", 4);
        let traffic = |rank| Traffic { count: 10, bytes: if rank == 1 { 10 * MB } else { 10 } };
        run.calls.entry(index).or_default().files_by =
            (0..4).map(|rank| (rank, traffic(rank))).collect();
        let found = found_in(&run).expect("large");
        assert_eq!((found.ranks.to_string().as_str(), found.kind), ("1", Kind::SerialIo));
        assert_eq!(named("MPI_Alltoall", &[100_000; 4], &[100_000; 4]), "", "pieces are small");
    }

    #[test]
    fn the_rank_that_sends_far_more_is_named() {
        let (mut run, index) = run_of("MPI_Waitall", 3);
        let call = run.calls.entry(index).or_default();
        for (rank, bytes) in [(0, 100), (1, 1 << 20), (2, 100)] {
            let sent = Traffic { count: 100, bytes: 100 * bytes };
            call.sent.absorb(sent);
            call.sent_by.insert(rank, sent);
        }
        let found = found_in(&run).expect("it is large");
        assert_eq!((found.ranks.to_string().as_str(), found.kind), ("1", Kind::Bandwidth));
        assert!(
            found.sentence.starts_with("Rank 1 sends 105 MB in messages of 1.05 MB on average")
        );
    }
}
