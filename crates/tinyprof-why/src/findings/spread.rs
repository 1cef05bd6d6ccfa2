//! Waiting that has many small causes: what these have in common.

use std::collections::BTreeMap;

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::graph::RankSet;
use tinyprof_report::cells::{percent_cell, shown};

use super::Facts;
use super::evidence::certainty;
use crate::blame::{Blamed, Cause};
use crate::facts::activities::Doing;
use crate::facts::run::Run;
use crate::finding::{Finding, Kind, Link};
use crate::phrases::{capital, if_many, ns, ranks};
use crate::place::Place;

/// The part of the run from which on small causes are worth a finding together.
const ALL_PART: f64 = 0.1;
/// The least number of causes that are many.
const CAUSES_MIN: usize = 4;
/// The part of the waiting that has something in common, if it is said to.
const COMMON_PART: f64 = 0.6;
/// The part of the waiting of which the ranks are named: as few as have so much of it.
const RANKS_PART: f64 = 0.8;

/// Returns the finding about all causes that no other finding tells, if they are many and small,
/// and much together.
pub(super) fn spread(facts: &Facts<'_>, found: &[Finding]) -> Option<Finding> {
    let run = facts.run;
    let is_left = |cause: &Cause| !found.iter().any(|one| tells(one, cause));
    let left = facts.blame.causes.iter().filter(|(cause, _)| is_left(cause));
    let left: Vec<(&Cause, &Blamed)> = left.collect();
    let sum_ns: f64 = left.iter().map(|(_, blamed)| blamed.ns()).sum();
    if run.share(sum_ns) < ALL_PART || left.len() < CAUSES_MIN {
        return None;
    }
    let all = Common::new(run, &left, sum_ns);
    let (who, place, at) = (all.ranks(), all.place(), all.waits_at());
    let mut waiting = Blamed::default();
    left.iter().for_each(|(_, blamed)| waiting.absorb(blamed));
    let waiting_ranks = waiting.ranks();
    let sentence = format!(
        "{} {} {} for {} causes, none of which is large: {}",
        capital(&ranks(&waiting_ranks)),
        if_many(&waiting_ranks, "waits", "wait"),
        ns(sum_ns),
        left.len(),
        all.text(&who),
    );
    let why = format!("{} causes, each of them small", left.len());
    let link = Link { ranks: who.clone(), place: place.clone(), ns: sum_ns, why };
    let advice = all.function().map_or_else(
        || "Let ranks meet less often, or balance what each does between two meetings.".to_owned(),
        |(name, _)| {
            format!(
                "Balance what ranks do in {name} each time, or let them meet less often: the sums \
                 hide who was late when."
            )
        },
    );
    Some(Finding {
        certainty: certainty(facts),
        ranks: who,
        place,
        waits_at: at.map(|(at, _)| at),
        waiting_ranks,
        chain: vec![link],
        ..Finding::new(Kind::ManyCauses, run.a_rank_ns(sum_ns), sentence, advice)
    })
}

/// Returns whether a finding tells of a cause: of all that its only rank does, or of the activity.
fn tells(one: &Finding, (rank, doing): &Cause) -> bool {
    let is_there = |place: &Place| place.index == doing.callpath();
    let is_named = one.chain.iter().filter_map(|link| link.place.as_ref()).any(is_there)
        || one.place.as_ref().is_some_and(is_there);
    one.kind == Kind::Serialisation
        || one.ranks.contains(*rank) && (one.ranks.len() == 1 || is_named)
}

/// Many small causes, and what they share.
struct Common<'a> {
    run: &'a Run,
    left: &'a [(&'a Cause, &'a Blamed)],
    sum_ns: f64,
    /// The waiting by what ranks do and where others wait for it, in ns.
    places: BTreeMap<(Doing, Option<CallpathIndex>), f64>,
}

impl<'a> Common<'a> {
    fn new(run: &'a Run, left: &'a [(&'a Cause, &'a Blamed)], sum_ns: f64) -> Self {
        let mut places: BTreeMap<(Doing, Option<CallpathIndex>), f64> = BTreeMap::new();
        for ((_, doing), blamed) in left {
            for (at, share) in &blamed.at {
                *places.entry((*doing, at.callpath)).or_default() += share.ns;
            }
        }
        Self { run, left, sum_ns, places }
    }

    /// Returns `of that 80% in MPI_Waitall (halo.c:16)`; most of the causes are of these ranks.
    fn text(&self, who: &RankSet) -> String {
        let mut common: Vec<String> = Vec::new();
        if let Some((name, part)) = self.function() {
            common.push(format!("{} because of what ranks do in {name}", percent_cell(part)));
        }
        if let Some((phase, part)) = self.phase() {
            common.push(format!("{} within {phase}", percent_cell(part)));
        }
        if let Some((at, part)) = self.waits_at() {
            common.push(format!("{} in {}", percent_cell(part), at.name()));
        } else if let Some((call, part)) = self.call() {
            common.push(format!("{} in calls of {call}", percent_cell(part)));
        }
        if 2 * who.len() <= self.run.used() as u64 {
            common.push(format!("{} for {}", percent_cell(RANKS_PART), ranks(who)));
        }
        if common.is_empty() {
            "they have no place in common".to_owned()
        } else {
            format!("of that {}", common.join(", "))
        }
    }

