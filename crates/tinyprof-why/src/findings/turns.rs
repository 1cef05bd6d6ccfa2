//! Ranks that take turns to be late: each does as much in all, but not at the same time.

use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;

use super::Facts;
use super::evidence::{certainty_of, chain, waiting_ranks, where_they_wait};
use super::groups::Group;
use super::processor::{LOST_PART, most_lost_ns};
use super::serial::{BALANCED, Chain, IN_PIECES, chain_of};
use crate::facts::activities::{Doing, all_ns};
use crate::facts::calls::Call;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind};
use crate::phrases::{capital, does, if_many, ns, ranks};
use crate::place::Place;

/// Advice for ranks that take turns.
pub(super) const BALANCE: &str =
    "Balance each step and not only the sum, or let ranks meet less often.";
/// Advice for ranks that may have to wait for each other to finish: we cannot tell.
const IN_PIECES_OR_BALANCE: &str = "If each can only begin when another has ended, cut the work \
                                    into smaller pieces; else balance each step and not only the \
                                    sum.";

/// The part of the work of a rank that the next one in a chain waits at least.
const WORK_PART: f64 = 0.3;
/// How often ranks that take turns are as late as the latest one, at least.
const REPEATED: f64 = 2.0;
/// The part of the waiting that what ranks do has to vary by.
const VARIES_PART: f64 = 0.5;

/// Returns whether ranks wait longer than for the longest visit of an activity alone: a rank that
/// is late once has lost its processor, as far as can be told, and takes no turns.
pub(super) fn is_repeated(run: &Run, doing: Doing, waiting_ns: f64) -> bool {
    let visits = run.activities.of(doing).unwrap_or_default();
    let count = visits.iter().map(|visits| visits.count).sum::<u64>();
    let longest_ns = crate::ns(run.activities.longest_ns(doing).into());
    let others_ns = (crate::ns(all_ns(visits)) - longest_ns).max(0.0)
        / crate::ns(u128::from(count.saturating_sub(1).max(1)));
    let once_ns = (longest_ns - others_ns) * crate::ns(run.used().saturating_sub(1) as u128);
    waiting_ns >= REPEATED * once_ns
}

/// Returns whether ranks can have waited so long because what others do takes longer at some times
/// than at others: beyond what these may have been without a processor. If not, messages take their
/// own time, as between two ranks that only send one to and fro.
pub(super) fn varies_enough(run: &Run, waiting_ns: f64) -> bool {
    let is_own = |doing: Doing| match doing {
        Doing::Before(_) => true,
        Doing::In(at) => run.calls.get(&at).is_none_or(Call::is_file),
    };
    let mut varying_ns = vec![0.0; run.ranks];
    for (doing, visits) in run.activities.iter().filter(|(doing, _)| is_own(*doing)) {
        for ((rank, sum_ns), visits) in (0_u32..).zip(&mut varying_ns).zip(visits) {
            let least_ns = run.activities.least_ns(doing, rank);
            *sum_ns += crate::ns(visits.ns.saturating_sub(least_ns).into());
        }
    }
    let certain = (0_u32..).zip(varying_ns).map(|(rank, ns)| ns - most_lost_ns(run, rank));
    let certain_ns: f64 = certain.map(|ns| ns.max(0.0)).sum();
    certain_ns * crate::ns(most_waiting(run) as u128) >= VARIES_PART * waiting_ns
}

