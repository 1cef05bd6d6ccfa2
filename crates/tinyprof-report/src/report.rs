//! The report of a run: its facts, callpaths and statistics.

pub(crate) mod rows;

use std::collections::BTreeMap;
use std::path::Path;

use tinyprof_format::file::ManifestFacts;
use tinyprof_format::model::{
    CallpathFile, CallpathIndex, CallpathTable, EventMap, JobCommands, Losses, Manifest,
    PeakMemory, PhaseTimes, Precision, ProcessorFacts, Profile, RunMetadata,
};

use crate::facts::occupancy::Occupancy;
use crate::facts::overhead::Overhead;
use crate::facts::overhead::adjusted::{Adjusted, CompensatedRank};
use crate::facts::overhead::clock::ClockOverRanks;
use crate::facts::overhead::followed::Unfollowed;
use crate::facts::sort_key::SortKey;
use crate::facts::statistics::Statistics;
use crate::facts::statistics::efficiency::Efficiency;
use crate::facts::statistics::hosts::Hosts;
use crate::facts::statistics::threads_at_once::threads_at_once;
use crate::facts::statistics::time_base::TimeBase;
use crate::facts::threads::ThreadSums;
use crate::facts::totals::Totals;
use crate::facts::totals::metrics::Metrics;
use crate::facts::totals::transfers::Transfers;
use crate::facts::totals::waits::WaitedFor;
use crate::findings::{Facts, Finding, FindingKind, HintSubjects, Run, findings};
use crate::words::notes::filtered;

/// The data of all reports of a run. Equal profiles give equal reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The name of the program, or of the profile.
    pub name: String,
    /// The number of ranks.
    pub ranks: u32,
    /// The number of hosts; 0 if it is not known.
    pub hosts: u32,
    /// The number of executions.
    pub executions: u32,
    /// The threads of all ranks together; none if only statistics over ranks are known.
    pub threads: Option<u64>,
    /// The time of the threads of each callpath in which several worked. Empty if only statistics
    /// over ranks are known.
    pub thread_sums: BTreeMap<CallpathIndex, ThreadSums>,
    /// The mean number of threads that worked for a callpath at once, where work went to others.
    pub threads_at_once: BTreeMap<CallpathIndex, f64>,
    /// The callpaths, or the regions.
    pub callpaths: CallpathTable,
    /// The number of callpaths of each row in a report by region; none in one by callpath.
    pub callpaths_of_regions: Option<Vec<u32>>,
    /// The statistics of each row.
    pub statistics: Statistics,
    /// The varying metrics.
    pub metrics: Metrics,
    /// The transfers of each callpath that has any, summed over ranks. Empty if only statistics
    /// over ranks are known.
    pub transfers: BTreeMap<CallpathIndex, Transfers>,
    /// The ranks for which callpaths wait that wait for half of their time or more. Empty if only
    /// statistics over ranks are known.
    pub waited_for: BTreeMap<CallpathIndex, WaitedFor>,
    /// The losses of the run.
    pub losses: Losses,
    /// The reason why the profile is incomplete, if it is.
    pub incomplete: Option<String>,
    /// The precision of all times.
    pub precision: Precision,
    /// A sentence on the regions that a filter removed.
    pub filtered: Option<String>,
    /// The reason why threads recorded in private memory, if any did and it is known.
    pub segments_refused: Option<String>,
    /// The time that all shares are parts of.
    pub base: TimeBase,
    /// The names of the hosts.
    pub host_names: Hosts,
    /// The efficiency of the ranks; none if no region declares its activity.
    pub efficiency: Option<Efficiency>,
    /// The findings, the costliest first.
    pub findings: Vec<Finding>,
    /// The profiler's overhead; none if it is not known.
    pub overhead: Option<Overhead>,
    /// The clocks of all ranks; none if the profile is not of level `messages`.
    pub clock: Option<ClockOverRanks>,
    /// The processor time of each rank, in a report of a whole profile; empty otherwise, and if
    /// nothing is known.
    pub processors: Vec<ProcessorFacts>,
    /// The time in MPI calls that are not followed; none without any, or if only
    /// statistics are known.
    pub unfollowed: Option<Unfollowed>,
    /// The times of callpaths without measurement; empty where they are not known.
    pub adjusted: Vec<Adjusted>,
    /// The times of ranks without measurement; empty where they are not known.
    pub compensated: Vec<CompensatedRank>,
    /// The commands that the job was given while it ran; none in the report of a part of it, or if
    /// only statistics are known.
    pub commands: JobCommands,
    /// The metric by which tables are sorted, if one was requested.
    pub metric: Option<SortKey>,
}

