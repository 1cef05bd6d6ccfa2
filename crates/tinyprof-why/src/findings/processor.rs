//! Whether it is the program that ranks do something longer, or that they had no processor.

use tinyprof_messages::graph::RankSet;

use super::Facts;
use super::evidence::Compared;
use super::groups::Group;
use crate::facts::activities::Doing;
use crate::facts::run::Run;

/// The part of what ranks do longer from which on the time without a processor explains it.
pub(super) const LOST_PART: f64 = 0.5;

/// Visits from this length on are known not to be lost time, where causes were measured: the
/// recorder asks the system after each of them (docs/causes.md).
const ASKED_NS: f64 = 2_000_000.0;

/// Returns how long the ranks of a group may have had no processor, in ns of one rank, if that may
/// be most of what they do longer than others: where it takes longer in some visits alone, and the
/// shortest ones, as often, are not longer.
pub(super) fn may_be_lost_ns(facts: &Facts<'_>, group: &Group) -> Option<f64> {
    let run = facts.run;
    let (mut longer_ns, mut certain_ns) = (0.0, 0.0);
    for (doing, _) in &group.activities {
        let Some(compared) = Compared::with_all(run, *doing, &group.ranks) else { continue };
        let least =
            group.ranks.iter().map(|rank| u128::from(run.activities.least_ns(*doing, rank)));
        let is_asked = facts.blame.is_measured && compared.here.per_visit_ns() >= ASKED_NS;
        let least_ns = if is_asked {
            compared.here.ns
        } else {
            crate::ns(least.sum()) / crate::ns(group.ranks.len().max(1).into())
        };
        longer_ns += (compared.here.ns - compared.elsewhere.ns).max(0.0);
        let elsewhere_ns =
            if is_asked { compared.elsewhere.ns } else { least_of_others_ns(run, group, *doing) };
        certain_ns += (least_ns - elsewhere_ns).max(0.0);
    }
    let lost_ns = mean_lost_ns(run, &group.ranks);
    (lost_ns >= LOST_PART * longer_ns && certain_ns < LOST_PART * longer_ns).then_some(lost_ns)
}

/// Returns whether a rank may have had no processor for most of this time.
pub(super) fn is_lost(run: &Run, rank: u32, ns: f64) -> bool {
    most_lost_ns(run, rank) >= LOST_PART * ns
}

/// Returns the most that a rank may have been without a processor, in ns.
pub(super) fn most_lost_ns(run: &Run, rank: u32) -> f64 {
    run.no_processor_ns.get(rank as usize).map_or(0.0, |[_, most]| crate::ns((*most).into()))
}

/// Returns for how long each rank had no processor for certain, in ns. A rank that waits in a loop
/// for others loses nothing: what is certain is beyond that time.
pub(super) fn certainly_lost_ns(run: &Run) -> Vec<f64> {
    let waiting_ns = |rank: usize| -> u64 {
        let calls = run.may_wait.iter().filter(|_| run.has_messages());
        calls.map(|(_, visits)| visits.get(rank).map_or(0, |visits| visits.ns)).sum()
    };
    (0..)
        .zip(&run.no_processor_ns)
        .map(|(rank, [least_ns, _])| crate::ns(least_ns.saturating_sub(waiting_ns(rank)).into()))
        .collect()
}

/// Returns the least that the other ranks need for an activity, in ns of one rank: they may have
/// lost their processors as well.
fn least_of_others_ns(run: &Run, group: &Group, doing: Doing) -> f64 {
    let all = (0_u32..).zip(&run.rank_ns).filter(|(_, ns)| **ns > 0).map(|(rank, _)| rank);
    let others = all.filter(|rank| !group.ranks.contains(*rank));
    let (sum_ns, count) = others.fold((0.0, 0.0), |(sum_ns, count), rank| {
        (sum_ns + crate::ns(run.activities.least_ns(doing, rank).into()), count + 1.0)
    });
    sum_ns / f64::max(count, 1.0)
}

/// Returns the most that these ranks may have been without a processor, in ns, on average.
pub(super) fn mean_lost_ns(run: &Run, of: &RankSet) -> f64 {
    let all: f64 = of.iter().map(|rank| most_lost_ns(run, rank)).sum();
    all / crate::ns(of.len().max(1).into())
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{CallpathIndex, Edge};
    use tinyprof_format::text::read_text;
    use tinyprof_report::Totals;

    use super::*;
    use crate::blame::Blame;
    use crate::facts::run::RunBuilder;

    const MS: u64 = 1_000_000;

    /// Returns what rank 1 may have lost, in ms, where it computes 200 ms in 10 visits, of which
    /// the shortest takes `shortest_ms`, rank 0 100 ms, and it had no processor for `lost_ms`.
    fn lost_ms(shortest_ms: u64, lost_ms: u64, is_measured: bool) -> Option<f64> {
        let text = "id,parent,tag,is_loop,times\nMPI_Send,null,COMM,0,1|1\n";
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let totals = Totals::of_profile(&profile);
        let mut run = RunBuilder::new(&profile.callpaths, 2).finish(&totals);
        run.rank_ns = vec![1_000 * MS; 2];
        run.no_processor_ns = vec![[0; 2], [0, lost_ms * MS]];
        let doing = Doing::Before(CallpathIndex::new(0));
        for (rank, [sum_ms, min_ms]) in [[100, 10], [200, shortest_ms]].into_iter().enumerate() {
            let (sum_ns, min_ns) = (sum_ms * MS, min_ms * MS);
            let edge = Edge { count: 10, sum_ns, min_ns, max_ns: 150 * MS, ..Edge::default() };
            run.activities.add_gaps(doing, rank, &edge, true);
        }
        let ranks = std::iter::once(1).collect();
        let group = Group { ranks, activities: vec![(doing, 1.0)], ..Group::default() };
        let blame = Blame { is_measured, ..Blame::default() };
        may_be_lost_ns(&Facts { run: &run, blame: &blame }, &group).map(|ns| ns / 1e6)
    }

    #[test]
    fn a_few_long_visits_may_be_lost_processor_time() {
        assert_eq!(lost_ms(10, 80, false), Some(80.0));
        assert_eq!(lost_ms(10, 30, false), None, "too little was lost");
        assert_eq!(lost_ms(18, 80, false), None, "each visit takes longer");
        assert_eq!(lost_ms(10, 80, true), None, "the recorder has asked after each visit");
    }
}
