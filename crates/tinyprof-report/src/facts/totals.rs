//! The times of every callpath on every rank, without their executions: the source of all reports,
//! made callpath by callpath.

pub(crate) mod iterations;
pub(crate) mod metrics;
pub(crate) mod transfers;
pub(crate) mod trend;
pub(crate) mod variation;
pub(crate) mod waits;

use std::collections::{BTreeMap, BTreeSet};

use tinyprof_format::model::{
    Callpath, CallpathIndex, CallpathTable, CallpathValues, EventMap, ExecutionSummary, Manifest,
    Profile, RankFacts,
};

use crate::facts::threads::ThreadSums;
use crate::facts::totals::iterations::Iterations;
use crate::facts::totals::metrics::{Metric, Metrics, metrics_of};
use crate::facts::totals::transfers::Transfers;
use crate::facts::totals::trend::{POINTS_MAX, Trend};
use crate::facts::totals::variation::Variation;
use crate::facts::totals::waits::{WaitSums, Waiting, excess_ns, followed};

/// The visits and times of each callpath on each rank, and the data of reports that are no times.
///
/// A profile of many executions is far larger than its totals: its callpaths can be added one by
/// one, and their values dropped.
///
/// ```
/// use tinyprof_format::text::read_text;
/// use tinyprof_report::{Report, Totals};
///
/// let text = "id,parent,tag,is_loop,times\nmain,null,null,0,0.5-0.25|0.1-0.2\n";
/// let profile = read_text(text.as_bytes())?.profile;
/// let mut totals = Totals::new(&profile.manifest, &profile.callpaths, &profile.ranks);
/// for (index, _) in profile.callpaths.iter() {
///     totals.add(index, &profile.values[index.row()]);
/// }
/// let (main, _) = profile.callpaths.iter().next().unwrap();
/// assert_eq!((totals.visits(main, 0), totals.inclusive_ns(main, 1)), (2, 300_000_000));
/// assert_eq!(Report::of_totals(&totals), Report::of_profile(&profile));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Totals {
    manifest: Manifest,
    callpaths: CallpathTable,
    ranks: Vec<RankFacts>,
    /// The visits and inclusive times, row by row, then by rank.
    of_ranks: Vec<RankTotal>,
    /// The variances of the inclusive times by rank, of rows that have any.
    variances_ns2: BTreeMap<usize, Vec<f64>>,
    /// The variations over all ranks, of rows in which a rank has more than one execution.
    variations: BTreeMap<usize, Variation>,
    metrics: BTreeMap<usize, Vec<Metric>>,
    transfers: BTreeMap<CallpathIndex, Transfers>,
    threads: BTreeMap<CallpathIndex, ThreadSums>,
    trends: BTreeMap<usize, Trend>,
    /// The waiting by rank beyond that without measurement, of rows that wait for other ranks.
    excess_ns: BTreeMap<usize, Vec<f64>>,
    /// The messages and operations by rank of which a partner is known, of rows that have any.
    followed: BTreeMap<usize, Vec<u64>>,
    waits: WaitSums,
    /// The callpaths of which a rank has a series.
    with_series: BTreeSet<CallpathIndex>,
}

/// The sums of a rank at a callpath that it visited.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankSums {
    pub(crate) visits: u64,
    pub(crate) inclusive_ns: u64,
    pub(crate) variance_ns2: f64,
}

/// The total of a rank at a callpath; default if it never visited it.
#[derive(Clone, Copy, Debug, Default)]
struct RankTotal {
    visits: u64,
    inclusive_ns: u64,
}

impl Totals {
    /// Returns the totals of a profile in which no callpath was visited.
    #[must_use]
    pub fn new(manifest: &Manifest, callpaths: &CallpathTable, ranks: &[RankFacts]) -> Self {
        Self {
            manifest: manifest.clone(),
            callpaths: callpaths.clone(),
            ranks: ranks.to_vec(),
            of_ranks: vec![RankTotal::default(); callpaths.len() * ranks.len()],
            variances_ns2: BTreeMap::new(),
            variations: BTreeMap::new(),
            metrics: BTreeMap::new(),
            transfers: BTreeMap::new(),
            threads: BTreeMap::new(),
            trends: BTreeMap::new(),
            excess_ns: BTreeMap::new(),
            followed: BTreeMap::new(),
            waits: WaitSums::new(callpaths, ranks.len()),
            with_series: BTreeSet::new(),
        }
    }

    /// Returns the totals of a whole profile.
    #[must_use]
    pub fn of_profile(profile: &Profile) -> Self {
        let mut totals = Self::new(&profile.manifest, &profile.callpaths, &profile.ranks);
        for ((index, _), values) in profile.callpaths.iter().zip(&profile.values) {
            totals.add(index, values);
        }
        totals
    }