impl Report {
    /// Returns the report of a profile.
    #[must_use]
    pub fn of_profile(profile: &Profile) -> Self {
        Self::of_totals(&Totals::of_profile(profile))
    }

    /// Returns the report of the totals of a profile.
    #[must_use]
    pub fn of_totals(totals: &Totals) -> Self {
        let (manifest, callpaths) = (totals.manifest(), totals.callpaths());
        let statistics = Statistics::of_totals(totals);
        let hosts = Hosts::new(totals.ranks().iter().map(|facts| facts.host.as_str()).collect());
        let report = Self::without_findings(manifest, callpaths, statistics, hosts);
        let facts = report.facts_of_findings(manifest);
        let findings = findings(&Run::of_totals(totals, &report.statistics, facts));
        let threads: u64 = totals.ranks().iter().map(|rank| u64::from(rank.threads)).sum();
        // If ranks were selected, the manifest still counts the others.
        let is_whole = totals.ranks().len() == manifest.ranks as usize;
        let threads = Some(threads).filter(|&threads| threads > 0 && is_whole);
        let (transfers, thread_sums) = (totals.transfers().clone(), totals.threads().clone());
        let of_ranks = (0..).zip(totals.ranks().iter().map(|rank| &rank.commands));
        let of_ranks: Vec<_> = of_ranks.collect();
        let commands = if is_whole { JobCommands::of(&of_ranks) } else { JobCommands::default() };
        let (metrics, waited_for) = (totals.metrics(), totals.waited_for());
        Self { metrics, findings, threads, thread_sums, transfers, waited_for, commands, ..report }
            .with_clock(totals)
    }

    /// Returns the report of a run from its statistics, row by row of `callpaths`.
    ///
    /// Its name is that of the program; see [`named`](Self::named). It contains no metrics, no
    /// transfers, and only the findings that can be computed from statistics: ranks send each other
    /// statistics of times only.
    #[must_use]
    pub fn new(manifest: &Manifest, callpaths: &CallpathTable, mut statistics: Statistics) -> Self {
        statistics.grow_to(callpaths.len());
        let hosts = Hosts::new(manifest.metadata.hostlist.iter().map(String::as_str).collect());
        let report = Self::without_findings(manifest, callpaths, statistics, hosts);
        let facts = report.facts_of_findings(manifest);
        let findings = findings(&Run::of_statistics(callpaths, &report.statistics, facts));
        Self { findings, ..report }
    }

    /// Returns what hints are asked of, with all facts: `totals` are those of this report.
    #[must_use]
    pub fn hint_subjects(&self, totals: &Totals) -> HintSubjects {
        let facts = self.facts_of_findings(totals.manifest());
        HintSubjects::of(&Run::of_totals(totals, &self.statistics, facts))
    }

