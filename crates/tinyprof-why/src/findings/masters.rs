//! A rank that serves all others, and does not keep up, or has nothing to do.

use std::collections::BTreeMap;

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::delay::Visits;
use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;
use tinyprof_report::Certainty;

use super::Facts;
use super::busy::active_ns;
use super::evidence::waiting_ranks;
use super::groups::Group;
use super::processor::most_lost_ns;
use crate::facts::run::{Received, Run};
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, does, ns, ranks};
use crate::place::Place;

/// A master that has nothing to do is busy for at most this part of the others' time.
const IDLE_PART: f64 = 0.5;
/// The part of a master's waiting for one rank from which on that one is late, if it is this much
/// busier than the mean.
const ONE_PART: f64 = 0.5;
const BUSIER: f64 = 1.25;
/// How many times as long as each other one a worker is busy to be the one that is late.
const FAR_BUSIER: f64 = 1.5;
/// How often a master does its work for each message that it gets, at least. What is done once for
/// all others is no service.
const EACH_PART: f64 = 0.4;
/// The least ranks around a master that takes messages from each of them by name. A rank between
/// two others is none.
const STAR_RANKS: u64 = 3;

/// A rank that waits for the results of others.
struct Master {
    rank: u32,
    at: CallpathIndex,
    waiting_ns: f64,
    workers: RankSet,
}

impl Master {
    /// Returns the rank that waits the longest in a call that takes messages from any source.
    fn of(run: &Run) -> Option<Self> {
        let of_call = run.calls.iter().filter(|(_, call)| call.takes_any).filter_map(|(at, _)| {
            let mut by_rank: BTreeMap<u32, (f64, RankSet)> = BTreeMap::new();
            for wait in run.waits.all.iter().filter(|wait| wait.at == Some(*at)) {
                let entry = by_rank.entry(wait.rank).or_default();
                entry.0 += crate::ns(wait.ns.into());
                entry.1.insert(wait.for_rank);
            }
            let most = by_rank.into_iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0));
            most.map(|(rank, (waiting_ns, workers))| Self { rank, at: *at, waiting_ns, workers })
        });
        of_call.max_by(|a, b| a.waiting_ns.total_cmp(&b.waiting_ns))
    }

    /// Returns whether it waits for most others, of which none is late by itself, and does little
    /// itself. `active_ns` is the time of each rank in all that it does.
    fn starves(&self, run: &Run, active_ns: &[f64]) -> bool {
        let others = run.used().saturating_sub(1) as u64;
        let workers = self.workers.len();
        let of_workers_ns: f64 = self.workers.iter().map(|rank| of_rank(active_ns, rank)).sum();
        let worker_ns = of_workers_ns / crate::ns(u128::from(workers.max(1)));
        workers >= 2
            && 2 * workers >= others
            && of_rank(active_ns, self.rank) <= IDLE_PART * worker_ns
            && !is_for_one(run, self, active_ns)
            && !is_one_busier(run, &self.workers, active_ns)
    }
}

/// Returns the time of a rank; 0 if there is no such rank.
fn of_rank(of_ranks_ns: &[f64], rank: u32) -> f64 {
    of_ranks_ns.get(rank as usize).copied().unwrap_or(0.0)
}

/// Returns the finding about a rank that waits for the results of most others, and does little
/// itself. Which of the others came last in a step is chance, so all of them are named.
pub(super) fn starving(facts: &Facts<'_>) -> Option<Finding> {
    let run = facts.run;
    let master = Master::of(run).filter(|master| facts.is_large(master.waiting_ns))?;
    let active_ns = active_ns(run);
    if !master.starves(run, &active_ns) {
        return None;
    }
    let Master { rank, at, waiting_ns, workers } = master;
    let of_workers = |visits: &[Visits]| {
        let all = (0_u32..).zip(visits).filter(|(rank, _)| workers.contains(*rank));
        all.map(|(_, visits)| u128::from(visits.ns)).sum::<u128>()
    };
    let (doing, visits) = run.activities.iter().max_by_key(|(_, visits)| of_workers(visits))?;
    let mean_ns = crate::ns(of_workers(visits)) / crate::ns(u128::from(workers.len()));
    let place = Place::of(&run.callpaths, doing.callpath());
    let waits_at = Place::of(&run.callpaths, at);
    let sentence = format!(
        "{} {}, rank {rank} computes {} in all; it waits {} for their results in {}",
        capital(&ranks(&workers)),
        does(run, &workers, doing, mean_ns),
        ns(of_rank(&active_ns, rank)),
        ns(waiting_ns),
        waits_at.short_name(&place)
    );
    let why = "the results that the master waits for".to_owned();
    let link = Link { ranks: workers.clone(), place: Some(place.clone()), ns: waiting_ns, why };
    let advice =
        format!("Let rank {rank} do a part of the work, too, or start one worker more on its CPU.");
    Some(Finding {
        certainty: Certainty::Measured,
        ranks: workers,
        place: Some(place),
        waits_at: Some(waits_at),
        waiting_ranks: std::iter::once(rank).collect(),
        chain: vec![link],
        ..Finding::new(Kind::MasterStarving, run.a_rank_ns(waiting_ns), sentence, advice)
    })
}

