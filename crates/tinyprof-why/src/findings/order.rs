//! Messages that are received in another order than that in which they are sent.

use tinyprof_report::Certainty;

use super::Facts;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// Returns the finding about the call that loses the most by order, if that is most of its waiting.
pub(super) fn wrong_order(facts: &Facts<'_>) -> Vec<Finding> {
    let run = facts.run;
    let most = run.calls.iter().max_by_key(|(_, call)| call.wrong_order_ns);
    let Some((index, call)) = most else { return Vec::new() };
    let lost_ns = crate::ns(call.wrong_order_ns.into());
    let here = run.waits.all.iter().filter(|wait| wait.at == Some(*index));
    let all_ns: u128 = here.map(|wait| u128::from(wait.ns)).sum();
    if !facts.is_large(lost_ns) || lost_ns < 0.4 * crate::ns(all_ns) {
        return Vec::new();
    }
    let place = Place::of(&run.callpaths, *index);
    let who = &call.wrong_order_ranks;
    let sentence = format!(
        "{} {} messages in another order than they are sent in {}: {} of the waiting there, other \
         messages had come already",
        capital(&ranks(who)),
        if_many(who, "receives", "receive"),
        place.name(),
        ns(lost_ns)
    );
    let link = Link {
        ranks: who.clone(),
        place: Some(place.clone()),
        ns: lost_ns,
        why: "waits for one message while another one, sent earlier, lies there".to_owned(),
    };
    let advice = "Receive them as they come: with MPI_Waitany, or from MPI_ANY_SOURCE.".to_owned();
    vec![Finding {
        certainty: Certainty::Measured,
        ranks: who.clone(),
        place: Some(place.clone()),
        waits_at: Some(place),
        waiting_ranks: who.clone(),
        chain: vec![link],
        ..Finding::new(Kind::WrongOrder, run.a_rank_ns(lost_ns), sentence, advice)
    }]
}
