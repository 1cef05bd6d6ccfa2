//! Ranks that work one after another, and ranks that take turns to be late.

use std::collections::BTreeMap;

use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;

use super::Facts;
use super::evidence::{certainty, certainty_of, chain, waiting_ranks, where_they_wait};
use super::groups::Group;
use super::processor::{LOST_PART, most_lost_ns};
use crate::blame::Blamed;
use crate::facts::activities::{Doing, all_ns};
use crate::facts::run::Run;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{does, ns, ranks};
use crate::place::Place;

/// The part of a rank's waiting that has to be for one and the same neighbour.
const CHAIN_PART: f64 = 0.6;
/// The part of the ranks that has to be in the chain.
const CHAIN_RANKS: f64 = 0.6;
/// The part of all waiting that has to be along the chain.
const CHAIN_WAITING: f64 = 0.3;
/// The part of the run that waiting has to be. Ranks that share processors wait a little for a
/// neighbour each, too.
pub(super) const CHAIN_RUN: f64 = 0.15;
/// An activity that exceeds its mean on no rank by more than this part is balanced.
const BALANCED: f64 = 1.25;

/// The part of the work of a rank that the next one in a chain waits at least.
const WORK_PART: f64 = 0.3;
/// How often ranks that take turns are as late as the latest one, at least.
const REPEATED: f64 = 2.0;

/// The part of the waiting that has to follow from what ranks do, where that is measured: ranks
/// that share processors wait for neighbours, too, while nobody works.
const CAUSED_PART: f64 = 0.4;

/// The part of the waiting that the time without a processor may be at most: ranks that share
/// processors run one after another whatever the program does.
const NO_PROCESSOR_PART: f64 = 0.4;

/// Ranks of which each waits for one before it, or each for one after it.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// All ranks that wait so, and those that they wait for.
    pub(super) ranks: RankSet,
    /// The ranks that wait.
    links: usize,
    /// The longest way from a rank that waits for none of them.
    path: Vec<u32>,
    /// The waiting along the chain, of all ranks together, in ns.
    pub(super) ns: f64,
}

impl Chain {
    /// Returns the chain along these links: from a rank to the one that it waits for, all of which
    /// are lower, or all higher.
    fn along(links: &BTreeMap<u32, (u32, f64)>) -> Self {
        let mut ranks: RankSet = links.keys().copied().collect();
        links.values().for_each(|(partner, _)| ranks.insert(*partner));
        let path_to = |rank: &u32| {
            let next = |rank: &u32| links.get(rank).map(|(partner, _)| *partner);
            std::iter::successors(Some(*rank), next).collect::<Vec<u32>>()
        };
        let mut path = links.keys().map(path_to).max_by_key(Vec::len).unwrap_or_default();
        path.reverse();
        let ns = links.values().map(|(_, ns)| ns).sum();
        Self { ranks, links: links.len(), path, ns }
    }

    /// Returns `0 -> 1 -> 2 -> 3`, shortened if it is long.
    pub(super) fn text(&self) -> String {
        let all: Vec<String> = self.path.iter().map(ToString::to_string).collect();
        let path = match all.as_slice() {
            [first, second, .., last] if all.len() > 6 => {
                format!("{first} -> {second} -> ... -> {last}")
            }
            _ => all.join(" -> "),
        };
        let is_whole = self.path.len() as u64 == self.ranks.len();
        if is_whole { path } else { format!("as {path}") }
    }
}

/// Returns the chain of ranks that wait for messages of one before, if most ranks are in it, and it
/// is the program that makes it.
pub(super) fn chain_of(facts: &Facts<'_>) -> Option<Chain> {
    let (run, blame) = (facts.run, facts.blame);
    // What ranks lose that wait in a loop makes nobody wait: where that is told apart, it does not
    // count.
    let no_processor_ns = if blame.is_measured {
        blame.no_processor.ns()
    } else {
        run.no_processor_ns.iter().map(|[_, most_ns]| crate::ns((*most_ns).into())).sum()
    };
    if no_processor_ns > NO_PROCESSOR_PART * crate::ns(run.waits.sum_ns()) {
        return None;
    }
    let mut for_rank: BTreeMap<u32, BTreeMap<u32, u64>> = BTreeMap::new();
    for wait in run.waits.all.iter().filter(|wait| wait.pattern == Pattern::LateSender) {
        *for_rank.entry(wait.rank).or_default().entry(wait.for_rank).or_default() += wait.ns;
    }
    let mut links = [BTreeMap::new(), BTreeMap::new()];
    for (rank, partners) in &for_rank {
        let sum: u64 = partners.values().sum();
        let Some((partner, most)) = partners.iter().max_by_key(|(_, ns)| **ns) else { continue };
        let most_ns = crate::ns((*most).into());
        if partner != rank && most_ns >= CHAIN_PART * crate::ns(sum.into()) {
            links[usize::from(partner > rank)].insert(*rank, (*partner, most_ns));
        }
    }
    let chain = links.iter().map(Chain::along).max_by(|a, b| a.ns.total_cmp(&b.ns))?;
    let first = chain.path.first()?;
    let first_ns: u64 = for_rank.get(first).map_or(0, |partners| partners.values().sum());
    if is_ring(run, &chain, crate::ns(first_ns.into())) {
        return None;
    }
    let is_most = crate::ns(chain.links as u128 + 1) >= CHAIN_RANKS * crate::ns(run.used() as u128);
    (is_most && chain.path.len() >= 3).then_some(chain)
}