/// Returns whether a master waits in a call mostly for one rank, which is busy for longer than the
/// other workers in the mean: then that one is late. What they may have lost their processors for
/// does not count.
fn is_for_one(run: &Run, master: &Master, active_ns: &[f64]) -> bool {
    let Master { rank: master, at, workers, .. } = master;
    let here = run.waits.all.iter().filter(|wait| wait.at == Some(*at) && wait.rank == *master);
    let mut of_ranks: BTreeMap<u32, f64> = BTreeMap::new();
    here.for_each(|wait| *of_ranks.entry(wait.for_rank).or_default() += crate::ns(wait.ns.into()));
    let sum_ns: f64 = of_ranks.values().sum();
    let Some((rank, ns)) = of_ranks.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return false;
    };
    let busy_ns = |rank: u32| (of_rank(active_ns, rank) - most_lost_ns(run, rank)).max(0.0);
    let others = workers.iter().filter(|other| *other != rank);
    let others_ns: f64 = others.map(busy_ns).sum();
    let mean_ns = others_ns / crate::ns(u128::from(workers.len().saturating_sub(1).max(1)));
    ns >= ONE_PART * sum_ns && busy_ns(rank) >= BUSIER * mean_ns
}

/// Returns whether one of the workers is busy for far longer than each other one for certain: by
/// its shortest visits, as often as it comes there.
fn is_one_busier(run: &Run, workers: &RankSet, active_ns: &[f64]) -> bool {
    let certain_ns = |rank: u32| {
        let least = run.activities.iter().map(|(doing, _)| run.activities.least_ns(doing, rank));
        least.map(|ns| crate::ns(ns.into())).sum::<f64>()
    };
    let busiest = workers.iter().max_by(|a, b| certain_ns(*a).total_cmp(&certain_ns(*b)));
    let Some(busiest) = busiest else { return false };
    let others = workers.iter().filter(|rank| *rank != busiest);
    let next_ns = others.map(|rank| of_rank(active_ns, rank)).fold(0.0, f64::max);
    certain_ns(busiest) >= FAR_BUSIER * next_ns
}

/// Returns the kind of a group of causes around a master, if there is one: a rank that most others
/// wait for, which serves their messages one by one.
pub(super) fn kind(run: &Run, group: &Group) -> Option<Kind> {
    let (at, _) = group.blamed.longest()?;
    let is_of_messages = matches!(at.pattern, Pattern::LateSender | Pattern::LateReceiver);
    if !is_of_messages || run.used() < 3 || group.ranks.len() != 1 {
        return None;
    }
    let (waiting, master) = (waiting_ranks(run, group), group.ranks.first()?);
    let others = run.used().saturating_sub(1) as u64;
    let is_of_all = waiting.len() >= 2 && 2 * waiting.len() >= others;
    let (doing, _) = *group.activities.first()?;
    let visits = run.activities.of(doing)?.get(master as usize)?.count;
    let served = served(run, master, &waiting)?;
    let is_served = crate::ns(visits.into()) >= EACH_PART * crate::ns(served.into());
    (is_of_all && is_served).then_some(Kind::MasterSaturated)
}

/// Returns the messages that a rank has got from those that wait for it, if it got them from most:
/// from any source, or from ranks that get messages from nobody else.
fn served(run: &Run, master: u32, waiting: &RankSet) -> Option<u64> {
    let from = |rank: u32| run.received.get(&(master, rank));
    let partners: Vec<Received> = waiting.iter().filter_map(from).copied().collect();
    let gets_others = |rank: u32| {
        let of = run.received.range((rank, 0)..=(rank, u32::MAX));
        of.map(|((_, from), _)| *from).any(|from| from != master)
    };
    let is_any = partners.iter().any(|one| one.is_any);
    let is_star = || waiting.len() >= STAR_RANKS && !waiting.iter().any(gets_others);
    let is_most = 2 * partners.len() as u64 >= waiting.len();
    (is_most && (is_any || is_star())).then(|| partners.iter().map(|one| one.messages).sum())
}

#[cfg(test)]
mod tests {
    use super::super::example::run_of;
    use super::*;

    #[test]
    fn a_worker_that_is_far_busier_is_no_starving_master() {
        let workers: RankSet = [1, 2, 3].into_iter().collect();
        let is_one = |ms: &[u64]| {
            let run = run_of(&[("MPI_Send", ms)]);
            is_one_busier(&run, &workers, &active_ns(&run))
        };
        assert!(is_one(&[10, 60, 250, 70]));
        assert!(!is_one(&[10, 60, 80, 70]));
        assert!(!is_one(&[10, 60, 0, 70]), "one that does less");
    }
}
