//! The evidence of a finding: who waits where, what the late ranks do longer, and why.

use std::collections::{BTreeMap, BTreeSet};

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::delay::{Imbalance, Visits};
use tinyprof_messages::graph::RankSet;
use tinyprof_report::Certainty;

use super::Facts;
use super::groups::Group;
use crate::blame::Cause;
use crate::facts::activities::Doing;
use crate::facts::run::Run;
use crate::facts::waits::Wait;
use crate::finding::Link;
use crate::phrases::{does, ns};
use crate::place::Place;

/// The part of a finding's waiting from which on an activity has a link of its own.
const LINK_PART: f64 = 0.05;

/// The part of the waiting of other ranks from which on a late rank is said to wait, too.
const WAITS_PART: f64 = 0.2;

/// How much longer late ranks have to do something than others to be blamed for it.
pub(super) const LONGER_BY: f64 = 1.02;

/// The part of what late ranks compute that others compute before other calls, from which on that
/// is told.
const AS_LONG_PART: f64 = 0.5;
/// How much longer late ranks may compute in all, where others are as busy.
const AS_BUSY_BY: f64 = 1.05;
/// The part of what late ranks do that others do of it at most, if they hardly do it.
const HARDLY_PART: f64 = 0.1;

/// The times of an activity on the ranks of a group, and on the others, in ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    pub(super) here: Mean,
    pub(super) elsewhere: Mean,
    /// Whether there are others, of which some do nothing of the kind.
    some_do_not: bool,
}

/// The mean of some ranks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean {
    pub(super) ns: f64,
    pub(super) visits: f64,
}

impl Mean {
    fn of(visits: &[Visits], is_in: impl Fn(u32) -> bool) -> Self {
        let chosen = (0_u32..).zip(visits).filter(|(rank, _)| is_in(*rank));
        let (mut sum, mut count) = (Self::default(), 0.0);
        for (_, visits) in chosen {
            sum.ns += crate::ns(visits.ns.into());
            sum.visits += crate::ns(visits.count.into());
            count += 1.0;
        }
        let count = f64::max(count, 1.0);
        Self { ns: sum.ns / count, visits: sum.visits / count }
    }

    /// The mean of those other ranks that do it.
    fn of_others(visits: &[Visits], of: &RankSet) -> Self {
        Self::of(visits, |rank| !of.contains(rank) && visits[rank as usize].count > 0)
    }

    pub(super) fn per_visit_ns(self) -> f64 {
        if self.visits > 0.0 { self.ns / self.visits } else { 0.0 }
    }
}

impl Compared {
    /// Compares with those others that do it, too.
    pub(super) fn of(run: &Run, doing: Doing, of: &RankSet) -> Option<Self> {
        let visits = run.activities.of(doing)?;
        let mut others =
            (0_u32..).zip(&run.rank_ns).filter(|(rank, ns)| **ns > 0 && !of.contains(*rank));
        Some(Self {
            here: Mean::of(visits, |rank| of.contains(rank)),
            elsewhere: Mean::of_others(visits, of),
            some_do_not: others.any(|(rank, _)| visits[rank as usize].count == 0),
        })
    }

    /// Compares with all others, whether they do it or not.
    pub(super) fn with_all(run: &Run, doing: Doing, of: &RankSet) -> Option<Self> {
        let visits = run.activities.of(doing)?;
        let elsewhere = Mean::of(visits, |rank| !of.contains(rank));
        Some(Self { elsewhere, ..Self::of(run, doing, of)? })
    }

    /// Returns whether it is that these ranks do it more often, and not for longer each time.
    pub(super) fn is_by_count(&self, split: &Imbalance) -> bool {
        self.here.visits > self.elsewhere.visits
            && split.overload_by_count_ns > split.overload_by_length_ns
    }

    /// Returns the computing of the other ranks before all calls, in ns, where they hardly do this,
    /// but are as busy before other calls as these ranks `of`.
    pub(super) fn work_elsewhere_ns(&self, run: &Run, of: &RankSet) -> Option<f64> {
        let here_ns = computing_ns(run, |rank| of.contains(rank));
        let elsewhere_ns = computing_ns(run, |rank| !of.contains(rank));
        let is_as_long = here_ns > 0.0 && elsewhere_ns >= AS_LONG_PART * here_ns;
        (self.elsewhere.ns <= HARDLY_PART * self.here.ns && is_as_long).then_some(elsewhere_ns)
    }

    /// Returns whether some others do nothing of this, and all others compute as long as these
    /// ranks `of` before all calls together.
    pub(super) fn others_are_as_busy(&self, run: &Run, of: &RankSet) -> bool {
        let here_ns = computing_ns(run, |rank| of.contains(rank));
        let elsewhere_ns = computing_ns(run, |rank| !of.contains(rank));
        self.some_do_not && elsewhere_ns * AS_BUSY_BY >= here_ns
    }

