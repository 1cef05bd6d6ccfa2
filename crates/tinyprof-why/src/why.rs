//! The answer to why a run takes as long as it does.

use std::collections::BTreeMap;
use std::error::Error;

use tinyprof_format::model::{CallpathIndex, CallpathTable, CallpathValues, Profile, RankCauses};
use tinyprof_messages::graph::RankSet;
use tinyprof_messages::waiting::Pattern;
use tinyprof_report::{ByCallpath, FindingKind, Totals, Unfollowed};

use crate::blame::Blame;
use crate::blame::backtrack::backtrack;
use crate::blame::costs::Costs;
use crate::blame::path::PathBuilder;
use crate::facts::run::{Run, RunBuilder};
use crate::finding::{Finding, Kind};
use crate::findings::large::BEHIND;
use crate::findings::{FINDING_PART, Facts, findings, sort};
use crate::place::Place;

/// The most findings that are told.
const FINDINGS_MAX: usize = 5;

/// Waits below this mean are the latency of messages, and no rank is their cause, in ns.
const LATENCY_NS: u64 = 10_000;

/// Why a run takes as long as it does: findings, and waiting by cause.
#[derive(Clone, Debug)]
pub struct Why {
    pub(crate) findings: Vec<Finding>,
    /// The time of all ranks, and the part of it that is waiting, in ns.
    pub(crate) total_ns: f64,
    pub(crate) waiting_ns: f64,
    /// The waiting of all ranks by its pattern, in ns.
    pub(crate) by_pattern: BTreeMap<Pattern, u64>,
    /// The time of all ranks in MPI, in ns.
    pub(crate) mpi_ns: f64,
    /// The ranks that were waited for, with the waiting in ns, the longest first.
    pub(crate) by_rank: Vec<(RankSet, f64)>,
    /// The waiting for ranks that had no processor, in ns.
    pub(crate) no_processor_ns: f64,
    /// The time in calls of MPI of which nobody knows whether it was waiting.
    pub(crate) not_followed_ns: f64,
    /// The most that ranks can have been without a processor, in ns.
    pub(crate) may_be_lost_ns: f64,
    /// The waiting of which no cause is known, in ns.
    pub(crate) unexplained_ns: f64,
    /// The waiting for ranks of other hosts of which sums over the run tell why, in ns.
    pub(crate) estimated_ns: f64,
    /// True if the program has found the causes while it ran.
    pub(crate) is_measured: bool,
    /// The critical path, if the program has found it.
    pub(crate) path: Option<CriticalPath>,
    pub(crate) ranks: usize,
    pub(crate) has_calls: bool,
    pub(crate) has_messages: bool,
    /// The hints that rules of users replace.
    pub(crate) replaced: Vec<FindingKind>,
}

/// The activities that the time of the run follows from.
#[derive(Clone, Debug)]
pub(crate) struct CriticalPath {
    pub(crate) ns: f64,
    /// The time of each rank on it, the longest first, in ns.
    pub(crate) by_rank: Vec<(RankSet, f64)>,
    /// The time that it would be shorter if its activities were balanced, in ns, and where most of
    /// that is.
    pub(crate) imbalance_ns: f64,
    pub(crate) place: Option<Place>,
}

/// Collects what is needed, callpath by callpath.
#[derive(Clone, Debug)]
pub struct WhyBuilder {
    run: RunBuilder,
    costs: Costs,
    path: PathBuilder,
}

impl WhyBuilder {
    /// Returns a builder for a profile with these callpaths and this many ranks.
    #[must_use]
    pub fn new(callpaths: &CallpathTable, ranks: usize) -> Self {
        let (costs, path) = (Costs::default(), PathBuilder::default());
        Self { run: RunBuilder::new(callpaths, ranks), costs, path }
    }

    /// Adds a callpath: its values by rank. Callpaths may be added in any order, each once.
    pub fn add(&mut self, index: CallpathIndex, values: &[CallpathValues]) {
        self.run.add(index, values);
    }

    /// Adds the causes of waiting that a rank knows.
    pub fn add_causes(&mut self, rank: u32, causes: &RankCauses) {
        self.costs.add(self.run.rows(), rank, causes);
        self.path.add(self.run.rows(), causes);
    }

    /// Returns the answer. `totals` are those of the same callpaths.
    #[must_use]
    pub fn finish(self, totals: &Totals) -> Why {
        let mut why = Why::of_run(&self.run.finish(totals), &self.costs, &self.path);
        why.findings.iter_mut().for_each(|finding| finding.add_samples(totals));
        if why.has_messages {
            why.not_followed_ns = crate::ns(Unfollowed::of_totals(totals).ns());
        }
        why
    }
}