/// Returns whether the first rank of a chain waits for messages as long as the others, and none as
/// long as it works: in a ring each rank can only wait for the one before, whoever is late.
fn is_ring(run: &Run, chain: &Chain, first_ns: f64) -> bool {
    let busy_ns: f64 = run.activities.iter().map(|(_, visits)| crate::ns(all_ns(visits))).sum();
    let links = crate::ns(chain.links.max(1) as u128);
    2.0 * first_ns >= chain.ns / links && chain.ns < run.a_rank_ns(busy_ns) * links
}

/// Returns the finding about ranks that work one after another, if they do as much, and much of the
/// waiting is along their chain: then it explains all waiting. `first` are the costliest causes.
pub(super) fn one_after_another(facts: &Facts<'_>, first: Option<&Group>) -> Option<Finding> {
    let run = facts.run;
    let chain = chain_of(facts)?;
    let busy = |rank: usize| {
        run.activities.iter().map(|(_, of_ranks)| crate::ns(of_ranks[rank].ns.into())).sum::<f64>()
    };
    let busy: Vec<f64> = (0..run.ranks).map(busy).collect();
    let mean_ns = busy.iter().sum::<f64>() / crate::ns(run.used().max(1) as u128);
    let most_ns = busy.iter().copied().fold(0.0, f64::max);
    let waiting_ns = crate::ns(run.waits.sum_ns());
    // Where one rank is the cause, the others are no chain: they are late because of it.
    // Several ranks that do the same are the chain itself.
    let one = first.filter(|group| group.ranks.len() == 1);
    let caused_ns = one.map_or(0.0, |group| group.blamed.ns());
    if caused_ns > 0.5 * waiting_ns {
        return None;
    }
    let all_caused_ns: f64 = facts.blame.causes.values().map(Blamed::ns).sum();
    if facts.blame.is_measured && all_caused_ns < CAUSED_PART * waiting_ns {
        return None;
    }
    if most_ns > BALANCED * mean_ns
        || chain.ns < CHAIN_WAITING * waiting_ns
        || run.share(waiting_ns) < CHAIN_RUN
    {
        return None;
    }
    let place = Place::of(&run.callpaths, run.activities.busiest()?.callpath());
    let along = run.waits.all.iter().filter(|wait| wait.pattern == Pattern::LateSender);
    let longest = along.max_by_key(|wait| wait.ns)?;
    let waits_at = longest.at.map(|at| Place::of(&run.callpaths, at));
    let at =
        waits_at.as_ref().map_or_else(String::new, |at| format!(" in {}", at.short_name(&place)));
    let sentence = format!(
        "Ranks work one after another, {}: each waits for the one before{at}, {} in all, and \
         computes {}, mostly before {}",
        chain.text(),
        ns(waiting_ns),
        ns(mean_ns),
        place.name()
    );
    let all = chain.ranks.clone();
    let link = |ns: f64, why: &str| Link {
        ranks: all.clone(),
        place: waits_at.clone(),
        ns,
        why: why.to_owned(),
    };
    let links = vec![
        link(chain.ns, "each waits for the one before it"),
        link((waiting_ns - chain.ns).max(0.0), "wait for the end of the chain"),
    ];
    Some(Finding {
        certainty: certainty(facts),
        ranks: all.clone(),
        place: Some(place),
        waits_at: waits_at.clone(),
        waiting_ranks: all.clone(),
        chain: links,
        ..Finding::new(
            Kind::Serialisation,
            run.a_rank_ns(waiting_ns),
            sentence,
            IN_PIECES.to_owned(),
        )
    })
}

/// Returns whether ranks wait longer than for the longest visit of an activity alone: a rank that
/// is late once has lost its processor, as far as can be told, and takes no turns.
pub(super) fn is_repeated(run: &Run, doing: Doing, waiting_ns: f64) -> bool {
    let visits = run.activities.of(doing).unwrap_or_default();
    let count = visits.iter().map(|visits| visits.count).sum::<u64>();
    let longest_ns = crate::ns(run.activities.longest_ns(doing).into());
    let others_ns = (crate::ns(all_ns(visits)) - longest_ns).max(0.0)
        / crate::ns(u128::from(count.saturating_sub(1).max(1)));
    let once_ns = (longest_ns - others_ns) * crate::ns(run.used().saturating_sub(1) as u128);
    waiting_ns >= REPEATED * once_ns
}

