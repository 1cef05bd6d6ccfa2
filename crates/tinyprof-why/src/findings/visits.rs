//! A single visit that takes much longer than all others: a first iteration, most often.

use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use super::{FINDING_PART, Facts};
use crate::facts::activities::Doing;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::ns;
use crate::place::Place;

/// The least visits of a rank.
const VISITS_MIN: u64 = 5;
/// How much longer than the mean of the others it is.
const TIMES: f64 = 4.0;

/// Adds the finding about the longest such visit. Where others wait for the rank because of what it
/// does there, the two are one finding: that of the visit, if it is most of what the rank does
/// longer.
pub(super) fn add_one_slow_visit(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(mut slow) = one_slow_visit(facts) else { return };
    let is_same = |one: &Finding| one.ranks == slow.ranks && one.place == slow.place;
    let Some(at) = found.iter().position(is_same) else { return found.push(slow) };
    if slow.lost_ns < 0.5 * found[at].lost_ns {
        return;
    }
    let late = found.remove(at);
    if let Some((_, waiting)) = late.sentence.split_once("; ") {
        slow.sentence = format!("{}; {waiting}", slow.sentence);
    }
    (slow.waits_at, slow.waiting_ranks) = (late.waits_at, late.waiting_ranks);
    slow.chain = late.chain;
    found.push(slow);
}

/// Returns the finding about the longest such visit.
fn one_slow_visit(facts: &Facts<'_>) -> Option<Finding> {
    let run = facts.run;
    let found = run.activities.iter().filter_map(|(doing, of_ranks)| {
        let Doing::Before(_) = doing else { return None };
        let longest_ns = crate::ns(run.activities.longest_ns(doing).into());
        // The rank with the most has the longest visit.
        let (rank, visits) = (0_u32..).zip(of_ranks).max_by_key(|(_, visits)| visits.ns)?;
        if visits.count < VISITS_MIN {
            return None;
        }
        let others_ns = (crate::ns(visits.ns.into()) - longest_ns).max(0.0)
            / crate::ns(u128::from(visits.count) - 1);
        let lost_ns = longest_ns - others_ns;
        (longest_ns >= TIMES * others_ns).then_some((doing, rank, longest_ns, others_ns, lost_ns))
    });
    let (doing, rank, longest_ns, others_ns, lost_ns) = found.max_by(|a, b| a.4.total_cmp(&b.4))?;
    if lost_ns < FINDING_PART * run.a_rank_ns(run.total_ns()) {
        return None;
    }
    let place = Place::of(&run.callpaths, doing.callpath());
    let all: RankSet = std::iter::once(rank).collect();
    let sentence = format!(
        "One visit of the computation before {} takes {} on rank {rank}, the others {} on average",
        place.name(),
        ns(longest_ns),
        ns(others_ns)
    );
    let why = "a single visit".to_owned();
    let link = Link { ranks: all.clone(), place: Some(place.clone()), ns: lost_ns, why };
    let advice = "If it is the first one, leave it out of comparisons, or do before the loop what \
                  only it has to do."
        .to_owned();
    Some(Finding {
        certainty: Certainty::Measured,
        ranks: all,
        place: Some(place),
        chain: vec![link],
        ..Finding::new(Kind::OneSlowVisit, lost_ns, sentence, advice)
    })
}
