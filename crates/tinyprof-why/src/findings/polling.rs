//! Many tests for messages that have not come.

use std::collections::BTreeMap;

use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;
use tinyprof_report::cells::count_cell;

use super::Facts;
use crate::facts::activities::Doing;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// The least tests of a call for a finding.
const TESTS_MIN: u64 = 200;
/// Between two tests of a loop that does nothing else there is at most this much, in ns.
const IDLE_NS: f64 = 20_000.0;

/// Returns the finding about the call that tests the most.
pub(super) fn polling(facts: &Facts<'_>) -> Option<Finding> {
    let run = facts.run;
    let tests = run.calls.iter().filter(|(_, call)| call.is_test());
    let of = tests.filter_map(|(index, _)| {
        let inside = run.activities.of(Doing::In(*index))?;
        let before = run.activities.of(Doing::Before(*index));
        let mut by_rank: BTreeMap<u32, f64> = BTreeMap::new();
        let mut count = 0_u64;
        for (rank, visits) in (0_u32..).zip(inside) {
            let gap = before.map(|of_ranks| of_ranks[rank as usize]).unwrap_or_default();
            let gap_ns = crate::ns(gap.ns.into());
            let is_idle = gap_ns <= IDLE_NS * crate::ns(gap.count.into());
            let time_ns = crate::ns(visits.ns.into()) + if is_idle { gap_ns } else { 0.0 };
            if visits.count > 0 {
                by_rank.insert(rank, time_ns);
                count = count.saturating_add(visits.count);
            }
        }
        let sum_ns: f64 = by_rank.values().sum();
        Some((*index, by_rank, count, sum_ns))
    });
    let (index, by_rank, count, sum_ns) = of.max_by(|a, b| a.3.total_cmp(&b.3))?;
    if count < TESTS_MIN || !facts.is_large(sum_ns) {
        return None;
    }
    let most_ns = by_rank.values().copied().fold(0.0, f64::max);
    let who: RankSet =
        by_rank.iter().filter(|(_, ns)| **ns >= 0.2 * most_ns).map(|(rank, _)| *rank).collect();
    let place = Place::of(&run.callpaths, index);
    let sentence = format!(
        "{} {} {} times in {} for what has not come, {} in all",
        capital(&ranks(&who)),
        if_many(&who, "asks", "ask"),
        count_cell(count),
        place.name(),
        ns(sum_ns)
    );
    let why = "tests, and the time between them".to_owned();
    let link = Link { ranks: who.clone(), place: Some(place.clone()), ns: sum_ns, why };
    let advice =
        "Wait with MPI_Wait, MPI_Waitany or MPI_Probe where there is nothing else to do, or \
                  test less often; `tinyprof mpi` shows whose messages they are."
            .to_owned();
    Some(Finding {
        certainty: Certainty::AtMost,
        ranks: who.clone(),
        place: Some(place.clone()),
        waits_at: Some(place),
        waiting_ranks: who,
        chain: vec![link],
        ..Finding::new(Kind::Polling, run.a_rank_ns(sum_ns), sentence, advice)
    })
}