impl Why {
    /// Returns the answer of a profile that comes callpath by callpath, and its totals.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of_source(profile: &dyn ByCallpath) -> Result<(Self, Totals), Box<dyn Error>> {
        let (callpaths, ranks) = (profile.callpaths(), profile.ranks());
        let mut totals = Totals::new(profile.manifest(), callpaths, ranks);
        let mut builder = WhyBuilder::new(callpaths, ranks.len());
        profile.each(&mut |index, values| {
            totals.add(index, values);
            builder.add(index, values);
            Ok(())
        })?;
        profile.each_causes(&mut |rank, causes| builder.add_causes(rank, causes))?;
        Ok((builder.finish(&totals), totals))
    }

    /// Returns the answer of a profile in memory.
    #[must_use]
    pub fn of_profile(profile: &Profile) -> Self {
        let totals = Totals::of_profile(profile);
        let mut builder = WhyBuilder::new(&profile.callpaths, profile.ranks.len());
        for ((index, _), values) in profile.callpaths.iter().zip(&profile.values) {
            builder.add(index, values);
        }
        for (rank, facts) in (0_u32..).zip(&profile.ranks) {
            if let Some(causes) = &facts.causes {
                builder.add_causes(rank, causes);
            }
        }
        builder.finish(&totals)
    }

    fn of_run(run: &Run, costs: &Costs, path: &PathBuilder) -> Self {
        let mut waits = run.waits.clone();
        waits.all.retain(|wait| wait.ns / wait.count.max(1) >= LATENCY_NS);
        let blame = costs
            .blame(&run.calls, &run.activities, &waits)
            .unwrap_or_else(|| backtrack(&run.activities, &waits));
        let mut found = findings(&Facts { run, blame: &blame });
        found.truncate(FINDINGS_MAX);
        // The finding tells what holds a lock, which is no part of the causes of single waits.
        let is_lock = |pattern: Pattern| pattern == Pattern::LockContention;
        let of_locks = run.waits.all.iter().filter(|wait| is_lock(wait.pattern));
        let of_locks_ns: f64 = of_locks.map(|wait| crate::ns(wait.ns.into())).sum();
        let shares = blame.causes.values().flat_map(|blamed| &blamed.at);
        let caused_there_ns: f64 =
            shares.filter(|(at, _)| is_lock(at.pattern)).map(|(_, share)| share.ns).sum();
        let is_told = found.iter().any(|one| one.kind == Kind::LockContention);
        let by_locks_ns = if is_told { (of_locks_ns - caused_there_ns).max(0.0) } else { 0.0 };
        let behind = found.iter().flat_map(|one| &one.chain).filter(|link| link.why == BEHIND);
        let behind_ns: f64 = behind.map(|link| link.ns).sum();
        let mpi_ns = run.mpi_ns.iter().map(|ns| u128::from(*ns)).sum();
        let waiting_ns = crate::ns(run.waits.sum_ns());
        let by_rank = by_rank(&blame);
        let caused_ns: f64 = blame.causes.values().map(crate::blame::Blamed::ns).sum();
        Self {
            findings: found,
            total_ns: run.total_ns(),
            waiting_ns,
            by_pattern: run.waits.by_pattern(),
            mpi_ns: crate::ns(mpi_ns),
            by_rank,
            no_processor_ns: blame.no_processor.ns(),
            not_followed_ns: 0.0,
            may_be_lost_ns: run
                .no_processor_ns
                .iter()
                .map(|[_, most]| crate::ns((*most).into()))
                .sum(),
            unexplained_ns: (waiting_ns
                - caused_ns
                - by_locks_ns
                - behind_ns
                - blame.no_processor.ns())
            .max(0.0),
            estimated_ns: blame.estimated_ns,
            is_measured: blame.is_measured,
            path: path.finish(run).map(|path| CriticalPath {
                ns: path.ns,
                by_rank: path.by_rank.into_iter().map(|(rank, ns)| (of_one(rank), ns)).collect(),
                imbalance_ns: path.imbalance_ns,
                place: path.most.map(|at| Place::of(&run.callpaths, at)),
            }),
            ranks: run.used(),
            has_calls: !run.calls.is_empty(),
            has_messages: run.has_messages(),
            replaced: Vec::new(),
        }
    }

    /// Returns the findings, at most five, the costliest first.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Adds a finding, if it is large enough, and no more than five are then told.
    pub fn add(&mut self, finding: Finding) {
        if self.share_of(&finding) >= FINDING_PART {
            self.findings.push(finding);
            sort(&mut self.findings);
            self.findings.truncate(FINDINGS_MAX);
        }
    }

    /// Leaves out the hints of these kinds: rules of users take their place.
    pub fn replace_hints(&mut self, kinds: impl IntoIterator<Item = FindingKind>) {
        self.replaced.extend(kinds);
    }

    /// Replaces the advice of a finding, by its number from 0 on.
    pub fn advise(&mut self, number: usize, advice: String) {
        if let Some(finding) = self.findings.get_mut(number) {
            finding.advice = advice;
        }
    }

    /// Returns the waiting for other ranks as a part of the run; none if it is not known.
    #[must_use]
    pub fn waiting_share(&self) -> Option<f64> {
        self.has_messages.then(|| self.share(self.waiting_ns))
    }

    /// Returns the waiting of all ranks together by its pattern, in ns; none if it is not known.
    /// Patterns without waiting are left out.
    #[must_use]
    pub fn waiting_by_pattern(&self) -> Option<&BTreeMap<Pattern, u64>> {
        self.has_messages.then_some(&self.by_pattern)
    }

    /// Returns whether anything is known of why: whether there are calls of MPI, or a finding.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        self.has_calls || !self.findings.is_empty()
    }

    /// Returns a time of all ranks as a part of the time of the run.
    pub(crate) fn share(&self, ns: f64) -> f64 {
        if self.total_ns > 0.0 { ns / self.total_ns } else { 0.0 }
    }

    /// Returns a finding's part of the time of a rank.
    #[must_use]
    pub fn share_of(&self, finding: &Finding) -> f64 {
        self.share(finding.lost_ns * crate::ns(self.ranks.max(1) as u128))
    }
}

/// Returns the waiting by the rank that is its cause, the longest first.
fn by_rank(blame: &Blame) -> Vec<(RankSet, f64)> {
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    for ((rank, _), blamed) in &blame.causes {
        *sums.entry(*rank).or_default() += blamed.ns();
    }
    let mut sums: Vec<(RankSet, f64)> =
        sums.into_iter().map(|(rank, ns)| (of_one(rank), ns)).collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums
}

fn of_one(rank: u32) -> RankSet {
    std::iter::once(rank).collect()
}