/// Returns whether ranks may have had no processor for half of this time of all of them.
fn may_be_lost(run: &Run, waiting_ns: f64) -> bool {
    let most_ns = (0_u32..).zip(&run.rank_ns).map(|(rank, _)| most_lost_ns(run, rank));
    most_ns.sum::<f64>() >= LOST_PART * waiting_ns
}

/// What to do where ranks work one after another.
pub(super) const IN_PIECES: &str = "Cut the work into smaller pieces, so that the next rank can \
                                    begin earlier, or let the ranks begin at different ends.";

/// Returns the finding about a group of most ranks whose activity is balanced. None if the group is
/// no such one; none in it if nothing is to be said.
pub(super) fn in_turns(facts: &Facts<'_>, group: &Group) -> Option<Option<Finding>> {
    let run = facts.run;
    let (doing, _) = *group.activities.first()?;
    let visits = run.activities.of(doing)?;
    let most = visits.iter().map(|visits| visits.ns).max().unwrap_or(0);
    let sum = all_ns(visits);
    let mean_ns = crate::ns(sum) / crate::ns(run.used().max(1) as u128);
    let ranks_used = run.used() as u64;
    // All of them are compared with nobody.
    let is_balanced =
        crate::ns(most.into()) <= BALANCED * mean_ns || group.ranks.len() >= ranks_used;
    if !is_balanced || group.ranks.len() < 2 || 2 * group.ranks.len() < ranks_used {
        return None;
    }
    let place = Place::of(&run.callpaths, doing.callpath());
    let waiting_ns = group.blamed.ns();
    let at = where_they_wait(run, group, &place);
    let waits_at = group.blamed.longest().and_then(|(at, _)| at.callpath);
    let base = |kind, sentence: String, advice: &str| Finding {
        certainty: certainty_of(facts, group),
        ranks: group.ranks.clone(),
        place: Some(place.clone()),
        waits_at: waits_at.map(|at| Place::of(&run.callpaths, at)),
        waiting_ranks: waiting_ranks(run, group),
        chain: chain(facts, group),
        ..Finding::new(kind, run.a_rank_ns(waiting_ns), sentence, advice.to_owned())
    };
    // A rank of a chain waits while the one before it works.
    let of_work = |chain: &Chain| chain.ns >= WORK_PART * mean_ns * crate::ns(chain.links as u128);
    let chain = chain_of(facts).filter(|chain| chain.ns >= 0.5 * waiting_ns && of_work(chain));
    if chain.is_none() && !is_repeated(run, doing, waiting_ns) {
        return Some(None);
    }
    // From sums nobody knows which rank had no processor when.
    if chain.is_none() && !facts.blame.is_measured && may_be_lost(run, waiting_ns) {
        return Some(None);
    }
    let all: RankSet = (0..).zip(visits).filter(|(_, v)| v.count > 0).map(|(r, _)| r).collect();
    let what = does(run, &all, doing, mean_ns)
        .replacen("compute ", "computes ", 1)
        .replacen("spend ", "spends ", 1);
    let is_sent =
        matches!(group.blamed.longest(), Some((at, _)) if at.pattern == Pattern::LateSender);
    let subject = crate::phrases::capital(&ranks(&group.ranks));
    let waiting = waiting_ranks(run, group);
    let waits = if waiting.iter().all(|rank| group.ranks.contains(rank)) {
        format!("they wait {} for each other", ns(waiting_ns))
    } else {
        let wait = crate::phrases::if_many(&waiting, "waits", "wait");
        format!("{} {wait} {} for them", ranks(&waiting), ns(waiting_ns))
    };
    Some(Some(match chain {
        Some(chain) => base(
            Kind::Serialisation,
            format!(
                "Ranks work one after another, {}: each {what} and waits for the one before{at}, {} in all",
                chain.text(),
                ns(waiting_ns)
            ),
            IN_PIECES,
        ),
        // At most half of the ranks work at a time.
        None if is_sent && waiting_ns >= crate::ns(sum) => base(
            Kind::Serialisation,
            format!(
                "{subject} work one after another: each {what} in all, but not at the same time; {waits}{at}"
            ),
            "If each can only begin when another has ended, cut the work into smaller pieces; else \
             balance each step and not only the sum.",
        ),
        None => base(
            Kind::TurnsToBeLate,
            format!(
                "{subject} take turns to be late: each {what} in all, but not at the same time; {waits}{at}"
            ),
            "Balance each step and not only the sum, or let ranks meet less often.",
        ),
    }))
}