    /// Returns `, the others 748 ms` where that says something, of ranks `of` in a run.
    pub(super) fn others(&self, run: &Run, of: &RankSet) -> String {
        if let Some(of_others) = self.work_elsewhere_ns(run, of) {
            return format!(", the others {} before other calls", ns(of_others));
        }
        if self.elsewhere.visits == 0.0 {
            return ", the others do not".to_owned();
        }
        if self.elsewhere.ns > 0.95 * self.here.ns {
            return String::new();
        }
        let who = if self.some_do_not { "others that do it" } else { "the others" };
        format!(", {who} {}", ns(self.elsewhere.ns))
    }
}

/// Returns the mean computing of ranks before all calls together, in ns.
fn computing_ns(run: &Run, is_in: impl Fn(u32) -> bool + Copy) -> f64 {
    let gaps = run.activities.iter().filter(|(doing, _)| matches!(doing, Doing::Before(_)));
    gaps.map(|(_, visits)| {
        let used = |rank: u32| run.rank_ns.get(rank as usize).is_some_and(|ns| *ns > 0);
        Mean::of(visits, |rank| used(rank) && is_in(rank)).ns
    })
    .sum()
}

/// Returns how much longer these ranks do something than those others that do it, in ns.
pub(super) fn excess_ns(visits: &[Visits], of: &RankSet) -> f64 {
    Mean::of(visits, |rank| of.contains(rank)).ns - Mean::of_others(visits, of).ns
}

/// Returns the ranks that wait, without those that are the cause, unless these wait for each other:
/// at least as a part of what the others do, on average.
pub(super) fn waiting_ranks(run: &Run, group: &Group) -> RankSet {
    let all = group.blamed.ranks();
    let others: RankSet = all.iter().filter(|rank| !group.ranks.contains(*rank)).collect();
    if others.is_empty() {
        return all;
    }
    if group.ranks.len() == 1 {
        return others;
    }
    let at: BTreeSet<CallpathIndex> = group.blamed.at.keys().filter_map(|at| at.callpath).collect();
    let mut of_ranks: BTreeMap<u32, f64> = BTreeMap::new();
    let is_here = |wait: &&Wait| wait.at.is_some_and(|callpath| at.contains(&callpath));
    for wait in run.waits.all.iter().filter(is_here) {
        *of_ranks.entry(wait.rank).or_default() += crate::ns(wait.ns.into());
    }
    let of = |rank: u32| of_ranks.get(&rank).copied().unwrap_or(0.0);
    let mean_ns = others.iter().map(of).sum::<f64>() / crate::ns(others.len().into());
    all.iter().filter(|rank| others.contains(*rank) || of(*rank) >= WAITS_PART * mean_ns).collect()
}

/// Returns the certainty of what is said of a group: where most of it is waiting for ranks of other
/// hosts that could not tell, it is estimated.
pub(super) fn certainty_of(facts: &Facts<'_>, group: &Group) -> Certainty {
    let is_of = |cause: &Cause| {
        group.ranks.contains(cause.0) && group.activities.iter().any(|(doing, _)| *doing == cause.1)
    };
    let estimated = facts.blame.estimated.iter().filter(|(cause, _)| is_of(cause));
    let estimated_ns: f64 = estimated.map(|(_, ns)| ns).sum();
    if 2.0 * estimated_ns > group.blamed.ns() { Certainty::Estimated } else { certainty(facts) }
}

pub(super) const fn certainty(facts: &Facts<'_>) -> Certainty {
    if facts.blame.is_measured { Certainty::Measured } else { Certainty::Estimated }
}

/// Returns ` in MPI_Waitall (halo.c:16)`, and how many other calls there are.
pub(super) fn where_they_wait(run: &Run, group: &Group, beside: &Place) -> String {
    let Some((at, _)) = group.blamed.longest() else { return String::new() };
    let Some(callpath) = at.callpath else { return String::new() };
    let least_ns = LINK_PART * group.blamed.ns();
    let large = group.blamed.at.iter().filter(|(_, share)| share.ns >= least_ns);
    let mut others: Vec<CallpathIndex> = large.filter_map(|(at, _)| at.callpath).collect();
    others.sort_unstable();
    others.dedup();
    let more = match others.iter().filter(|other| **other != callpath).count() {
        0 => String::new(),
        1 => " and another call".to_owned(),
        many => format!(" and {many} other calls"),
    };
    format!(" in {}{more}", Place::of(&run.callpaths, callpath).short_name(beside))
}

/// Returns the activities with their part of the waiting.
pub(super) fn chain(facts: &Facts<'_>, group: &Group) -> Vec<Link> {
    let run = facts.run;
    let sum_ns: f64 = group.activities.iter().map(|(_, ns)| ns).sum();
    // Ranks that take turns do nothing longer in all.
    let is_none_longer = !group.activities.iter().any(|(doing, _)| is_longer(run, group, *doing));
    let (large, small): (Vec<_>, Vec<_>) =
        group.activities.iter().copied().partition(|(doing, ns)| {
            *ns >= LINK_PART * sum_ns && (is_longer(run, group, *doing) || is_none_longer)
        });
    let mut links: Vec<Link> = large
        .into_iter()
        .map(|(doing, ns)| Link {
            ranks: group.ranks.clone(),
            place: Some(run.place(doing)),
            ns,
            why: why(run, group, doing),
        })
        .collect();
    let rest_ns: f64 = small.iter().map(|(_, ns)| ns).sum();
    if rest_ns > 0.0 {
        let why = if group.ranks.len() == 1 {
            "with all else that it does longer"
        } else {
            "with all else that they do longer"
        }
        .to_owned();
        links.push(Link { ranks: group.ranks.clone(), place: None, ns: rest_ns, why });
    }
    links
}

