//! Ranks that work one after another: each waits for the one before it.

use std::collections::BTreeMap;

use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;

use super::Facts;
use super::busy::active_ns;
use super::evidence::certainty;
use super::groups::Group;
use crate::blame::Blamed;
use crate::facts::activities::all_ns;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::ns;
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
pub(super) const BALANCED: f64 = 1.25;

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
    pub(super) links: usize,
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
    let active_ns = active_ns(run);
    let mean_ns = active_ns.iter().sum::<f64>() / crate::ns(run.used().max(1) as u128);
    let most_ns = active_ns.iter().copied().fold(0.0, f64::max);
    if most_ns > BALANCED * mean_ns || !is_due_to(facts, &chain, first) {
        return None;
    }
    let waiting_ns = crate::ns(run.waits.sum_ns());
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
    let (all, links) = (chain.ranks.clone(), links(&chain, waits_at.as_ref(), waiting_ns));
    let (lost_ns, advice) = (run.a_rank_ns(waiting_ns), IN_PIECES.to_owned());
    Some(Finding {
        certainty: certainty(facts),
        ranks: all.clone(),
        place: Some(place),
        waits_at: waits_at.clone(),
        waiting_ranks: all.clone(),
        chain: links,
        ..Finding::new(Kind::Serialisation, lost_ns, sentence, advice)
    })
}

/// Returns the waiting along a chain, and the rest of it.
fn links(chain: &Chain, waits_at: Option<&Place>, waiting_ns: f64) -> Vec<Link> {
    let link = |ns: f64, why: &str| Link {
        ranks: chain.ranks.clone(),
        place: waits_at.cloned(),
        ns,
        why: why.to_owned(),
    };
    vec![
        link(chain.ns, "each waits for the one before it"),
        link((waiting_ns - chain.ns).max(0.0), "wait for the end of the chain"),
    ]
}

/// Returns whether waiting is much of the run, and due to a chain. `first` are the costliest
/// causes.
fn is_due_to(facts: &Facts<'_>, chain: &Chain, first: Option<&Group>) -> bool {
    let run = facts.run;
    let waiting_ns = crate::ns(run.waits.sum_ns());
    // Where one rank is the cause, the others are no chain: they are late because of it.
    // Several ranks that do the same are the chain itself.
    let one = first.filter(|group| group.ranks.len() == 1);
    let caused_ns = one.map_or(0.0, |group| group.blamed.ns());
    let all_caused_ns: f64 = facts.blame.causes.values().map(Blamed::ns).sum();
    let is_caused = !facts.blame.is_measured || all_caused_ns >= CAUSED_PART * waiting_ns;
    is_caused
        && caused_ns <= 0.5 * waiting_ns
        && chain.ns >= CHAIN_WAITING * waiting_ns
        && run.share(waiting_ns) >= CHAIN_RUN
}

/// What to do where ranks work one after another.
pub(super) const IN_PIECES: &str = "Cut the work into smaller pieces, so that the next rank can \
                                    begin earlier, or let the ranks begin at different ends.";
