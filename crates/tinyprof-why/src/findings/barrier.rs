//! A barrier beside an operation that waits for all ranks itself.

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use super::Facts;
use crate::facts::activities::{Doing, all_ns};
use crate::finding::{Finding, Kind, Link};
use crate::phrases::ns;
use crate::place::Place;

/// The longest computation between the two, as a mean over visits, in ns.
const NEXT_TO_NS: f64 = 50_000.0;
/// The part of the visits of each rank in which the two follow each other. What a single rank does
/// between them, the others may have to wait for.
const NEXT_TO_PART: f64 = 0.5;

/// Returns the finding about the costliest such barrier, unless the waiting in it has a cause that
/// is told already: it would only move to the other operation.
pub(super) fn redundant(facts: &Facts<'_>, told: &[Finding]) -> Option<Finding> {
    let run = facts.run;
    let adjacent = run.calls.iter().filter(|(_, call)| call.before_part >= NEXT_TO_PART);
    let pairs = adjacent.filter_map(|(next, call)| pair(facts, *next, call.before?.0));
    let costs = pairs.map(|(barrier, other)| (barrier, other, cost_ns(facts, barrier)));
    let (barrier, other, cost_ns) = costs.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let is_told = told
        .iter()
        .filter(|one| !one.is_chance())
        .any(|one| one.waits_at.as_ref().is_some_and(|place| place.index == barrier));
    if is_told || !facts.is_large(cost_ns) {
        return None;
    }
    let place = Place::of(&run.callpaths, barrier);
    let sentence = format!(
        "{} is right beside {}, where all ranks wait for each other anyway: it takes {} of all ranks",
        place.name(),
        Place::of(&run.callpaths, other).short_name(&place),
        ns(cost_ns)
    );
    let all: RankSet = (0..u32::try_from(run.ranks).unwrap_or(u32::MAX)).collect();
    let why = "waits for all ranks, without data".to_owned();
    let link = Link { ranks: all.clone(), place: Some(place.clone()), ns: cost_ns, why };
    let advice = "Leave the barrier out, unless it separates what is measured.".to_owned();
    Some(Finding {
        certainty: Certainty::AtMost,
        ranks: all.clone(),
        place: Some(place.clone()),
        waits_at: Some(place),
        waiting_ranks: all,
        chain: vec![link],
        ..Finding::new(Kind::RedundantBarrier, run.a_rank_ns(cost_ns), sentence, advice)
    })
}

/// Returns the barrier of two calls of which one follows the other at once, and the other one.
fn pair(
    facts: &Facts<'_>,
    next: CallpathIndex,
    first: CallpathIndex,
) -> Option<(CallpathIndex, CallpathIndex)> {
    let run = facts.run;
    let gap = run.activities.of(Doing::Before(next))?;
    let (sum_ns, count) = gap.iter().fold((0_u128, 0_u128), |(ns, count), visits| {
        (ns + u128::from(visits.ns), count + u128::from(visits.count))
    });
    if next == first || crate::ns(sum_ns) > NEXT_TO_NS * crate::ns(count.max(1)) {
        return None;
    }
    let name = |index| run.calls.get(&index).map_or("", |call| call.function.as_str());
    match (name(first), name(next)) {
        ("MPI_Barrier", other) if meets(other) => Some((first, next)),
        (other, "MPI_Barrier") if meets(other) => Some((next, first)),
        _ => None,
    }
}

/// Returns whether all ranks wait for all others in a function.
fn meets(function: &str) -> bool {
    ["MPI_Allreduce", "MPI_Allgather", "MPI_Alltoall", "MPI_Reduce_scatter", "MPI_Barrier"]
        .iter()
        .any(|name| function.starts_with(name))
}

/// Returns the time of all ranks in a call, without waiting that has a cause, in ns.
fn cost_ns(facts: &Facts<'_>, index: CallpathIndex) -> f64 {
    let all = facts.run.in_calls.of(Doing::In(index)).unwrap_or_default();
    let own_ns = crate::ns(all_ns(all));
    let unexplained = facts.blame.unexplained.at.iter();
    let waited = unexplained.filter(|(at, _)| at.callpath == Some(index));
    own_ns + waited.map(|(_, share)| share.ns).sum::<f64>()
}
