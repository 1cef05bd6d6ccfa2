//! Ranks that are late because they have had no processor.

use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use super::Facts;
use super::evidence::{chain, waiting_ranks, where_they_wait};
use super::groups::Group;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// Ranks that compute longer than others by more than this factor, without the time in which they
/// had no processor, are late because of what they compute.
const LONGER_BY: f64 = 1.1;

/// Returns whether a group is late for lack of processors: without the time in which its ranks
/// certainly had none, they compute no longer than the others.
pub(super) fn are_missing(run: &Run, group: &Group) -> bool {
    let mean = |is_in: bool, of: &dyn Fn(u32) -> f64| {
        let all = (0..).zip(&run.rank_ns).filter(|(_, ns)| **ns > 0).map(|(rank, _)| rank);
        let (sum, count) = all
            .filter(|rank| group.ranks.contains(*rank) == is_in)
            .fold((0.0, 0.0), |(sum, count), rank| (sum + of(rank), count + 1.0));
        sum / f64::max(count, 1.0)
    };
    let busy = |rank: u32| busy_ns(run, rank);
    let without = |rank: u32| without_ns(run, rank);
    let (here_ns, elsewhere_ns) = (mean(true, &busy), mean(false, &busy));
    let without_ns = mean(true, &without);
    here_ns > elsewhere_ns && here_ns - without_ns <= LONGER_BY * elsewhere_ns
}

/// Returns the finding about all groups that are late for lack of processors.
pub(super) fn missing(facts: &Facts<'_>, groups: &[Group]) -> Option<Finding> {
    let run = facts.run;
    let first = groups.first()?;
    let mut all = first.clone();
    for group in &groups[1..] {
        all.ranks.absorb(&group.ranks);
        all.blamed.absorb(&group.blamed);
        all.activities.extend(group.activities.iter().copied());
    }
    let (doing, _) = *first.activities.first()?;
    let place = Place::of(&run.callpaths, doing.callpath());
    let waits_at = all.blamed.longest().and_then(|(at, _)| at.callpath);
    let without_ns: f64 = all.ranks.iter().map(|rank| without_ns(run, rank)).sum();
    let waiting: RankSet = waiting_ranks(&all);
    let waiting_ns = all.blamed.ns();
    let shared = run.crowded.map_or_else(String::new, |found| {
        format!("{} ranks share {} CPUs of a host: ", found.ranks, found.cpus)
    });
    let sentence = format!(
        "{shared}{} {} to run for {} and had no CPU, most of it before {}; {} {} {} for {}{}",
        ranks(&all.ranks),
        if_many(&all.ranks, "was ready", "were ready"),
        ns(without_ns),
        place.name(),
        ranks(&waiting),
        if_many(&waiting, "waits", "wait"),
        ns(waiting_ns),
        if_many(&all.ranks, "it", "them"),
        where_they_wait(run, &all, &place),
    );
    let (kind, advice) = match run.crowded {
        Some(_) => {
            (Kind::Oversubscription, "Start at most one rank for each CPU, and bind ranks to CPUs.")
        }
        None => (
            Kind::NoProcessor,
            "Look at what else runs on that host, and at how ranks and threads are bound to CPUs.",
        ),
    };
    Some(Finding {
        certainty: Certainty::Measured,
        ranks: all.ranks.clone(),
        place: Some(place),
        waits_at: waits_at.map(|at| Place::of(&run.callpaths, at)),
        waiting_ranks: waiting,
        chain: chain(facts, &all),
        ..Finding::new(kind, run.a_rank_ns(waiting_ns), capital(&sentence), advice.to_owned())
    })
}

/// Returns the time of a rank that is not in calls in which it may wait, in ns.
fn busy_ns(run: &Run, rank: u32) -> f64 {
    let all = run.activities.iter().filter_map(|(_, of_ranks)| of_ranks.get(rank as usize));
    crate::ns(all.map(|visits| u128::from(visits.ns)).sum())
}

/// Returns the time in which a rank certainly had no processor while it computed, in ns.
pub(super) fn without_ns(run: &Run, rank: u32) -> f64 {
    let ns = run.no_processor_ns.get(rank as usize).copied().unwrap_or(0);
    crate::ns(ns.into()).min(busy_ns(run, rank))
}