    /// Returns the totals of a program that consists of one process, with this manifest.
    #[must_use]
    pub fn of_event_map(manifest: &Manifest, map: &EventMap) -> Self {
        let facts = RankFacts { losses: map.losses(), ..map.facts.clone() };
        let mut totals = Self::new(manifest, &map.callpaths, &[facts]);
        for ((index, _), values) in map.callpaths.iter().zip(&map.values) {
            totals.add(index, std::slice::from_ref(values));
        }
        totals
    }

    /// Adds a callpath: its values by rank. Callpaths may be added in any order, each once.
    ///
    /// # Panics
    /// If the callpath is not one of the table.
    ///
    /// # Cost
    /// Linear in the number of values.
    pub fn add(&mut self, index: CallpathIndex, values: &[CallpathValues]) {
        let row = index.row();
        let mut variation = Variation::default();
        let mut variances_ns2 = vec![0.0; values.len()];
        let start = row * self.ranks.len();
        for (rank, (total, values)) in self.of_ranks[start..].iter_mut().zip(values).enumerate() {
            let summaries = &values.executions;
            // A row with metrics only has no visits.
            if summaries.is_empty() {
                continue;
            }
            // A damaged profile may have summaries without visits.
            let visits = ExecutionSummary::visits_of(summaries).max(1);
            *total = RankTotal { visits, inclusive_ns: values.inclusive_ns() };
            variances_ns2[rank] = values.sum_variance_ns2();
            variation.merge(&Variation::of_one_rank(summaries));
        }
        if variances_ns2.iter().any(|&ns2| ns2 > 0.0) {
            self.variances_ns2.insert(row, variances_ns2);
        }
        if variation != self.usual_variation(row) {
            self.variations.insert(row, variation);
        }
        let metrics = metrics_of(index, values);
        if !metrics.is_empty() {
            self.metrics.insert(row, metrics);
        }
        self.threads.extend(ThreadSums::of_ranks(values).map(|sums| (index, sums)));
        let transfers = Transfers::of_ranks(values);
        if !transfers.is_empty() {
            self.transfers.insert(index, transfers);
        }
        let excess_ns: Vec<f64> = values.iter().map(excess_ns).collect();
        if excess_ns.iter().any(|ns| *ns != 0.0) {
            self.excess_ns.insert(row, excess_ns);
        }
        let followed: Vec<u64> = values.iter().map(followed).collect();
        if followed.iter().any(|count| *count > 0) {
            self.followed.insert(row, followed);
        }
        self.waits.add(index, values);
        if let Some(iterations) = Iterations::of_ranks(values, POINTS_MAX) {
            self.with_series.insert(index);
            self.trends.extend(Trend::of(&iterations).map(|trend| (row, trend)));
        }
    }

    /// Returns the facts of the run.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the dictionary.
    #[must_use]
    pub const fn callpaths(&self) -> &CallpathTable {
        &self.callpaths
    }

    /// Returns the facts that each rank reports about itself, by rank.
    #[must_use]
    pub fn ranks(&self) -> &[RankFacts] {
        &self.ranks
    }

    /// Returns the visits of a rank; 0 if it never came to the callpath.
    ///
    /// # Panics
    /// If the callpath or the rank is not of this profile.
    #[must_use]
    pub fn visits(&self, index: CallpathIndex, rank: usize) -> u64 {
        self.row(index.row())[rank].visits
    }

    /// Returns the inclusive time of a rank, in nanoseconds.
    ///
    /// # Panics
    /// If the callpath or the rank is not of this profile.
    #[must_use]
    pub fn inclusive_ns(&self, index: CallpathIndex, rank: usize) -> u64 {
        self.row(index.row())[rank].inclusive_ns
    }

    /// Returns the inclusive time of all ranks together, in nanoseconds.
    ///
    /// # Panics
    /// If the callpath is not of this profile.
    #[must_use]
    pub fn total_ns(&self, index: CallpathIndex) -> u128 {
        self.row(index.row()).iter().map(|total| u128::from(total.inclusive_ns)).sum()
    }

    /// Returns the number of messages and operations by rank of which a partner is known; none if
    /// no rank has any.
    pub(crate) fn followed(&self, index: CallpathIndex) -> Option<&[u64]> {
        self.followed.get(&index.row()).map(Vec::as_slice)
    }

    /// Returns true if any rank has edges between calls.
    pub(crate) const fn are_edges_recorded(&self) -> bool {
        self.waits.are_recorded
    }

    /// Returns true if a rank has a series of the callpath's visits.
    #[must_use]
    pub fn has_series(&self, index: CallpathIndex) -> bool {
        self.with_series.contains(&index)
    }

