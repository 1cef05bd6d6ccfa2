//! Waiting that no activity explains: ranks that work one after another, or take turns to be late.

use tinyprof_messages::waiting::Pattern;

use super::Facts;
use super::processor::{LOST_PART, certainly_lost_ns};
use super::serial::{CHAIN_RUN, IN_PIECES, chain_of, is_repeated};
use crate::blame::{At, Blamed};
use crate::facts::activities::Doing;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// Returns the finding about unexplained waiting, with what is `left` of other rules and without
/// what is `explained`, if there is much of it at places that no other finding has claimed.
pub(super) fn varying(
    facts: &Facts<'_>,
    claimed: &[Place],
    left: &Blamed,
    explained: &Blamed,
) -> Option<Finding> {
    let run = facts.run;
    let is_claimed = |at: &At| claimed.iter().any(|place| Some(place.index) == at.callpath);
    let mut blamed = facts.blame.unexplained.clone();
    blamed.remove(explained);
    blamed.absorb(left);
    // What ranks do once, they do not do in turns: most often they have not started together.
    let is_once = |at: &At| {
        let visits = at.callpath.and_then(|callpath| run.may_wait.of(Doing::In(callpath)));
        visits.is_some_and(|visits| visits.iter().all(|visits| visits.count <= 1))
    };
    blamed.at.retain(|at, _| !is_claimed(at) && !is_once(at));
    let waiting_ns = blamed.ns();
    if !facts.is_large(waiting_ns) {
        return None;
    }
    let (at, _) = blamed.longest()?;
    let callpath = at.callpath?;
    let waits_at = Place::of(&run.callpaths, callpath);
    let waiting = blamed.ranks();
    let most = run.activities.busiest();
    // A delay that no rank repeats is no cause that can be mended.
    if most.is_some_and(|doing| !is_repeated(run, doing, waiting_ns)) {
        return None;
    }
    let why = "unexplained: those that they wait for do nothing longer".to_owned();
    let link = Link { ranks: waiting.clone(), place: Some(waits_at.clone()), ns: waiting_ns, why };
    let is_sent = at.pattern == Pattern::LateSender && run.share(waiting_ns) >= CHAIN_RUN;
    let chain = chain_of(facts).filter(|chain| is_sent && chain.ns >= 0.5 * waiting_ns);
    let (kind, sentence, advice) = match chain {
        Some(chain) => (
            Kind::Serialisation,
            format!(
                "Ranks work one after another, {}: each waits for the one before in {}, {} in all",
                chain.text(),
                waits_at.name(),
                ns(waiting_ns)
            ),
            IN_PIECES,
        ),
        None if run.crowded.is_some() => (
            Kind::Oversubscription,
            format!(
                "{} ranks share {} CPUs of a host: {} {} {} in {} for ranks that do nothing longer \
                 meanwhile",
                run.crowded.map_or(0, |found| found.ranks),
                run.crowded.map_or(0, |found| found.cpus),
                ranks(&waiting),
                if_many(&waiting, "waits", "wait"),
                ns(waiting_ns),
                waits_at.name()
            ),
            "Start at most one rank for each CPU; if there are enough of them, look at what else \
             runs on the host.",
        ),
        // Their sums are alike by chance, if ranks have lost as much as another finding tells of.
        None if certainly_lost_ns(run).iter().sum::<f64>() >= LOST_PART * waiting_ns => {
            return None;
        }
        None => (
            Kind::TurnsToBeLate,
            format!(
                "{} {} {} in {} for ranks that do as much in all, but not at the same time",
                capital(&ranks(&waiting)),
                if_many(&waiting, "waits", "wait"),
                ns(waiting_ns),
                waits_at.name()
            ),
            "Balance each step and not only the sum, or let ranks meet less often.",
        ),
    };
    Some(Finding {
        ranks: waiting.clone(),
        place: Some(
            most.map_or_else(
                || waits_at.clone(),
                |doing| Place::of(&run.callpaths, doing.callpath()),
            ),
        ),
        waits_at: Some(waits_at),
        waiting_ranks: waiting,
        chain: vec![link],
        ..Finding::new(kind, run.a_rank_ns(waiting_ns), sentence, advice.to_owned())
    })
}
