//! The report of a run: its facts, its callpaths, its statistics.

use std::collections::BTreeMap;
use std::path::Path;

use crate::file::ManifestFacts;
use crate::model::{
    CallpathFile, CallpathIndex, CallpathTable, EventMap, Losses, Manifest, PeakMemory, PhaseTimes,
    Precision, Profile, RunMetadata,
};

use super::hints::{hints_of_profile, hints_of_statistics};
use super::hosts::Hosts;
use super::metrics::Metrics;
use super::notes::filtered;
use super::{Efficiency, Hint, MetricName, OwnCost, Statistics};

/// What there is to tell of a run. Equal profiles give equal reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub(super) name: String,
    pub(super) ranks: u32,
    pub(super) hosts: u32,
    pub(super) executions: u32,
    /// The threads of all ranks together; none where only statistics over ranks are known.
    pub(super) threads: Option<u64>,
    /// See [`threads_at_once`](Self::threads_at_once).
    pub(super) threads_at_once: BTreeMap<CallpathIndex, f64>,
    pub(super) callpaths: CallpathTable,
    pub(super) statistics: Statistics,
    pub(super) metrics: Metrics,
    pub(super) losses: Losses,
    pub(super) incomplete: Option<String>,
    pub(super) precision: Precision,
    /// What a filter took out, in words.
    pub(super) filtered: Option<String>,
    pub(super) total_ns: u128,
    pub(super) host_names: Hosts,
    pub(super) efficiency: Option<Efficiency>,
    pub(super) hints: Vec<Hint>,
    pub(super) own_cost: Option<OwnCost>,
    /// What tables are sorted by, where that was said.
    pub(super) metric: Option<MetricName>,
}

impl Report {
    /// The report of a profile that was read.
    #[must_use]
    pub fn of_profile(profile: &Profile) -> Self {
        let statistics = Statistics::of_profile(profile);
        let hosts = Hosts::new(profile.ranks.iter().map(|facts| facts.host.as_str()).collect());
        let report = Self::without_hints(&profile.manifest, &profile.callpaths, statistics, hosts);
        let hints = hints_of_profile(
            profile,
            &report.statistics,
            &report.host_names,
            report.own_cost.as_ref(),
        );
        let threads: u64 = profile.ranks.iter().map(|rank| u64::from(rank.threads)).sum();
        // Where ranks were selected, those that were not are still there.
        let is_whole = profile.ranks.len() == profile.manifest.ranks as usize;
        let threads = Some(threads).filter(|&threads| threads > 0 && is_whole);
        Self { metrics: Metrics::of_profile(profile), hints, threads, ..report }
    }

    /// The report of a run whose statistics were computed elsewhere, row by row of `callpaths`.
    ///
    /// It bears the name of the program; see [`named`](Self::named). It tells nothing of metrics,
    /// and only the hints that need no value of a rank alone: ranks send each other statistics of
    /// times only.
    #[must_use]
    pub fn new(manifest: &Manifest, callpaths: &CallpathTable, mut statistics: Statistics) -> Self {
        statistics.grow_to(callpaths.len());
        let hosts = Hosts::new(manifest.metadata.hostlist.iter().map(String::as_str).collect());
        let report = Self::without_hints(manifest, callpaths, statistics, hosts);
        let (statistics, own_cost) = (&report.statistics, report.own_cost.as_ref());
        let hints = hints_of_statistics(callpaths, statistics, &report.host_names, own_cost);
        Self { hints, ..report }
    }

    fn without_hints(
        manifest: &Manifest,
        callpaths: &CallpathTable,
        statistics: Statistics,
        host_names: Hosts,
    ) -> Self {
        let efficiency = Efficiency::of_statistics(callpaths, &statistics);
        let rows = callpaths.rows().iter().zip(statistics.rows());
        let roots = rows.filter(|(callpath, _)| callpath.parent.is_none());
        let total_ns = roots.fold(0_u128, |sum, (_, row)| sum.saturating_add(row.inclusive.sum_ns));
        let program = Path::new(&manifest.metadata.executable).file_name();
        Self {
            name: program
                .map_or_else(|| "profile".to_owned(), |name| name.to_string_lossy().into_owned()),
            ranks: manifest.ranks,
            hosts: manifest.metadata.numhosts,
            executions: manifest.executions,
            threads: None,
            threads_at_once: BTreeMap::new(),
            callpaths: callpaths.clone(),
            losses: manifest.losses,
            incomplete: (!manifest.complete).then(|| {
                let because = manifest.incomplete_because.as_deref();
                because.unwrap_or("its run did not come to its end").to_owned()
            }),
            precision: manifest.precision,
            filtered: filtered(&manifest.metadata),
            metrics: Metrics::default(),
            own_cost: OwnCost::of_run(manifest, statistics.rows(), total_ns),
            total_ns,
            host_names,
            efficiency,
            hints: Vec::new(),
            statistics,
            metric: None,
        }
        .with_threads_at_once()
    }

    /// The report of a program that consists of one process, whether or not its profile could be
    /// written.
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
        Self { metrics: Metrics::of_event_map(map), threads, ..report }
    }

    /// The same report under another name, such as that of the profile's directory.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// The same without what the profiler has cost: that is known of a whole run, not of a part
    /// that was selected.
    #[must_use]
    pub fn without_own_cost(self) -> Self {
        Self { own_cost: None, ..self }
    }

    /// What stands out, the costliest first.
    #[must_use]
    pub fn hints(&self) -> &[Hint] {
        &self.hints
    }

    /// How well the ranks were used; none where no region says what it does.
    #[must_use]
    pub const fn efficiency(&self) -> Option<&Efficiency> {
        self.efficiency.as_ref()
    }

    /// What the profiler itself has cost; none where it was not TinyProf that measured.
    #[must_use]
    pub const fn own_cost(&self) -> Option<&OwnCost> {
        self.own_cost.as_ref()
    }

    /// The same without its callpaths: what there is to tell of the run as a whole, in little
    /// memory.
    #[must_use]
    pub fn without_callpaths(self) -> Self {
        let statistics = Statistics::default().with_times(*self.statistics.times());
        Self {
            callpaths: CallpathTable::default(),
            statistics,
            metrics: Metrics::default(),
            threads_at_once: BTreeMap::new(),
            ..self
        }
    }

    /// The inclusive time of the root regions on all ranks together, in nanoseconds: what shares
    /// refer to.
    #[must_use]
    pub const fn total_ns(&self) -> u128 {
        self.total_ns
    }
}
