//! Many tests for messages that have not come.

use std::collections::BTreeMap;

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::delay::Visits;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;
use tinyprof_report::cells::count_cell;

use super::Facts;
use crate::facts::activities::Doing;
use crate::facts::apart::IDLE_NS;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// The least tests of a call for a finding.
const TESTS_MIN: u64 = 200;
/// The same, where ranks sleep between two tests.
pub(super) const NAPS_MIN: u64 = 40;
/// The part of the time between two tests that a rank sleeps, if it does nothing else.
const ASLEEP_PART: f64 = 0.8;

/// The call that tests the most.
#[derive(Clone, Debug)]
pub(super) struct Tests {
    pub(super) index: CallpathIndex,
    /// The time of each rank that does so, with that between two tests where it does nothing else.
    pub(super) by_rank: BTreeMap<u32, f64>,
    /// Of that, the time between two tests, in ns. What these ranks do before is not in it.
    pub(super) between_ns: BTreeMap<u32, f64>,
    /// True if some of them sleep between two tests.
    pub(super) naps: bool,
    count: u64,
}

impl Tests {
    /// Returns the time of all ranks, in ns.
    pub(super) fn sum_ns(&self) -> f64 {
        self.by_rank.values().sum()
    }

    /// Returns the ranks that test for long.
    fn ranks(&self) -> RankSet {
        let most_ns = self.by_rank.values().copied().fold(0.0, f64::max);
        let long = self.by_rank.iter().filter(|(_, ns)| **ns >= 0.2 * most_ns);
        long.map(|(rank, _)| *rank).collect()
    }
}

/// Returns the call that tests the most, if it is enough for a finding.
pub(super) fn tests(facts: &Facts<'_>) -> Option<Tests> {
    let run = facts.run;
    let tests = run.calls.iter().filter(|(_, call)| call.is_test());
    let of = tests.filter_map(|(index, _)| {
        let inside = run.activities.of(Doing::In(*index))?;
        let before = run.activities.of(Doing::Before(*index));
        let mut by_rank: BTreeMap<u32, f64> = BTreeMap::new();
        let (mut between_ns, mut naps, mut count) = (BTreeMap::new(), false, 0_u64);
        for (rank, visits) in (0_u32..).zip(inside).filter(|(_, visits)| visits.count > 0) {
            let gap = before.map(|of_ranks| of_ranks[rank as usize]).unwrap_or_default();
            let (ns, is_nap) = idle_ns(facts, *index, rank, gap);
            naps |= is_nap;
            between_ns.insert(rank, ns);
            by_rank.insert(rank, crate::ns(visits.ns.into()) + ns);
            count = count.saturating_add(visits.count);
        }
        Some(Tests { index: *index, by_rank, between_ns, naps, count })
    });
    let most = of.max_by(|a, b| a.sum_ns().total_cmp(&b.sum_ns()))?;
    let least = if most.naps { NAPS_MIN } else { TESTS_MIN };
    (most.count >= least && facts.is_large(most.sum_ns())).then_some(most)
}

/// Returns the time of a rank between two tests in which it does nothing, in ns, and whether it
/// sleeps there. `gap` is all its time before tests: with what it does before the first one of a
/// loop.
fn idle_ns(facts: &Facts<'_>, test: CallpathIndex, rank: u32, gap: Visits) -> (f64, bool) {
    let (run, gap_ns) = (facts.run, crate::ns(gap.ns.into()));
    if gap_ns <= IDLE_NS * crate::ns(gap.count.into()) {
        return (gap_ns, false);
    }
    let Some(between) = run.apart.of(test, rank) else { return (0.0, false) };
    let between_ns = crate::ns(between.ns.into());
    if between.each_ns() <= IDLE_NS {
        return (between_ns, false);
    }
    let asleep_ns = crate::ns(run.asleep_ns.get(rank as usize).copied().unwrap_or(0).into());
    let is_nap = between.is_most_of(gap_ns) && asleep_ns >= ASLEEP_PART * between_ns;
    (if is_nap { between_ns } else { 0.0 }, is_nap)
}

/// Returns the finding about that call.
pub(super) fn polling(facts: &Facts<'_>, tests: &Tests) -> Finding {
    let run = facts.run;
    let (who, sum_ns) = (tests.ranks(), tests.sum_ns());
    let place = Place::of(&run.callpaths, tests.index);
    let sentence = format!(
        "{} {} {} times in {} for what has not come, {} in all",
        capital(&ranks(&who)),
        if_many(&who, "asks", "ask"),
        count_cell(tests.count),
        place.name(),
        ns(sum_ns)
    );
    let why = "tests, and the time between them".to_owned();
    let link = Link { ranks: who.clone(), place: Some(place.clone()), ns: sum_ns, why };
    let advice =
        "Wait with MPI_Wait, MPI_Waitany or MPI_Probe where there is nothing else to do, or \
                  test less often; `tinyprof mpi` shows whose messages they are."
            .to_owned();
    Finding {
        certainty: Certainty::AtMost,
        ranks: who.clone(),
        place: Some(place.clone()),
        waits_at: Some(place),
        waiting_ranks: who,
        chain: vec![link],
        ..Finding::new(Kind::Polling, run.a_rank_ns(sum_ns), sentence, advice)
    }
}