/// Returns the number of ranks that wait for one, of the rank for which that is the most.
fn most_waiting(run: &Run) -> usize {
    let mut pairs: Vec<(u32, u32)> =
        run.waits.all.iter().map(|wait| (wait.for_rank, wait.rank)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs.chunk_by(|one, next| one.0 == next.0).map(<[_]>::len).max().unwrap_or(0)
}

/// Returns whether ranks may have had no processor for half of this time of all of them.
fn may_be_lost(run: &Run, waiting_ns: f64) -> bool {
    let most_ns = (0_u32..).zip(&run.rank_ns).map(|(rank, _)| most_lost_ns(run, rank));
    most_ns.sum::<f64>() >= LOST_PART * waiting_ns
}

/// Returns the finding about a group of most ranks whose activity is balanced. None if the group is
/// no such one; none in it if nothing is to be said.
pub(super) fn in_turns(facts: &Facts<'_>, group: &Group) -> Option<Option<Finding>> {
    let run = facts.run;
    let (doing, _) = *group.activities.first()?;
    let mean_ns = balanced_ns(run, group, doing)?;
    let waiting_ns = group.blamed.ns();
    // A rank of a chain waits while the one before it works.
    let of_work = |chain: &Chain| chain.ns >= WORK_PART * mean_ns * crate::ns(chain.links as u128);
    let in_a_row = chain_of(facts).filter(|chain| chain.ns >= 0.5 * waiting_ns && of_work(chain));
    // From sums nobody knows which rank had no processor when.
    let is_chance = || {
        !is_repeated(run, doing, waiting_ns)
            || !facts.blame.is_measured && may_be_lost(run, waiting_ns)
    };
    if in_a_row.is_none() && is_chance() {
        return Some(None);
    }
    let place = Place::of(&run.callpaths, doing.callpath());
    let waits_at = group.blamed.longest().and_then(|(at, _)| at.callpath);
    let (kind, sentence, advice) = told(run, group, (doing, mean_ns), in_a_row.as_ref());
    Some(Some(Finding {
        certainty: certainty_of(facts, group),
        ranks: group.ranks.clone(),
        place: Some(place),
        waits_at: waits_at.map(|at| Place::of(&run.callpaths, at)),
        waiting_ranks: waiting_ranks(run, group),
        chain: chain(facts, group),
        ..Finding::new(kind, run.a_rank_ns(waiting_ns), sentence, advice.to_owned())
    }))
}

/// Returns the mean time of a rank in an activity, in ns, if a group is of most ranks, and it is
/// balanced among all.
fn balanced_ns(run: &Run, group: &Group, doing: Doing) -> Option<f64> {
    let visits = run.activities.of(doing)?;
    let most_ns = crate::ns(visits.iter().map(|visits| visits.ns).max().unwrap_or(0).into());
    let mean_ns = crate::ns(all_ns(visits)) / crate::ns(run.used().max(1) as u128);
    let ranks_used = run.used() as u64;
    // All of them are compared with nobody.
    let is_balanced = most_ns <= BALANCED * mean_ns || group.ranks.len() >= ranks_used;
    let is_most = group.ranks.len() >= 2 && 2 * group.ranks.len() >= ranks_used;
    (is_balanced && is_most).then_some(mean_ns)
}

/// Returns what is said of a group that takes turns, where a rank does something for `mean_ns`.
fn told(
    run: &Run,
    group: &Group,
    (doing, mean_ns): (Doing, f64),
    in_a_row: Option<&Chain>,
) -> (Kind, String, &'static str) {
    let visits = run.activities.of(doing).unwrap_or_default();
    let all: RankSet = (0..).zip(visits).filter(|(_, v)| v.count > 0).map(|(r, _)| r).collect();
    let what = does(run, &all, doing, mean_ns)
        .replacen("compute ", "computes ", 1)
        .replacen("spend ", "spends ", 1);
    let waiting_ns = group.blamed.ns();
    let at = where_they_wait(run, group, &Place::of(&run.callpaths, doing.callpath()));
    if let Some(chain) = in_a_row {
        let sentence = format!(
            "Ranks work one after another, {}: each {what} and waits for the one before{at}, {} in \
             all",
            chain.text(),
            ns(waiting_ns)
        );
        return (Kind::Serialisation, sentence, IN_PIECES);
    }
    let waiting = waiting_ranks(run, group);
    let waits = if waiting.iter().all(|rank| group.ranks.contains(rank)) {
        format!("they wait {} for each other", ns(waiting_ns))
    } else {
        let wait = if_many(&waiting, "waits", "wait");
        format!("{} {wait} {} for them", ranks(&waiting), ns(waiting_ns))
    };
    let is_sent =
        matches!(group.blamed.longest(), Some((at, _)) if at.pattern == Pattern::LateSender);
    // At most half of the ranks work at a time.
    let is_one_by_one = is_sent && waiting_ns >= crate::ns(all_ns(visits));
    let (kind, do_so, advice) = if is_one_by_one {
        (Kind::Serialisation, "work one after another", IN_PIECES_OR_BALANCE)
    } else {
        (Kind::TurnsToBeLate, "take turns to be late", BALANCE)
    };
    let subject = capital(&ranks(&group.ranks));
    let sentence =
        format!("{subject} {do_so}: each {what} in all, but not at the same time; {waits}{at}");
    (kind, sentence, advice)
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::{CallpathIndex, Edge};

    use super::super::example::run_of;
    use super::*;
    use crate::facts::waits::Wait;

    const MS: u64 = 1_000_000;

    /// Returns whether the work of three ranks varies enough to explain 200 ms of waiting. Each
    /// computes for 100 ms in ten visits, the shortest of `shortest_ms`, and may have spent
    /// `lost_ms` without a processor.
    fn can_wait(shortest_ms: u64, lost_ms: u64) -> bool {
        let mut run = run_of(&[("MPI_Recv", &[0; 3])]);
        let doing = Doing::Before(CallpathIndex::new(0));
        for rank in 0..3 {
            let (sum_ns, min_ns) = (100 * MS, shortest_ms * MS);
            let edge = Edge { count: 10, sum_ns, min_ns, ..Edge::default() };
            run.activities.add_gaps(doing, rank, &edge, true);
        }
        run.no_processor_ns = vec![[0, lost_ms * MS]; 3];
        let wait = |(rank, for_rank)| Wait {
            rank,
            at: None,
            for_rank,
            from: None,
            pattern: Pattern::LateSender,
            ns: 70 * MS,
            count: 10,
            is_heard: false,
        };
        run.waits.all = [(0, 1), (1, 2), (2, 0)].map(wait).to_vec();
        varies_enough(&run, 200e6)
    }

    #[test]
    fn ranks_take_turns_only_if_what_they_do_varies() {
        assert!(can_wait(2, 0), "240 ms vary");
        assert!(can_wait(2, 40), "120 ms of that for certain");
        assert!(!can_wait(2, 60), "which may be lost processor time");
        assert!(!can_wait(10, 0), "messages take their own time");
    }
}
