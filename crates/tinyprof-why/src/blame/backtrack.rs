//! The causes of waiting from sums over the whole run, where a profile has no delay costs.
//!
//! A rank that waits for another one is compared with it: what the other one does longer is why it
//! came late. Its own waiting for third ranks belongs to those, so causes are passed on along the
//! graph of who waits for whom. That is right where ranks do the same in each iteration; where they
//! take turns to be late the sums are equal, and the waiting remains unexplained.

use std::collections::BTreeMap;

use super::{At, Blame, Cause};
use crate::facts::activities::{Activities, Doing};
use crate::facts::waits::{Wait, Waits};

/// The rounds in which causes are passed on: chains of waiting that are longer are cut.
const ROUNDS: usize = 16;
/// The causes that a rank passes on.
const CAUSES_MAX: usize = 32;
/// The smallest part of a rank's waiting that is passed on as a cause of its own.
const PART_MIN: f64 = 1.0 / 1_024.0;

/// The causes of a rank's waiting, each as a part of it.
type Parts = BTreeMap<Cause, f64>;

/// The comparison of two ranks of which one waits for the other.
struct Pair {
    rank: u32,
    for_rank: u32,
    ns: f64,
    /// What the other one does longer, each as a part of the waiting.
    direct: Vec<(Doing, f64)>,
    /// The part of the waiting that is due to the other one's own waiting.
    inherited: f64,
}

/// Returns the causes of all waiting.
pub(crate) fn backtrack(activities: &Activities, waits: &Waits) -> Blame {
    of_some(activities, waits, &waits.all)
}

/// Returns the causes of some of the waiting.
pub(super) fn of_some(activities: &Activities, waits: &Waits, some: &[Wait]) -> Blame {
    let pairs = pairs(activities, &waits.all);
    let mut starts = vec![0; activities.ranks() + 1];
    for pair in &pairs {
        starts[pair.rank as usize + 1] += 1;
    }
    for rank in 0..activities.ranks() {
        starts[rank + 1] += starts[rank];
    }
    let of_rank = |rank: u32| &pairs[starts[rank as usize]..starts[rank as usize + 1]];
    let mut parts: Vec<Parts> = vec![Parts::new(); activities.ranks()];
    for _ in 0..ROUNDS {
        let next = (0..).zip(&parts).map(|(rank, _)| passed_on(of_rank(rank), &parts));
        let next: Vec<Parts> = next.collect();
        let is_done = next.iter().zip(&parts).all(|(new, old)| is_close(new, old));
        parts = next;
        if is_done {
            break;
        }
    }
    blame(some, of_rank, &parts)
}

/// Shares each waiting out among its causes.
fn blame<'a>(waits: &[Wait], of_rank: impl Fn(u32) -> &'a [Pair], parts: &[Parts]) -> Blame {
    let mut blame = Blame::default();
    for wait in waits {
        let ns = crate::ns(wait.ns.into());
        let at = |is_direct| At { callpath: wait.at, pattern: wait.pattern, is_direct };
        let pair = of_rank(wait.rank).iter().find(|pair| pair.for_rank == wait.for_rank);
        let mut rest = 1.0;
        for (doing, part) in pair.iter().flat_map(|pair| &pair.direct) {
            let cause = (wait.for_rank, *doing);
            blame.causes.entry(cause).or_default().add(at(true), wait.rank, part * ns);
            rest -= part;
        }
        let inherited = pair.map_or(0.0, |pair| pair.inherited);
        for (cause, part) in &parts[wait.for_rank as usize] {
            // A rank does not wait for itself.
            if inherited > 0.0 && cause.0 != wait.rank {
                let ns = inherited * part * ns;
                blame.causes.entry(*cause).or_default().add(at(false), wait.rank, ns);
                rest -= inherited * part;
            }
        }
        blame.unexplained.add(at(true), wait.rank, rest.max(0.0) * ns);
    }
    blame
}

/// Returns the comparisons of all ranks that wait, sorted by rank.
fn pairs(activities: &Activities, waits: &[Wait]) -> Vec<Pair> {
    let mut sums: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    let mut own = vec![0_u64; activities.ranks()];
    for wait in waits {
        let sum = sums.entry((wait.rank, wait.for_rank)).or_default();
        *sum = sum.saturating_add(wait.ns);
        let own = &mut own[wait.rank as usize];
        *own = own.saturating_add(wait.ns);
    }
    let all: Vec<_> = activities.iter().collect();
    let pair = |(&(rank, for_rank), &ns): (&(u32, u32), &u64)| {
        let (r, s) = (rank as usize, for_rank as usize);
        let longer = all.iter().filter_map(|(doing, of_ranks)| {
            let excess = of_ranks[s].ns.saturating_sub(of_ranks[r].ns);
            (excess > 0).then(|| (*doing, crate::ns(excess.into())))
        });
        let mut direct: Vec<(Doing, f64)> = longer.collect();
        direct.sort_by(|a, b| b.1.total_cmp(&a.1));
        let sum_ns: f64 = direct.iter().map(|(_, ns)| ns).sum();
        direct.truncate(CAUSES_MAX);
        // What it waits for the rank itself is over when they meet.
        let back = sums.get(&(for_rank, rank)).copied().unwrap_or(0);
        let waited_ns = crate::ns(own[s].saturating_sub(back).into());
        let ns = crate::ns(ns.into());
        let per_ns = 1.0 / (sum_ns + waited_ns).max(ns).max(1.0);
        for (_, part) in &mut direct {
            *part *= per_ns;
        }
        Pair { rank, for_rank, ns, direct, inherited: waited_ns * per_ns }
    };
    sums.iter().map(pair).collect()
}

