//! Messages that are received in another order than that in which they are sent.

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use super::Facts;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// Returns what another order would gain of what these ranks lose, in ns: the work on one message
/// that they could do while they wait for another. That is what they do after each message, and the
/// shortest of these times, as often: where a rank needs all messages before it can go on, nothing
/// follows the first one, and their order is no matter.
fn work_after_each_ns(run: &Run, at: CallpathIndex, who: &RankSet) -> f64 {
    let after = |rank| run.after_calls.get(&(at, rank));
    who.iter().filter_map(after).map(|after| after.least_ns()).sum()
}

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
    let gain_ns = lost_ns.min(work_after_each_ns(run, *index, who));
    if !facts.is_large(gain_ns) {
        return Vec::new();
    }
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
        ..Finding::new(Kind::WrongOrder, run.a_rank_ns(gain_ns), sentence, advice)
    }]
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::Edge;
    use tinyprof_format::text::read_text;
    use tinyprof_report::Totals;

    use super::*;
    use crate::blame::Blame;
    use crate::facts::run::RunBuilder;

    /// Returns what the finding says can be gained, in ms of each rank, where rank 0 waits 500 ms
    /// in the wrong order, and computes for so long after each of 10 messages, at least.
    fn gain_ms(after_each_ms: u64) -> Option<f64> {
        let text = "id,parent,tag,is_loop,times\nMPI_Recv,null,COMM,0,0.5|0.1\n";
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let totals = Totals::of_profile(&profile);
        let mut run = RunBuilder::new(&profile.callpaths, 2).finish(&totals);
        run.rank_ns = vec![1_000_000_000; 2];
        let index = CallpathIndex::new(0);
        let call = run.calls.entry(index).or_default();
        (call.wrong_order_ns, call.wrong_order_ranks) = (500_000_000, [0].into_iter().collect());
        let edge = |count, ms| Edge { count, min_ns: ms * 1_000_000, ..Edge::default() };
        let after = run.after_calls.entry((index, 0)).or_default();
        after.add(&edge(4, after_each_ms));
        // After the last one of all, it works longer.
        after.add(&edge(6, 100));
        let found = wrong_order(&Facts { run: &run, blame: &Blame::default() });
        found.first().map(|one| one.lost_ns / 1e6)
    }

    #[test]
    fn another_order_gains_no_more_than_the_work_after_each_message() {
        assert_eq!(gain_ms(80), Some(250.0));
        assert_eq!(gain_ms(20), Some(100.0));
        // All messages are needed before anything can be done.
        assert_eq!(gain_ms(1), None);
    }
}