    /// Returns what most of the waiting has in common, by these keys of a cause and a wait.
    fn most<K: Ord>(
        &self,
        key: impl Fn(Doing, Option<CallpathIndex>) -> Option<K>,
    ) -> Option<(K, f64)> {
        let mut sums: BTreeMap<K, f64> = BTreeMap::new();
        for ((doing, at), ns) in &self.places {
            if let Some(key) = key(*doing, *at) {
                *sums.entry(key).or_default() += ns;
            }
        }
        let most = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let most = most.map(|(key, ns)| (key, ns / self.sum_ns));
        most.filter(|(_, part)| *part >= COMMON_PART)
    }

    /// Returns the function in which ranks are late.
    fn function(&self) -> Option<(String, f64)> {
        let name = |doing: Doing, _| {
            let place = Place::of(&self.run.callpaths, doing.callpath());
            Some(match &place.file {
                Some(file) => format!("{} ({file})", place.function),
                None => place.function,
            })
        };
        self.most(name).map(|(name, part)| (shown(&name), part))
    }

    /// Returns the place at which ranks are late.
    fn place(&self) -> Option<Place> {
        let most = self.most(|doing, _| Some(doing.callpath()));
        most.map(|(index, _)| Place::of(&self.run.callpaths, index))
    }

    /// Returns the place at which ranks wait.
    fn waits_at(&self) -> Option<(Place, f64)> {
        let most = self.most(|_, at| at);
        most.map(|(index, part)| (Place::of(&self.run.callpaths, index), part))
    }

    /// Returns the function of MPI in which ranks wait.
    fn call(&self) -> Option<(String, f64)> {
        self.most(|_, at| Some(self.run.calls.get(&at?)?.function.clone()))
    }

    /// Returns the region below the root in which ranks are late.
    fn phase(&self) -> Option<(String, f64)> {
        let table = &self.run.callpaths;
        let parent = |index: &CallpathIndex| table.get(*index).parent;
        let phase = |doing: Doing, _| {
            let above = std::iter::successors(parent(&doing.callpath()), parent);
            let mut above: Vec<CallpathIndex> = above.collect();
            above.pop();
            above.pop()
        };
        let most = self.most(phase);
        most.map(|(index, part)| (Place::of(table, index).name(), part))
    }

    /// Returns the fewest ranks that have most of the causes.
    fn ranks(&self) -> RankSet {
        let mut of_ranks: BTreeMap<u32, f64> = BTreeMap::new();
        for ((rank, _), blamed) in self.left {
            *of_ranks.entry(*rank).or_default() += blamed.ns();
        }
        let mut of_ranks: Vec<(u32, f64)> = of_ranks.into_iter().collect();
        of_ranks.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut sum_ns = 0.0;
        let is_needed = |(_, ns): &(u32, f64)| {
            let is_needed = sum_ns < RANKS_PART * self.sum_ns;
            sum_ns += ns;
            is_needed
        };
        of_ranks.into_iter().take_while(is_needed).map(|(rank, _)| rank).collect()
    }
}

#[cfg(test)]
mod tests {
    use tinyprof_format::text::read_text;
    use tinyprof_messages::waiting::Pattern;
    use tinyprof_report::Totals;

    use super::*;
    use crate::blame::{At, Blame};
    use crate::facts::run::RunBuilder;

    /// Returns what is said of six ranks of 1 s, of which each makes the next one wait for this
    /// long, where another finding may tell of rank 0.
    fn said(ms: f64, told: &[Finding]) -> Option<String> {
        let text = "id,parent,tag,is_loop,times\nMPI_Recv,null,COMM,0,1|1|1|1|1|1\n";
        let profile = read_text(text.as_bytes()).expect("it is right").profile;
        let totals = Totals::of_profile(&profile);
        let mut run = RunBuilder::new(&profile.callpaths, 6).finish(&totals);
        run.rank_ns = vec![1_000_000_000; 6];
        let callpath = Some(CallpathIndex::new(0));
        let at = At { callpath, pattern: Pattern::LateSender, is_direct: true };
        let mut blame = Blame::default();
        for rank in 0..6 {
            let cause = (rank, Doing::Before(CallpathIndex::new(0)));
            blame.causes.entry(cause).or_default().add(at, (rank + 1) % 6, ms * 1e6);
        }
        spread(&Facts { run: &run, blame: &blame }, told).map(|one| one.sentence)
    }

    #[test]
    fn many_small_causes_are_told_by_what_they_have_in_common() {
        let said_of_all = said(120.0, &[]).expect("12 % of the run");
        let begin = "Ranks 0-5 wait 720 ms for 6 causes, none of which is large: of that 100% ";
        assert!(said_of_all.starts_with(begin), "{said_of_all}");
        assert!(said_of_all.contains("MPI_Recv"), "{said_of_all}");
        assert_eq!(said(90.0, &[]), None, "9 % of the run");
        let of_rank = |rank| Finding {
            ranks: std::iter::once(rank).collect(),
            ..Finding::new(Kind::LateSender, 0.0, String::new(), String::new())
        };
        assert_eq!(said(120.0, &[0, 1, 2].map(of_rank)), None, "three causes are left");
    }
}
