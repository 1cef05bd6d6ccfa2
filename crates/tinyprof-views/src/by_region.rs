//! The report by region: a flat table, in which each region is summed over its callpaths.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathId, CallpathIndex, CallpathTable, Region};
use tinyprof_report::{
    Finding, RankStatistics, RegionKey, Report, SortKey, Statistics, ThreadSums, Totals, Transfers,
};

/// The regions of a callpath table.
struct Regions {
    /// A callpath for each region, which is a root.
    table: CallpathTable,
    /// The region of each callpath, by row.
    of_callpath: Vec<CallpathIndex>,
    /// False for callpaths below another one of the same region, whose time that one contains.
    is_outermost: Vec<bool>,
    /// The number of callpaths of each region, by row.
    callpaths: Vec<u32>,
}

/// Returns the report of the totals of a profile by region: its tables have a row for each region
/// in place of each callpath, sorted by exclusive time. Samples of a function are one region.
///
/// The inclusive time of a region that calls
/// itself is counted once. Calls of an MPI function are one region, wherever they are.
///
/// Findings have no callpath, because the table has none.
///
/// # Cost
/// Linear in the numbers of callpaths and ranks.
#[must_use]
pub fn by_region(totals: &Totals) -> Report {
    report_by(totals, |region| RegionKey::of(region))
}

/// Returns the report of the totals of a profile by line: as [`by_region`], with a row for each
/// line that was sampled.
///
/// # Cost
/// That of [`by_region`].
#[must_use]
pub fn by_line(totals: &Totals) -> Report {
    report_by(totals, |region| RegionKey::of_line(region))
}

fn report_by(totals: &Totals, key_of: fn(&Region) -> RegionKey<'_>) -> Report {
    let report = Report::of_totals(totals);
    let regions = Regions::of_callpaths(totals.callpaths(), key_of);
    let statistics = regions.statistics(totals).with_times(*report.statistics.times());
    let mut transfers: BTreeMap<CallpathIndex, Transfers> = BTreeMap::new();
    for (callpath, of_callpath) in &report.transfers {
        let region = regions.of_callpath[callpath.row()];
        transfers.entry(region).or_default().absorb(of_callpath);
    }
    let mut thread_sums: BTreeMap<CallpathIndex, ThreadSums> = BTreeMap::new();
    // Which of the threads of several callpaths are the same is not known; samples add up.
    let sampled = report.thread_sums.iter().filter(|(_, sums)| sums.count().is_none());
    for (callpath, sums) in sampled {
        thread_sums.entry(regions.of_callpath[callpath.row()]).or_default().add_place(sums);
    }
    let findings = report.findings.into_iter();
    let findings = findings.map(|finding| Finding { place: None, ..finding }).collect();
    Report {
        metrics: report.metrics.by(&regions.of_callpath),
        statistics,
        transfers,
        waited_for: totals.waited_for_by(|at| regions.of_callpath[at.row()]),
        findings,
        threads_at_once: BTreeMap::new(),
        thread_sums,
        adjusted: Vec::new(),
        base: report.base.by(&regions.of_callpath),
        callpaths: regions.table,
        callpaths_of_regions: Some(regions.callpaths),
        metric: Some(SortKey::Exclusive),
        ..report
    }
}

impl Regions {
    fn of_callpaths(callpaths: &CallpathTable, key_of: fn(&Region) -> RegionKey<'_>) -> Self {
        let mut numbers: BTreeMap<RegionKey<'_>, usize> = BTreeMap::new();
        let mut roots = Vec::new();
        let mut number_of_callpath = Vec::with_capacity(callpaths.len());
        let mut counts: Vec<u32> = Vec::new();
        for callpath in callpaths.rows() {
            let key = key_of(&callpath.region);
            let number = *numbers.entry(key).or_insert_with(|| {
                let name = match key {
                    RegionKey::Mpi(name) | RegionKey::Sampled(name) | RegionKey::Line(name) => {
                        name.to_owned()
                    }
                    RegionKey::Site(_) => callpath.region.name.clone(),
                };
                let region = Region { name, ..Region::clone(&callpath.region) };
                roots.push((CallpathId::root(region.site), None, region));
                counts.push(0);
                counts.len() - 1
            });
            counts[number] += 1;
            number_of_callpath.push(number);
        }
        let ids: Vec<CallpathId> = roots.iter().map(|(id, ..)| *id).collect();
        let table = CallpathTable::from_parents(roots);
        let rows = table.index_by_id();
        let row_of_number: Vec<CallpathIndex> = ids.iter().map(|id| rows[id]).collect();
        let mut callpaths_of_rows = vec![0; table.len()];
        for (row, count) in row_of_number.iter().zip(&counts) {
            callpaths_of_rows[row.row()] = *count;
        }
        Self {
            is_outermost: outermost(callpaths, &number_of_callpath, counts.len()),
            of_callpath: number_of_callpath.iter().map(|number| row_of_number[*number]).collect(),
            callpaths: callpaths_of_rows,
            table,
        }
    }

    fn statistics(&self, totals: &Totals) -> Statistics {
        let mut rows = vec![RankStatistics::default(); self.table.len()];
        for rank in 0..totals.ranks().len() {
            let mut sums = vec![RankStatistics::default(); self.table.len()];
            for (row, one) in Statistics::of_rank(totals, rank).rows().enumerate() {
                let sum = &mut sums[self.of_callpath[row].row()];
                sum.add_callpath(&one, self.is_outermost[row]);
            }
            rows.iter_mut().zip(&sums).for_each(|(all, sum)| all.merge(sum));
        }
        Statistics::from_rows(rows)
    }
}

/// Returns which callpaths have none of the same region above them.
fn outermost(callpaths: &CallpathTable, numbers: &[usize], regions: usize) -> Vec<bool> {
    let children = callpaths.children();
    let mut is_outermost = vec![false; callpaths.len()];
    // The number of callpaths of each region from the root to the current one.
    let mut open = vec![0_u32; regions];
    // An explicit stack: a hostile profile may be deeper than the thread's stack.
    let enter = |index: &CallpathIndex| (*index, false);
    let mut waiting: Vec<(CallpathIndex, bool)> =
        children[callpaths.len()].iter().map(enter).collect();
    while let Some((index, is_left)) = waiting.pop() {
        let region = &mut open[numbers[index.row()]];
        if is_left {
            *region -= 1;
            continue;
        }
        is_outermost[index.row()] = *region == 0;
        *region += 1;
        waiting.push((index, true));
        waiting.extend(children[index.row()].iter().map(enter));
    }
    is_outermost
}
