//! Operations of several ranks that move much data, and ranks with far more of it than the others.

use std::collections::BTreeMap;

use tinyprof_format::model::Traffic;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use super::super::Facts;
use super::super::messages::{mean_bytes, size};
use super::travel::{Heavy, LARGE_BYTES, Travel, costs, visitors};
use crate::blame::Blamed;
use crate::facts::calls::Call;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind};
use crate::phrases::{capital, if_many, ranks};
use crate::place::Place;

/// The direction in which ranks move data in an operation.
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
pub(super) fn found(facts: &Facts<'_>) -> Option<(Finding, Blamed)> {
    let run = facts.run;
    let is_of_data = |call: &Call| !call.is_startup && is_large(call, run);
    let first = *costs(facts, &is_of_data).first()?;
    let (index, _) = first;
    let travel = Travel::of(facts, &[first])?;
    let call = &run.calls[&index];
    let is_file = moves(call)?.side == Side::Files;
    let place = Place::of(&run.callpaths, index);
    let who = visitors(run, index);
    let (of_ranks, what, advice) = what_is_moved(call, &place)?;
    let sentence = format!(
        "{what}; moving it takes {} of all ranks, without waiting for late ones{}",
        travel.text,
        travel.meanwhile(run, &place)
    );
    let advice = format!("{advice}, or let it travel while they compute ({}).", started(call));
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

/// Returns the ranks that are named, how much they move in a call, and the advice. None of a file
/// of which no rank has far more: that it takes long is no fault of ranks.
fn what_is_moved(call: &Call, place: &Place) -> Option<(RankSet, String, &'static str)> {
    let Moves { side, uneven, .. } = moves(call)?;
    if let Some((side, heavy)) = heavy_of(call, uneven) {
        let does = does(side, &heavy.ranks, mean_bytes(heavy.here), place);
        let what = format!("{does}, the others {}", size(mean_bytes(heavy.others)));
        let advice = "Share the data out more evenly among the ranks, move less of it";
        return Some((heavy.ranks, what, advice));
    }
    if side == Side::Files {
        return None;
    }
    let (ranks, each) = of_all(side.of(call));
    let what = does(side, &ranks, each, place);
    Some((ranks, what, "Move less data"))
}

/// Returns `Rank 1 puts 9.00 MB each time into MPI_Alltoallv at exchange (halo.c:11)`.
fn does(side: Side, of: &RankSet, each: f64, place: &Place) -> String {
    let (verb, into) = match side {
        Side::Puts => (if_many(of, "puts", "put"), "each time into"),
        Side::Gets => (if_many(of, "gets", "get"), "each time from"),
        Side::Files => (if_many(of, "moves", "move"), "each time in"),
    };
    format!("{} {verb} {} {into} {}", capital(&ranks(of)), size(each), place.name())
}

/// Returns the function that only begins the operation of a call.
fn started(call: &Call) -> String {
    match call.function.strip_prefix("MPI_File_") {
        Some(name) => format!("MPI_File_i{name}"),
        None => format!("MPI_I{}", call.function.trim_start_matches("MPI_").to_ascii_lowercase()),
    }
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

/// Returns the ranks that have any data, and how much in each visit.
fn of_all(by: &BTreeMap<u32, Traffic>) -> (RankSet, f64) {
    let any = by.iter().filter(|(_, traffic)| traffic.bytes > 0);
    let mut sum = Traffic::default();
    any.clone().for_each(|(_, traffic)| sum.absorb(*traffic));
    (any.map(|(rank, _)| *rank).collect(), mean_bytes(sum))
}