    /// Returns the exclusive times, in nanoseconds: row by row, then by rank.
    ///
    /// # Cost
    /// Linear in callpaths x ranks.
    #[must_use]
    pub fn exclusive_ns(&self) -> Vec<Vec<u64>> {
        self.without_children(|_| true)
    }

    /// Returns the exclusive times as [`exclusive_ns`](Self::exclusive_ns), with those of samples
    /// in the regions around them, and 0 for the samples.
    #[must_use]
    pub fn exclusive_with_samples_ns(&self) -> Vec<Vec<u64>> {
        let is_part =
            |callpath: &Callpath| callpath.parent.is_some() && callpath.region.is_sampled();
        let mut own_ns = self.without_children(|child| !is_part(child));
        for (own_ns, callpath) in own_ns.iter_mut().zip(self.callpaths.rows()) {
            if is_part(callpath) {
                own_ns.fill(0);
            }
        }
        own_ns
    }

    fn without_children(&self, counts: impl Fn(&Callpath) -> bool) -> Vec<Vec<u64>> {
        let ranks = self.ranks.len();
        let mut below_ns: Vec<Vec<u64>> = vec![Vec::new(); self.callpaths.len()];
        for (index, callpath) in self.callpaths.iter() {
            let Some(parent) = callpath.parent.filter(|_| counts(callpath)) else { continue };
            let below_ns = &mut below_ns[parent.row()];
            below_ns.resize(ranks, 0);
            for (below_ns, total) in below_ns.iter_mut().zip(self.row(index.row())) {
                *below_ns = below_ns.saturating_add(total.inclusive_ns);
            }
        }
        for (row, below_ns) in below_ns.iter_mut().enumerate() {
            below_ns.resize(ranks, 0);
            // The children may take more time than the parent: they ran on several threads, or the
            // clock stepped.
            for (ns, total) in below_ns.iter_mut().zip(self.row(row)) {
                *ns = total.inclusive_ns.saturating_sub(*ns);
            }
        }
        below_ns
    }

    /// Returns the sums of a rank; none if it never came to the row's callpath.
    pub(crate) fn sums(&self, row: usize, rank: usize) -> Option<RankSums> {
        let RankTotal { visits, inclusive_ns } = self.row(row)[rank];
        let variance_ns2 = self.variances_ns2.get(&row).map_or(0.0, |of_ranks| of_ranks[rank]);
        (visits > 0).then_some(RankSums { visits, inclusive_ns, variance_ns2 })
    }

    /// Returns the first rank that came to the row's callpath, if any did.
    pub(crate) fn first_rank(&self, row: usize) -> Option<usize> {
        self.row(row).iter().position(|total| total.visits > 0)
    }

    /// Returns the variation of a row over all ranks.
    pub(crate) fn variation(&self, row: usize) -> Variation {
        self.variations.get(&row).copied().unwrap_or_else(|| self.usual_variation(row))
    }

    pub(crate) fn metrics(&self) -> Metrics {
        Metrics::of_rows(self.metrics.values().flatten().cloned().collect())
    }

    pub(crate) const fn threads(&self) -> &BTreeMap<CallpathIndex, ThreadSums> {
        &self.threads
    }

    pub(crate) const fn transfers(&self) -> &BTreeMap<CallpathIndex, Transfers> {
        &self.transfers
    }

    /// Returns the waiting of a rank beyond that without measurement, in nanoseconds: 0 where a row
    /// does not wait.
    pub(crate) fn excess_ns(&self, row: usize, rank: usize) -> f64 {
        self.excess_ns.get(&row).map_or(0.0, |of_ranks| of_ranks[rank])
    }

    /// Returns who waits for whom after start-up, the longest first.
    pub(crate) fn waits(&self) -> Vec<Waiting> {
        let entries = self.waits.entries().into_iter();
        entries.filter(|entry| !entry.is_startup).collect()
    }

    /// Returns the barriers that are followed by an operation in which all ranks wait for each
    /// other, with the callpath of that.
    pub(crate) fn barriers_first(&self) -> Vec<(CallpathIndex, CallpathIndex)> {
        self.waits.barriers_first()
    }

    /// Returns the change of a callpath from visit to visit, if it is worth a hint.
    pub(crate) fn trend(&self, index: CallpathIndex) -> Option<&Trend> {
        self.trends.get(&index.row())
    }

    /// Returns the variation of a row in which no rank has more than one execution.
    fn usual_variation(&self, row: usize) -> Variation {
        let ranks = self.row(row).iter().filter(|total| total.visits > 0).count();
        Variation { executions: ranks as u64, ..Variation::default() }
    }

    fn row(&self, row: usize) -> &[RankTotal] {
        let ranks = self.ranks.len();
        &self.of_ranks[row * ranks..(row + 1) * ranks]
    }
}
