//! Locks of windows that ranks hold one after another.

use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;
use tinyprof_report::Certainty;

use super::Facts;
use crate::facts::activities::{Doing, all_ns};
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// The part of the longest waiting from which on a rank that holds the lock is named.
const HOLDER_PART: f64 = 0.2;

/// Returns the finding about locks that several ranks hold, one after another.
pub(super) fn contention(facts: &Facts<'_>) -> Option<Finding> {
    let run = facts.run;
    let locks = run.waits.all.iter().filter(|wait| wait.pattern == Pattern::LockContention);
    let mut for_rank: Vec<f64> = vec![0.0; run.ranks];
    let mut waiting = RankSet::default();
    for wait in locks.clone() {
        for_rank[wait.for_rank as usize] += crate::ns(wait.ns.into());
        waiting.insert(wait.rank);
    }
    let (waiting_ns, most_ns) =
        (for_rank.iter().sum(), for_rank.iter().copied().fold(0.0, f64::max));
    let holders = (0_u32..).zip(&for_rank).filter(|(_, ns)| **ns >= HOLDER_PART * most_ns);
    let holders: RankSet = holders.map(|(rank, _)| rank).collect();
    if !facts.is_large(waiting_ns) || holders.len() < 2 {
        return None;
    }
    let at = locks.max_by_key(|wait| wait.ns)?.at?;
    let waits_at = Place::of(&run.callpaths, at);
    // While the lock is held, ranks compute before calls at windows.
    let held = run.activities.iter().filter(|(doing, _)| {
        let call = run.calls.get(&doing.callpath());
        call.is_some_and(|call| is_under_lock(&call.function))
    });
    let longest = held.map(|(doing, visits)| (doing, all_ns(visits))).max_by_key(|(_, ns)| *ns);
    let (doing, held_ns) = longest.unwrap_or((Doing::In(at), 0));
    let each_ns = crate::ns(held_ns) / crate::ns(holders.len().into());
    let place = Place::of(&run.callpaths, doing.callpath());
    let sentence = format!(
        "{} {} a lock one after another, and compute {} each before {}; {} {} {} for it in {}",
        capital(&ranks(&holders)),
        if_many(&holders, "holds", "hold"),
        ns(each_ns),
        place.name(),
        ranks(&waiting),
        if_many(&waiting, "waits", "wait"),
        ns(waiting_ns),
        waits_at.short_name(&place)
    );
    let why = "holds the lock while others want it".to_owned();
    let link = Link { ranks: holders.clone(), place: Some(place.clone()), ns: waiting_ns, why };
    let advice = "Hold the lock for a shorter time: compute before or behind it; or share it \
                  (MPI_LOCK_SHARED) and use MPI_Accumulate or MPI_Fetch_and_op."
        .to_owned();
    Some(Finding {
        ranks: holders,
        certainty: Certainty::Measured,
        place: Some(place),
        waits_at: Some(waits_at),
        waiting_ranks: waiting,
        chain: vec![link],
        ..Finding::new(Kind::LockContention, run.a_rank_ns(waiting_ns), sentence, advice)
    })
}

/// Returns whether a function is called between the lock and the end of the unlock.
fn is_under_lock(function: &str) -> bool {
    ["MPI_Win_unlock", "MPI_Win_flush", "MPI_Put", "MPI_Get", "MPI_Accumulate"]
        .iter()
        .any(|name| function.starts_with(name))
}
