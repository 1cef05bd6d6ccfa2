//! Ranks that could run, but had no processor: the run-queue delay, as it was measured.

use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use super::Facts;
use super::processor::certainly_lost_ns;
use crate::blame::Blamed;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// The advice.
pub(super) const ADVICE: &str =
    "Start at most one rank or thread for each CPU, and look at what else runs on the host.";

/// The advice goes on like this if there is no other finding.
const CHANCE: &str = " Which rank is late is chance while this lasts.";

/// The part of the longest delay from which on a rank is named.
const NAMED_PART: f64 = 0.2;

/// The part of the waiting for ranks that are not named from which on it is told.
const OTHERS_PART: f64 = 0.05;

/// The part of the time without a processor from which on a finding about some of it tells enough.
const TOLD_PART: f64 = 0.5;

/// Adds the finding about waiting for ranks that had no processor, as the program has measured it,
/// if there is much of it. Of another one that says the same of its ranks, the larger one remains.
pub(super) fn add_waited_for(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(measured) = waited_for(facts, found) else { return };
    let is_same = |one: &Finding| {
        one.kind == Kind::Oversubscription
            && one.ranks.iter().any(|rank| measured.ranks.contains(rank))
    };
    if found.iter().any(|one| is_same(one) && one.lost_ns > measured.lost_ns) {
        return;
    }
    found.retain(|one| !is_same(one));
    found.push(measured);
}

fn waited_for(facts: &Facts<'_>, found: &[Finding]) -> Option<Finding> {
    let (run, blame) = (facts.run, facts.blame);
    let all_ns = blame.no_processor.ns();
    if !facts.is_large(all_ns) {
        return None;
    }
    let most_ns = blame.without_processor.values().map(Blamed::ns).fold(0.0, f64::max);
    let (mut who, mut named) = (RankSet::default(), Blamed::default());
    for (rank, blamed) in &blame.without_processor {
        if blamed.ns() >= NAMED_PART * most_ns {
            who.insert(*rank);
            named.absorb(blamed);
        }
    }
    let (at, _) = named.longest()?;
    let waits_at = at.callpath.map(|callpath| Place::of(&run.callpaths, callpath));
    let (waiting_ranks, waiting_ns) = (named.ranks(), named.ns());
    let place = waits_at.as_ref().map_or_else(String::new, |at| format!(" in {}", at.name()));
    let others_ns = all_ns - waiting_ns;
    let more = if others_ns >= OTHERS_PART * all_ns {
        format!(", and {} for others without one", ns(others_ns))
    } else {
        String::new()
    };
    let sentence = format!(
        "{} {} ready to run, but had no processor, before others could go on: {} {} {} for \
         {}{place}{more}",
        capital(&ranks(&who)),
        if_many(&who, "was", "were"),
        ranks(&waiting_ranks),
        if_many(&waiting_ranks, "waits", "wait"),
        ns(waiting_ns),
        if_many(&who, "it", "them"),
    );
    let why = "ready to run, without a processor".to_owned();
    let mut chain = vec![Link { ranks: who.clone(), place: None, ns: waiting_ns, why }];
    let others: RankSet =
        blame.without_processor.keys().copied().filter(|rank| !who.contains(*rank)).collect();
    if others_ns > 0.0 && !others.is_empty() {
        let why = "ready to run, without a processor".to_owned();
        chain.push(Link { ranks: others, place: None, ns: others_ns, why });
    }
    Some(Finding {
        certainty: Certainty::Measured,
        ranks: who,
        waits_at,
        waiting_ranks,
        chain,
        ..Finding::new(Kind::Oversubscription, run.a_rank_ns(all_ns), sentence, advice(found))
    })
}

/// Returns the finding about ranks without a processor, if there is much of it, and those that were
/// `found` tell of less than half of it. It blames no rank: who had no processor is chance.
pub(super) fn oversubscribed(facts: &Facts<'_>, found: &[Finding]) -> Option<Finding> {
    let run = facts.run;
    let of_ranks = certainly_lost_ns(run);
    let lost_ns: f64 = of_ranks.iter().sum();
    let is_of_lost_time = |one: &&Finding| one.kind == Kind::Oversubscription;
    let told_ns = found.iter().filter(is_of_lost_time).map(|one| one.lost_ns).fold(0.0, f64::max);
    if !facts.is_large(lost_ns) || told_ns >= TOLD_PART * run.a_rank_ns(lost_ns) {
        return None;
    }
    let most_ns = of_ranks.iter().copied().fold(0.0, f64::max);
    let is_named = |(_, lost_ns): &(u32, &f64)| **lost_ns >= NAMED_PART * most_ns;
    let who: RankSet = (0_u32..).zip(&of_ranks).filter(is_named).map(|(rank, _)| rank).collect();
    let sentence = format!(
        "{} {} ready to run, but had no processor, for {} in all: others ran on them",
        capital(&ranks(&who)),
        if_many(&who, "was", "were"),
        ns(lost_ns)
    );
    let why = "ready to run, without a processor".to_owned();
    let chain = vec![Link { ranks: who.clone(), place: None, ns: lost_ns, why }];
    Some(Finding {
        certainty: Certainty::AtMost,
        ranks: who,
        chain,
        ..Finding::new(Kind::Oversubscription, run.a_rank_ns(lost_ns), sentence, advice(found))
    })
}

/// Returns the advice beside what was `found`.
fn advice(found: &[Finding]) -> String {
    let is_alone = found.iter().all(Finding::is_chance);
    format!("{ADVICE}{}", if is_alone { CHANCE } else { "" })
}

#[cfg(test)]
mod tests {
    use super::super::example::run_of;
    use super::*;
    use crate::blame::Blame;

    /// Returns what is said of two ranks that had no processor for 600 ms of a second, beside a
    /// finding of a kind that tells of this time of a rank.
    fn beside(told_ms: f64, kind: Kind) -> Option<f64> {
        let mut run = run_of(&[("MPI_Recv", &[1_000; 2])]);
        run.no_processor_ns = vec![[600_000_000; 2]; 2];
        let told = Finding::new(kind, told_ms * 1e6, String::new(), String::new());
        let found = oversubscribed(&Facts { run: &run, blame: &Blame::default() }, &[told]);
        found.map(|one| one.lost_ns / 1e6)
    }

    #[test]
    fn lost_time_is_told_unless_most_of_it_is_told_already() {
        assert_eq!(beside(200.0, Kind::Oversubscription), Some(600.0));
        assert_eq!(beside(400.0, Kind::Oversubscription), None);
        assert_eq!(beside(400.0, Kind::LateSender), Some(600.0));
    }
}
