//! Locks of windows that ranks hold one after another.

use tinyprof_messages::delay::Visits;
use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;
use tinyprof_report::Certainty;

use super::Facts;
use crate::facts::activities::{Doing, all_ns};
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// The part of the longest waiting from which on a rank that holds the lock is named.
const HOLDER_PART: f64 = 0.2;

/// How many times longer than others a rank has to compute while it holds a lock, to be named
/// alone.
const FAR_LONGER: f64 = 3.0;

/// Returns the finding about locks that several ranks hold, one after another.
pub(super) fn contention(facts: &Facts<'_>) -> Option<Finding> {
    let run = facts.run;
    let locks = run.waits.all.iter().filter(|wait| wait.pattern == Pattern::LockContention);
    let mut for_rank: Vec<f64> = vec![0.0; run.ranks];
    let mut waiting = RankSet::default();
    for wait in locks.clone() {
        for_rank[wait.for_rank as usize] += crate::ns(wait.ns.into());
        waiting.insert(wait.rank);
    }
    let (waiting_ns, most_ns) =
        (for_rank.iter().sum(), for_rank.iter().copied().fold(0.0, f64::max));
    let holders = (0_u32..).zip(&for_rank).filter(|(_, ns)| **ns >= HOLDER_PART * most_ns);
    let holders: RankSet = holders.map(|(rank, _)| rank).collect();
    if !facts.is_large(waiting_ns) || holders.len() < 2 {
        return None;
    }
    let at = locks.max_by_key(|wait| wait.ns)?.at?;
    let waits_at = Place::of(&run.callpaths, at);
    // While the lock is held, ranks compute before calls at windows.
    let held = run.activities.iter().filter(|(doing, _)| {
        let call = run.calls.get(&doing.callpath());
        call.is_some_and(|call| is_under_lock(&call.function))
    });
    let longest = held.map(|(doing, visits)| (doing, all_ns(visits))).max_by_key(|(_, ns)| *ns);
    let (doing, _) = longest.unwrap_or((Doing::In(at), 0));
    let place = Place::of(&run.callpaths, doing.callpath());
    let held = Held::of(run.activities.of(doing).unwrap_or_default(), holders);
    let sentence = format!(
        "{}; {} {} {} for it in {}",
        held.text(&place),
        ranks(&waiting),
        if_many(&waiting, "waits", "wait"),
        ns(waiting_ns),
        waits_at.short_name(&place)
    );
    let holders = held.ranks;
    let why = "holds the lock while others want it".to_owned();
    let link = Link { ranks: holders.clone(), place: Some(place.clone()), ns: waiting_ns, why };
    let advice = "Hold the lock for a shorter time: compute before or behind it; or share it \
                  (MPI_LOCK_SHARED) and use MPI_Accumulate or MPI_Fetch_and_op."
        .to_owned();
    Some(Finding {
        ranks: holders,
        certainty: Certainty::Measured,
        place: Some(place),
        waits_at: Some(waits_at),
        waiting_ranks: waiting,
        chain: vec![link],
        ..Finding::new(Kind::LockContention, run.a_rank_ns(waiting_ns), sentence, advice)
    })
}

/// The ranks that hold a lock, and what they compute meanwhile.
struct Held {
    ranks: RankSet,
    each_ns: f64,
    /// The mean time that the other holders compute, if they hold it for a far shorter time.
    others_ns: Option<f64>,
}

impl Held {
    /// Returns those of the `holders` that hold a lock by far the longest, or all, by their visits
    /// of what they do meanwhile.
    fn of(visits: &[Visits], holders: RankSet) -> Self {
        let ns_of =
            |rank: u32| crate::ns(visits.get(rank as usize).map_or(0, |visits| visits.ns).into());
        let mean_ns =
            |of: &RankSet| of.iter().map(ns_of).sum::<f64>() / crate::ns(of.len().max(1).into());
        let most_ns = holders.iter().map(ns_of).fold(0.0, f64::max);
        let is_long = |rank: &u32| ns_of(*rank) >= most_ns / FAR_LONGER;
        let (long, short): (RankSet, RankSet) = (
            holders.iter().filter(is_long).collect(),
            holders.iter().filter(|rank| !is_long(rank)).collect(),
        );
        if short.is_empty() || most_ns <= 0.0 {
            let each_ns = mean_ns(&holders);
            return Self { ranks: holders, each_ns, others_ns: None };
        }
        Self { each_ns: mean_ns(&long), others_ns: Some(mean_ns(&short)), ranks: long }
    }

    /// Returns `Rank 1 holds a lock, and computes 145 ms before MPI_Win_unlock ..., the others 9
    /// ms`.
    fn text(&self, place: &Place) -> String {
        let (in_a_row, others) = match self.others_ns {
            Some(others_ns) => ("", format!(", others that hold it {}", ns(others_ns))),
            None => (" one after another", String::new()),
        };
        let each = if self.ranks.len() > 1 { " each" } else { "" };
        format!(
            "{} {} a lock{in_a_row}, and {} {}{each} before {}{others}",
            capital(&ranks(&self.ranks)),
            if_many(&self.ranks, "holds", "hold"),
            if_many(&self.ranks, "computes", "compute"),
            ns(self.each_ns),
            place.name(),
        )
    }
}

/// Returns whether a function is called between the lock and the end of the unlock.
fn is_under_lock(function: &str) -> bool {
    ["MPI_Win_unlock", "MPI_Win_flush", "MPI_Put", "MPI_Get", "MPI_Accumulate"]
        .iter()
        .any(|name| function.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ranks that are named, and the times in ms, of ranks that compute for these times
    /// while they hold a lock.
    fn held(ms: &[u64]) -> (String, f64, Option<f64>) {
        let visits = |ms: &u64| Visits { count: 10, ns: ms * 1_000_000 };
        let visits: Vec<Visits> = ms.iter().map(visits).collect();
        let holders = (0_u32..).zip(ms).map(|(rank, _)| rank).collect();
        let held = Held::of(&visits, holders);
        (held.ranks.to_string(), held.each_ns / 1e6, held.others_ns.map(|ns| ns / 1e6))
    }

    #[test]
    fn a_rank_that_holds_a_lock_far_longer_is_named_alone() {
        assert_eq!(held(&[9, 150, 11]), ("1".to_owned(), 150.0, Some(10.0)));
        assert_eq!(held(&[90, 150, 60]), ("0-2".to_owned(), 100.0, None));
        assert_eq!(held(&[0, 0]), ("0-1".to_owned(), 0.0, None), "nobody computes there");
    }
}