/// Returns the causes of a rank's waiting, with those of the ranks that it waits for.
fn passed_on(of_rank: &[Pair], parts: &[Parts]) -> Parts {
    let sum_ns: f64 = of_rank.iter().map(|pair| pair.ns).sum();
    let mut found = Parts::new();
    if sum_ns <= 0.0 {
        return found;
    }
    for pair in of_rank {
        let weight = pair.ns / sum_ns;
        for (doing, part) in &pair.direct {
            *found.entry((pair.for_rank, *doing)).or_default() += weight * part;
        }
        if pair.inherited > 0.0 {
            for (cause, part) in &parts[pair.for_rank as usize] {
                *found.entry(*cause).or_default() += weight * pair.inherited * part;
            }
        }
    }
    let mut largest: Vec<(Cause, f64)> =
        found.into_iter().filter(|(_, part)| *part >= PART_MIN).collect();
    largest.sort_by(|a, b| b.1.total_cmp(&a.1));
    largest.truncate(CAUSES_MAX);
    largest.into_iter().collect()
}

fn is_close(new: &Parts, old: &Parts) -> bool {
    new.len() == old.len()
        && new.iter().zip(old).all(|(new, old)| new.0 == old.0 && (new.1 - old.1).abs() < 1e-3)
}

#[cfg(test)]
mod tests {
    use tinyprof_format::model::CallpathIndex;
    use tinyprof_messages::delay::Visits;
    use tinyprof_messages::waiting::Pattern;

    use super::*;

    /// Returns the blame where each rank has `work` ns, and waits as `waits` says: rank, for whom,
    /// ns.
    fn found(work: &[&[u64]], waits: &[(u32, u32, u64)]) -> Blame {
        let mut activities = Activities::new(work.len());
        for (rank, of_rank) in work.iter().enumerate() {
            for (row, ns) in of_rank.iter().enumerate() {
                let doing = Doing::Before(CallpathIndex::new(row));
                activities.add(doing, rank, Visits { count: 1, ns: *ns }, *ns);
            }
        }
        let wait = |&(rank, for_rank, ns): &(u32, u32, u64)| Wait {
            rank,
            at: Some(CallpathIndex::new(9)),
            for_rank,
            from: None,
            pattern: Pattern::LateSender,
            ns,
            count: 1,
            is_heard: false,
        };
        let all = waits.iter().map(wait).collect();
        backtrack(&activities, &Waits { all, for_nobody_ns: 0, are_recorded: true })
    }

    fn ns(blame: &Blame, rank: u32, row: usize) -> f64 {
        let cause = (rank, Doing::Before(CallpathIndex::new(row)));
        blame.causes.get(&cause).map_or(0.0, super::super::Blamed::ns).round()
    }

    #[test]
    fn what_the_late_rank_does_longer_is_the_cause() {
        let blame = found(&[&[100, 50], &[100, 50], &[900, 150]], &[(0, 2, 900), (1, 2, 900)]);
        assert_eq!((ns(&blame, 2, 0), ns(&blame, 2, 1)), (1_600.0, 200.0));
        assert!(blame.unexplained.ns() < 1.0);
    }

    #[test]
    fn waiting_is_passed_on_along_a_chain() {
        let blame =
            found(&[&[1_000], &[100], &[100], &[100]], &[(1, 0, 900), (2, 1, 900), (3, 2, 900)]);
        assert_eq!(ns(&blame, 0, 0), 2_700.0);
        let direct: f64 = blame.causes[&(0, Doing::Before(CallpathIndex::new(0)))]
            .at
            .iter()
            .filter(|(at, _)| at.is_direct)
            .map(|(_, share)| share.ns)
            .sum();
        assert_eq!(direct.round(), 900.0);
    }

    #[test]
    fn ranks_that_take_turns_explain_nothing() {
        let blame = found(&[&[500], &[500]], &[(0, 1, 100), (1, 0, 100)]);
        assert!(blame.causes.is_empty());
        assert_eq!(blame.unexplained.ns(), 200.0);
    }

    #[test]
    fn an_excess_smaller_than_the_waiting_explains_no_more_than_itself() {
        let blame = found(&[&[100], &[150]], &[(0, 1, 200)]);
        assert_eq!((ns(&blame, 1, 0), blame.unexplained.ns()), (50.0, 150.0));
    }
}
