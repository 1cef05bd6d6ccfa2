//! A rank that serves all others, and does not keep up, or has nothing to do.

use std::collections::BTreeMap;

use tinyprof_messages::delay::Visits;
use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;
use tinyprof_report::Certainty;

use super::Facts;
use super::evidence::waiting_ranks;
use super::groups::Group;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, does, ns, ranks};
use crate::place::Place;

/// A master that has nothing to do is busy for at most this part of the others' time.
const IDLE_PART: f64 = 0.5;

/// Returns the finding about a rank that waits for the results of most others, and does little
/// itself. Which of the others came last in a step is chance, so all of them are named.
pub(super) fn starving(facts: &Facts<'_>) -> Option<Finding> {
    let run = facts.run;
    let of_call = run.calls.iter().filter(|(_, call)| call.takes_any).filter_map(|(index, _)| {
        let mut by_rank: BTreeMap<u32, (f64, RankSet)> = BTreeMap::new();
        for wait in run.waits.all.iter().filter(|wait| wait.at == Some(*index)) {
            let entry = by_rank.entry(wait.rank).or_default();
            entry.0 += crate::ns(wait.ns.into());
            entry.1.insert(wait.for_rank);
        }
        let most = by_rank.into_iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0));
        most.map(|(rank, (ns, workers))| (*index, rank, ns, workers))
    });
    let (at, master, waiting_ns, workers) = of_call.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let others = run.used().saturating_sub(1) as u64;
    let busy = |is_in: &dyn Fn(u32) -> bool| -> f64 {
        let all = run.activities.iter().flat_map(|(_, visits)| (0_u32..).zip(visits));
        all.filter(|(rank, _)| is_in(*rank)).map(|(_, visits)| crate::ns(visits.ns.into())).sum()
    };
    let worker_ns =
        busy(&|rank| workers.contains(rank)) / crate::ns(u128::from(workers.len().max(1)));
    let master_ns = busy(&|rank| rank == master);
    if !facts.is_large(waiting_ns)
        || workers.len() < 2
        || 2 * workers.len() < others
        || master_ns > IDLE_PART * worker_ns
    {
        return None;
    }
    let of_workers = |visits: &[Visits]| {
        let all = (0_u32..).zip(visits).filter(|(rank, _)| workers.contains(*rank));
        all.map(|(_, visits)| u128::from(visits.ns)).sum::<u128>()
    };
    let (doing, visits) = run.activities.iter().max_by_key(|(_, visits)| of_workers(visits))?;
    let mean_ns = crate::ns(of_workers(visits)) / crate::ns(u128::from(workers.len()));
    let place = Place::of(&run.callpaths, doing.callpath());
    let waits_at = Place::of(&run.callpaths, at);
    let sentence = format!(
        "{} {}, rank {master} computes {} in all; it waits {} for their results in {}",
        capital(&ranks(&workers)),
        does(run, &workers, doing, mean_ns),
        ns(master_ns),
        ns(waiting_ns),
        waits_at.short_name(&place)
    );
    let why = "the results that the master waits for".to_owned();
    let link = Link { ranks: workers.clone(), place: Some(place.clone()), ns: waiting_ns, why };
    let advice = format!(
        "Let rank {master} do a part of the work, too, or start one worker more on its CPU."
    );
    Some(Finding {
        certainty: Certainty::Measured,
        ranks: workers,
        place: Some(place),
        waits_at: Some(waits_at),
        waiting_ranks: std::iter::once(master).collect(),
        chain: vec![link],
        ..Finding::new(Kind::MasterStarving, run.a_rank_ns(waiting_ns), sentence, advice)
    })
}

/// Returns the kind of a group of causes around a master, if there is one.
pub(super) fn kind(run: &Run, group: &Group) -> Option<Kind> {
    let (at, _) = group.blamed.longest()?;
    if at.pattern != Pattern::LateSender || run.used() < 3 {
        return None;
    }
    let waiting = waiting_ranks(run, group);
    let others = run.used().saturating_sub(1) as u64;
    let is_of_all = |count: u64| count >= 2 && 2 * count >= others;
    if group.ranks.len() == 1 && is_of_all(waiting.len()) {
        let master = group.ranks.first()?;
        return takes_any(run, master, &waiting).then_some(Kind::MasterSaturated);
    }
    None
}

/// Returns whether a rank also waits for the messages of most of those that wait for it: it answers
/// them.
fn takes_any(run: &Run, master: u32, waiting: &RankSet) -> bool {
    let answers = run.waits.all.iter().filter(|wait| wait.rank == master);
    let partners: RankSet =
        answers.map(|wait| wait.for_rank).filter(|rank| waiting.contains(*rank)).collect();
    let any = run.calls.values().any(|call| call.takes_any);
    any && 2 * partners.len() >= waiting.len()
}