/// Returns whether the ranks of a group do something longer than others, or there are no others.
fn is_longer(run: &Run, group: &Group, doing: Doing) -> bool {
    let compared = Compared::with_all(run, doing, &group.ranks);
    group.ranks.len() >= run.used() as u64
        || compared.is_none_or(|one| one.here.ns >= LONGER_BY * one.elsewhere.ns)
}

/// Returns the longest visit of these ranks, in ns, if it is a multiple of their mean: then the
/// mean says nothing of a visit.
pub(super) fn uneven_ns(run: &Run, of: &RankSet, doing: Doing) -> Option<f64> {
    /// How many times longer it is.
    const TIMES: f64 = 3.0;
    let visits = run.activities.of(doing)?;
    let is_theirs = run.activities.longest_rank(doing).is_some_and(|rank| of.contains(rank));
    let longest_ns = crate::ns(run.activities.longest_ns(doing).into());
    let mean_ns = Mean::of(visits, |rank| of.contains(rank)).per_visit_ns();
    (is_theirs && longest_ns >= TIMES * mean_ns).then_some(longest_ns)
}

/// Returns what makes an activity take longer: more visits, longer ones, or a single rank.
fn why(run: &Run, group: &Group, doing: Doing) -> String {
    let (Some(compared), Some(visits)) =
        (Compared::of(run, doing, &group.ranks), run.activities.of(doing))
    else {
        return String::new();
    };
    let what = does(run, &group.ranks, doing, compared.here.ns);
    let split = Imbalance::of(visits);
    if split.single.is_some() && visits.len() > 1 {
        let has_others = compared.elsewhere.visits > 0.0
            || compared.work_elsewhere_ns(run, &group.ranks).is_some();
        return if has_others {
            format!("{what}{}", compared.others(run, &group.ranks))
        } else {
            format!("{what}: no other rank does")
        };
    }
    if group.ranks.len() >= run.used() as u64 {
        return format!("{what}: {} each time", ns(compared.here.per_visit_ns()));
    }
    if compared.work_elsewhere_ns(run, &group.ranks).is_some() {
        return format!("{what}{}", compared.others(run, &group.ranks));
    }
    if compared.is_by_count(&split) {
        format!(
            "{what}: {:.0} times, the others {:.0} times",
            compared.here.visits, compared.elsewhere.visits
        )
    } else {
        let (here, elsewhere) =
            (ns(compared.here.per_visit_ns()), ns(compared.elsewhere.per_visit_ns()));
        match uneven_ns(run, &group.ranks, doing) {
            Some(longest_ns) => format!(
                "{what}: up to {} at a time, {here} on average, the others {elsewhere}",
                ns(longest_ns)
            ),
            None if compared.here.visits <= 1.0 => {
                format!("{what}{}", compared.others(run, &group.ranks))
            }
            None => format!("{what}: {here} each time, the others {elsewhere}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;
    use tinyprof_report::Totals;

    use super::*;
    use crate::facts::run::RunBuilder;

    /// Returns a run in which ranks compute for these times in ms, in 10 visits each; none for 0.
    fn run_of(ms: &[u64]) -> (Run, Doing) {
        let times = vec!["1"; ms.len()].join("|");
        let text = format!("id,parent,tag,is_loop,times\nMPI_Send,null,COMM,0,{times}\n");
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let totals = Totals::of_profile(&profile);
        let mut run = RunBuilder::new(&profile.callpaths, ms.len()).finish(&totals);
        run.rank_ns = vec![1_000_000_000; ms.len()];
        let doing = Doing::Before(CallpathIndex::new(0));
        for (rank, ms) in ms.iter().enumerate() {
            let count = if *ms > 0 { 10 } else { 0 };
            run.activities.add(doing, rank, Visits { count, ns: ms * 1_000_000 }, 0);
        }
        (run, doing)
    }

    #[test]
    fn ranks_are_compared_with_those_that_do_the_same() {
        let first: RankSet = [1].into_iter().collect();
        for (ms, expected) in [
            (&[400, 800, 400][..], ", the others 400 ms"),
            (&[0, 800, 400], ", others that do it 400 ms"),
            (&[0, 800, 0], ", the others do not"),
            (&[790, 800, 790], ""),
        ] {
            let (run, doing) = run_of(ms);
            let compared = Compared::of(&run, doing, &first).expect("some do it");
            assert_eq!(compared.others(&run, &first), expected, "{ms:?}");
            // A rank that does nothing of it does not make the visits of others many.
            let split = Imbalance::of(run.activities.of(doing).unwrap_or_default());
            assert_eq!(compared.is_by_count(&split), ms[2] == 0, "{ms:?}");
        }
    }
}
