//! Waiting that no activity explains: ranks that work one after another, or take turns to be late.

use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;
use tinyprof_report::Occupancy;

use super::Facts;
use super::processor::{LOST_PART, certainly_lost_ns, most_lost_ns};
use super::serial::{CHAIN_RUN, IN_PIECES, chain_of};
use super::turns::{BALANCE, is_repeated, varies_enough};
use crate::blame::{At, Blamed};
use crate::facts::activities::Doing;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// The advice where ranks may have been late because they had no processor.
const BALANCE_OR_LOST: &str = "Look at what else runs on the host, and measure again without it; \
     then balance each step and not only the sum.";
/// The advice where ranks share processors.
const FEWER: &str = "Start at most one rank for each CPU; if there are enough of them, look at \
     what else runs on the host.";

/// Returns the finding about unexplained waiting, with what is `left` of other rules and without
/// what is `explained`, if there is much of it at places that no other finding has claimed.
pub(super) fn varying(
    facts: &Facts<'_>,
    claimed: &[Place],
    left: &Blamed,
    explained: &Blamed,
) -> Option<Finding> {
    let run = facts.run;
    let mut blamed = facts.blame.unexplained.clone();
    blamed.remove(explained);
    blamed.absorb(left);
    leave_out(facts, claimed, &mut blamed);
    let waiting_ns = blamed.ns();
    if !facts.is_large(waiting_ns) {
        return None;
    }
    let (at, _) = blamed.longest()?;
    let waits_at = Place::of(&run.callpaths, at.callpath?);
    let most = run.activities.busiest();
    // A delay that no rank repeats is no cause that can be mended.
    if most.is_some_and(|doing| !is_repeated(run, doing, waiting_ns)) {
        return None;
    }
    let (kind, sentence, advice) = told(facts, &blamed, at.pattern, &waits_at)?;
    let waiting = blamed.ranks();
    let why = "unexplained: those that they wait for do nothing longer".to_owned();
    let link = Link { ranks: waiting.clone(), place: Some(waits_at.clone()), ns: waiting_ns, why };
    let place =
        most.map_or_else(|| waits_at.clone(), |doing| Place::of(&run.callpaths, doing.callpath()));
    Some(Finding {
        ranks: waiting.clone(),
        place: Some(place),
        waits_at: Some(waits_at),
        waiting_ranks: waiting,
        chain: vec![link],
        ..Finding::new(kind, run.a_rank_ns(waiting_ns), sentence, advice.to_owned())
    })
}

/// Leaves out what other findings have claimed; and what ranks do once, which they do not do in
/// turns: most often they have not started together.
fn leave_out(facts: &Facts<'_>, claimed: &[Place], blamed: &mut Blamed) {
    let is_claimed = |at: &At| claimed.iter().any(|place| Some(place.index) == at.callpath);
    let is_once = |at: &At| {
        let visits = at.callpath.and_then(|callpath| facts.run.may_wait.of(Doing::In(callpath)));
        visits.is_some_and(|visits| visits.iter().all(|visits| visits.count <= 1))
    };
    blamed.at.retain(|at, _| !is_claimed(at) && !is_once(at));
}

/// Returns what is said of unexplained waiting: that ranks work one after another, that they share
/// processors, or that they take turns; none if that may be chance, or messages take so long.
fn told(
    facts: &Facts<'_>,
    blamed: &Blamed,
    pattern: Pattern,
    waits_at: &Place,
) -> Option<(Kind, String, &'static str)> {
    let (run, waiting_ns, waiting) = (facts.run, blamed.ns(), blamed.ranks());
    let is_sent = pattern == Pattern::LateSender && run.share(waiting_ns) >= CHAIN_RUN;
    let chain = chain_of(facts).filter(|chain| is_sent && chain.ns >= 0.5 * waiting_ns);
    if let Some(chain) = chain {
        let sentence = format!(
            "Ranks work one after another, {}: each waits for the one before in {}, {} in all",
            chain.text(),
            waits_at.name(),
            ns(waiting_ns)
        );
        return Some((Kind::Serialisation, sentence, IN_PIECES));
    }
    if let Some(crowded) = run.crowded {
        let sentence = crowd(crowded, &waiting, waiting_ns, waits_at);
        return Some((Kind::Oversubscription, sentence, FEWER));
    }
    // Their sums are alike by chance, if ranks have lost as much as another finding tells of.
    let certain_ns: f64 = certainly_lost_ns(run).iter().sum();
    if certain_ns >= LOST_PART * waiting_ns || !varies_enough(run, waiting_ns) {
        return None;
    }
    let most_ns = (0_u32..).zip(&run.rank_ns).map(|(rank, _)| most_lost_ns(run, rank)).sum();
    let lost_ns = Some(most_ns).filter(|lost_ns| *lost_ns >= LOST_PART * waiting_ns);
    let advice = if lost_ns.is_some() { BALANCE_OR_LOST } else { BALANCE };
    Some((Kind::TurnsToBeLate, turns(&waiting, waiting_ns, waits_at, lost_ns), advice))
}

/// Returns `4 ranks share 2 CPUs of a host: ranks 0-3 wait 2.1 s in ...`.
fn crowd(crowded: Occupancy, waiting: &RankSet, waiting_ns: f64, waits_at: &Place) -> String {
    format!(
        "{} ranks share {} CPUs of a host: {} {} {} in {} for ranks that do nothing longer \
         meanwhile",
        crowded.ranks,
        crowded.cpus,
        ranks(waiting),
        if_many(waiting, "waits", "wait"),
        ns(waiting_ns),
        waits_at.name()
    )
}

/// Returns `Ranks 0-3 wait 2.1 s in MPI_Allreduce ... for ranks that do as much in all, ...`, and
/// for how long all ranks may have had no processor, if that may be why.
fn turns(waiting: &RankSet, waiting_ns: f64, waits_at: &Place, lost_ns: Option<f64>) -> String {
    let lost = lost_ns.map_or_else(String::new, |lost_ns| {
        format!("; ranks were ready to run without a processor for up to {} in all", ns(lost_ns))
    });
    format!(
        "{} {} {} in {} for ranks that do as much in all, but not at the same time{lost}",
        capital(&ranks(waiting)),
        if_many(waiting, "waits", "wait"),
        ns(waiting_ns),
        waits_at.name()
    )
}

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;

    use super::*;

    #[test]
    fn what_may_be_lost_processor_time_is_said() {
        let text = "id,parent,tag,is_loop,times\nMPI_Barrier,null,COMM,0,1|1\n";
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let (first, _) = profile.callpaths.iter().next().expect("there is one");
        let place = Place::of(&profile.callpaths, first);
        let said = |lost_ns| turns(&(0..2).collect(), 2e9, &place, lost_ns);
        let plain = said(None);
        assert!(plain.ends_with("but not at the same time"), "{plain}");
        let lost = said(Some(1.5e9));
        assert_eq!(
            lost,
            plain + "; ranks were ready to run without a processor for up to 1.50 s in all"
        );
    }
}