    fn facts_of_findings(&self, manifest: &Manifest) -> Facts<'_> {
        Facts {
            hosts: &self.host_names,
            overhead: self.overhead.as_ref(),
            occupancy: Occupancy::of_run(manifest),
        }
    }

    fn without_findings(
        manifest: &Manifest,
        callpaths: &CallpathTable,
        statistics: Statistics,
        host_names: Hosts,
    ) -> Self {
        let efficiency = Efficiency::of_statistics(callpaths, &statistics);
        let base = TimeBase::of_statistics(callpaths, &statistics);
        let program = Path::new(&manifest.metadata.executable).file_name();
        Self {
            name: program
                .map_or_else(|| "profile".to_owned(), |name| name.to_string_lossy().into_owned()),
            ranks: manifest.ranks,
            hosts: manifest.metadata.numhosts,
            executions: manifest.executions,
            threads: None,
            thread_sums: BTreeMap::new(),
            threads_at_once: threads_at_once(callpaths, &statistics),
            callpaths: callpaths.clone(),
            callpaths_of_regions: None,
            losses: manifest.losses,
            incomplete: (!manifest.complete).then(|| {
                let because = manifest.incomplete_because.as_deref();
                because.unwrap_or("its run did not come to its end").to_owned()
            }),
            precision: manifest.precision,
            filtered: filtered(&manifest.metadata),
            segments_refused: manifest.metadata.segments_refused.clone(),
            metrics: Metrics::default(),
            transfers: BTreeMap::new(),
            waited_for: BTreeMap::new(),
            overhead: Overhead::of_run(manifest, statistics.rows(), base.ns()),
            base,
            host_names,
            efficiency,
            findings: Vec::new(),
            clock: None,
            processors: Vec::new(),
            unfollowed: None,
            adjusted: Vec::new(),
            compensated: Vec::new(),
            statistics,
            commands: JobCommands::default(),
            metric: None,
        }
    }

    /// Returns the report of a program that consists of one process, whether or not its profile
    /// could be written.
    #[must_use]
    pub fn of_event_map(map: &EventMap, executable: &str) -> Self {
        let hosts = vec![map.facts.host.clone()];
        let peak_memory = PeakMemory::of_one_rank(map.facts.peak_memory_bytes);
        let facts = ManifestFacts {
            executions: map.executions(),
            losses: map.losses(),
            peak_memory,
            hosts,
        };
        let metadata = RunMetadata { executable: executable.to_owned(), ..RunMetadata::default() };
        let manifest =
            facts.manifest(1, CallpathFile::default(), Vec::new(), metadata, PhaseTimes::default());
        let report = Self::new(&manifest, &map.callpaths, Statistics::of_event_map(map, 0));
        let threads = Some(map.facts.threads.into()).filter(|&threads| threads > 0);
        let values = map.callpaths.iter().zip(&map.values);
        let transfers =
            values.map(|((index, _), values)| (index, Transfers::of_messages(&values.messages)));
        let transfers = transfers.filter(|(_, transfers)| !transfers.is_empty()).collect();
        let values = map.callpaths.iter().zip(&map.values);
        let sums = values.filter_map(|((index, _), values)| {
            Some((index, ThreadSums::of_ranks(std::slice::from_ref(values))?))
        });
        let thread_sums = sums.collect();
        Self { metrics: Metrics::of_event_map(map), threads, thread_sums, transfers, ..report }
    }

    fn with_clock(mut self, totals: &Totals) -> Self {
        self.clock = ClockOverRanks::of_ranks(totals.ranks());
        let processors = || totals.ranks().iter().map(|rank| rank.processor);
        if processors().any(|processor| !processor.is_empty()) {
            self.processors = processors().collect();
        }
        self.unfollowed = Some(Unfollowed::of_totals(totals)).filter(|all| all.mpi_ns() > 0);
        if self.clock.is_some() {
            self.adjusted = Adjusted::of_totals(totals);
            self.compensated = CompensatedRank::of_totals(totals);
        }
        self.overhead = self.overhead.map(|cost| Overhead { clock: self.clock, ..cost });
        self
    }

    /// Returns the report under another name, such as that of the profile's directory.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Returns the report without the profiler's overhead, and without findings on it, since it is
    /// known for a whole run, but not for a selected part.
    #[must_use]
    pub fn without_overhead(mut self) -> Self {
        self.findings.retain(|finding| finding.kind != FindingKind::ShortRun);
        let efficiency = self.efficiency.map(Efficiency::without_ideal);
        let (adjusted, compensated) = (Vec::new(), Vec::new());
        Self { overhead: None, efficiency, clock: None, adjusted, compensated, ..self }
    }

    /// Returns the time that all shares are parts of.
    #[must_use]
    pub const fn base(&self) -> &TimeBase {
        &self.base
    }

    /// Returns the findings, the costliest first.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the efficiency of the ranks; none if no region declares its activity.
    #[must_use]
    pub const fn efficiency(&self) -> Option<&Efficiency> {
        self.efficiency.as_ref()
    }

    /// Returns the report without its callpaths: the facts of the run as a whole, in little memory.
    #[must_use]
    pub fn without_callpaths(self) -> Self {
        let statistics = Statistics::default().with_times(*self.statistics.times());
        Self {
            callpaths: CallpathTable::default(),
            callpaths_of_regions: None,
            statistics,
            metrics: Metrics::default(),
            transfers: BTreeMap::new(),
            threads_at_once: BTreeMap::new(),
            thread_sums: BTreeMap::new(),
            adjusted: Vec::new(),
            base: self.base.without_callpaths(),
            ..self
        }
    }
}
