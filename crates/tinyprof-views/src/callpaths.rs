//! All callpaths of a report, or all regions, with every number as measured, in nanoseconds.

use std::io::{self, Write};

use serde_json::{Map, Value, json};
use tinyprof_format::model::{CallpathIndex, JobCommand, JobCommands, Region};
use tinyprof_report::cells::whole;
use tinyprof_report::{Adjusted, Datum, Finding, Metric, Report, TextOptions, in_tree_order};

use crate::clock::clock_json;
use crate::csv::put;
use crate::json_list::{LongJson, integer};
use crate::mpi::mpi_json;
use crate::paths::path;
use crate::processors::processors_json;
use crate::spread::{spread_cells, spread_headings, spread_json};
use crate::view::View;

/// The first columns of tables of callpaths.
pub(crate) const FIRST: [&str; 5] = ["path", "name", "depth", "ranks", "visits"];

/// All callpaths of a report, or all regions.
///
/// The text is that of [`Report::to_text`]. The CSV has a line for each callpath, in the order of
/// the tree, whose cells have the values of the JSON; null is an empty cell. It has no varying
/// metrics, see [`Top`](crate::Top), and no bytes, see [`MpiView`](crate::MpiView).
///
/// The JSON has the facts of the run, its losses, and every callpath in the order of the table, so
/// that a parent precedes its children. Nothing is folded.
///
/// Times are integers in nanoseconds. Means and imbalances are floating-point, as are sums that do
/// not fit 64 bits. `parent`, and `callpath` of a hint, are positions in `callpaths`. `max_host` is
/// the host of `max_rank`, and `lost` the sum over ranks of maximum - mean. `filtered` is a
/// sentence. `bytes_out` and `bytes_in` count messages, collective operations and files at the
/// callpath itself; they are 0 in a report of statistics over ranks. These members may be null:
///
/// * `threads` if one thread did all that is known of a callpath, and in it all but `busy` at a
///   place that was sampled, where `busy` may be null,
/// * `inclusive_ns` and `exclusive_ns` if no rank visited the callpath, and `standard_error` in
///   them if every visit was timed.
/// * A number in `metrics` if it is infinite or unknown.
/// * `max_host` if there is only one host, or it is unknown.
/// * `variation` if no rank has two executions.
/// * `efficiency` if no region declares its activity, `parallel` and `communication` in it if
///   no region is tagged as communication, `serialisation` and `transfer` if the profile is not
///   of level `messages`, and `processors` if the run-queue delay is not known of every rank.
/// * `processors` if nothing is known of processor times, and `delay_share` in it if the run-queue
///   delay is not known; `ranks` in it is empty in a report of statistics over ranks.
/// * `clock`, and `through_others_ns` and `uncertainty_ns` in `overhead`, unless the profile is
///   of level `messages`. Then each callpath has `adjusted`: the time of all ranks without
///   measurement, and the parts of the difference.
/// * `filtered` if there was no filter of regions.
/// * `mpi` if there are no MPI calls.
/// * `overhead` if another profiler measured, and the costs of visits in it, and their errors, if
///   they were not measured.
/// * `threads` if it is unknown.
/// * `threads_at_once` unless the work of a callpath went to other threads. If it did, the
///   times of its callees, added up over threads, are this many times its own, and its
///   `exclusive_ns` is meaningless.
/// * `path` if it would be longer than 16 KiB; that of a hint also if it has no callpath.
///
/// A callpath that waits for half of its time or more has `waits_for`: the fewest ranks that cause
/// half of that, such as `2` or `0-3`, or `many`.
///
/// A report [by region](crate::by_region) has `regions` in place of `callpaths`, each with the
/// number of its `callpaths`.
#[derive(Clone, Copy, Debug)]
pub struct Callpaths<'a> {
    report: &'a Report,
    options: TextOptions,
}

impl<'a> Callpaths<'a> {
    /// Returns the table of a report; the width of `options` does not matter.
    #[must_use]
    pub const fn new(report: &'a Report, options: TextOptions) -> Self {
        Self { report, options }
    }
}

impl View for Callpaths<'_> {
    fn text(&self, width_columns: u16) -> String {
        self.report.to_text(&self.options.with_width(width_columns))
    }

    fn json(&self) -> LongJson<'_> {
        report_json(self.report)
    }

    fn write_csv(&self, to: &mut dyn Write) -> io::Result<()> {
        let report = self.report;
        let headings = FIRST.map(str::to_owned).into_iter();
        let headings = headings.chain(spread_headings("inclusive"));
        let headings = headings.chain(spread_headings("exclusive"));
        put(to, headings.chain(["variation".to_owned()]))?;
        for index in in_tree_order(report) {
            let row = &report.statistics.row(index.row());
            let cells = first_cells(report, index).into_iter();
            let spreads = spread_cells(report, row, &row.inclusive).into_iter();
            let spreads = spreads.chain(spread_cells(report, row, &row.exclusive));
            let variation = Datum::float(row.coefficient_of_variation()).into_cell();
            put(to, cells.chain(spreads).chain([variation]))?;
        }
        Ok(())
    }
}

/// Returns a report as JSON that is generated while it is written: see [`Callpaths`].
#[must_use]
pub fn report_json(report: &Report) -> LongJson<'_> {
    let losses: Map<String, Value> =
        report.losses.named().into_iter().map(|(name, n)| (name.to_owned(), n.into())).collect();
    let members = json!({
        "name": report.name,
        "ranks": report.ranks,
        "hosts": report.hosts,
        "executions": report.executions,
        "threads": report.threads,
        "total_inclusive_ns": integer(report.base.ns()),
        "startup_ns": integer(report.base.startup_ns()),
        "complete": report.incomplete.is_none(),
        "incomplete_because": report.incomplete,
        "precision": report.precision,
        "filtered": report.filtered,
        "losses": losses,
        "efficiency": report.efficiency.map(|found| json!({
            "parallel": found.parallel,
            "load_balance": found.load_balance,
            "communication": found.communication,
            "serialisation": found.serialisation,
            "transfer": found.transfer,
            "processors": found.processors,
            "io_share": found.io_share,
        })),
        "processors": processors_json(report),
        "mpi": mpi_json(report),
        "hints": report.findings.iter().map(|finding| finding_json(report, finding)).collect::<Vec<_>>(),
        "overhead": report.overhead.map(|cost| json!({
            "visits": cost.visits,
            "visits_not_timed": cost.visits_not_timed,
            "visit_cost_ns": cost.visit_cost_ns,
            "visit_cost_error_ns": cost.visit_cost_error_ns,
            "root_visit_cost_ns": cost.root_visit_cost_ns,
            "root_visit_cost_error_ns": cost.root_visit_cost_error_ns,
            "counted_visit_cost_ns": cost.counted_visit_cost_ns,
            "timing_ns": cost.timing_ns(),
            "starting_ns": cost.starting_ns,
            "writing_ns": cost.writing_ns,
            "a_rank_ns": cost.a_rank_ns(),
            "share": cost.share(),
            "through_others_ns": cost.through_others_ns(),
            "uncertainty_ns": cost.uncertainty_ns(),
        })),
        "clock": report.clock.as_ref().map(clock_json),
        "commands": commands_json(&report.commands),
    });
    LongJson::new(members, rows_key(report), move || {
        report.callpaths.iter().map(move |(index, _)| callpath_json(report, index))
    })
}

/// Returns the commands of a job.
fn commands_json(commands: &JobCommands) -> Value {
    let command = |command: &JobCommand| {
        json!({
            "command": command.verb,
            "argument": Some(&command.argument).filter(|argument| !argument.is_empty()),
            "by": command.by,
            "date_ns": command.date_ns,
            "at_ns": command.at_ns,
            "lasted_ns": command.lasted_ns,
            "ranks": command.given,
            "ranks_done": command.done,
            "ranks_missing": command.missing,
            "latest_ns": command.latest_ns,
            "late": command.late,
            "late_ranks": command.late_ranks,
        })
    };
    json!({
        "list": commands.commands.iter().map(command).collect::<Vec<_>>(),
        "without_room": commands.without_room,
        "off_ns": commands.off_ns,
        "ranks_off": commands.ranks_off,
    })
}

/// Returns the key of the list of callpaths or regions.
pub(crate) const fn rows_key(report: &Report) -> &'static str {
    if report.callpaths_of_regions.is_some() { "regions" } else { "callpaths" }
}

/// Returns an entry of the list `callpaths` of [`Callpaths`].
pub(crate) fn callpath_json(report: &Report, index: CallpathIndex) -> Value {
    let (callpath, row) = (report.callpaths.get(index), &report.statistics.row(index.row()));
    let transfers = report.transfers_of(index);
    let metrics = report.metrics.of_callpath(index).iter();
    let metrics: Map<String, Value> =
        metrics.map(|metric| (metric.key.clone(), metric_json(metric))).collect();
    let of_one_thread = |ns| report.time_of_one_thread(index, ns);
    let mut entry = json!({
        "id": format!("{:016x}", callpath.id.to_bits()),
        "parent": callpath.parent.map(CallpathIndex::row),
        "path": path(report, index),
        "name": callpath.region.name,
        "depth": callpath.depth,
        "site": site_json(&callpath.region),
        "ranks": row.ranks,
        "visits": row.visits,
        "share": report.base.inclusive_share(index, of_one_thread(row.inclusive.sum_ns)),
        "exclusive_share": report.base.exclusive_share(index, of_one_thread(row.exclusive.sum_ns)),
        "startup_ns": integer(report.base.startup_in(index)),
        "inclusive_ns": spread_json(report, row, &row.inclusive),
        "exclusive_ns": spread_json(report, row, &row.exclusive),
        "threads_at_once": report.threads_at_once(index),
        "threads": threads_json(report, index),
        "variation": row.coefficient_of_variation(),
        "bytes_out": transfers.out().bytes,
        "bytes_in": transfers.into_rank().bytes,
        "metrics": metrics,
    });
    if let Some(waited) = report.waited_for.get(&index) {
        entry["waits_for"] = waited.text().into();
    }
    if let Some(adjusted) = report.adjusted.get(index.row()) {
        entry["adjusted"] = adjusted_json(*adjusted);
    }
    if let Some(callpaths) = &report.callpaths_of_regions {
        entry["callpaths"] = callpaths[index.row()].into();
    }
    entry
}

fn finding_json(report: &Report, finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.word(),
        "callpath": finding.place.map(CallpathIndex::row),
        "path": finding.place.and_then(|index| path(report, index)),
        "rank": finding.rank(),
        "iteration": finding.iteration,
        "lost_ns": finding.lost_ns.round(),
        "sampled": finding.sampled.as_ref().map(|place| json!({
            "name": place.name,
            "here_ns": place.here_ns.round(),
            "elsewhere_ns": place.elsewhere_ns.map(f64::round),
        })),
        "headline": finding.words.headline,
        "evidence": finding.words.evidence,
        "advice": finding.words.advice,
    })
}

pub(crate) fn first_cells(report: &Report, index: CallpathIndex) -> [String; 5] {
    let (callpath, row) = (report.callpaths.get(index), &report.statistics.row(index.row()));
    [
        path(report, index).unwrap_or_default(),
        callpath.region.name.clone(),
        callpath.depth.to_string(),
        row.ranks.to_string(),
        row.visits.to_string(),
    ]
}

/// Returns the threads of a callpath in which several worked. Those of `longest_ns` are not known
/// at a place that was sampled.
fn threads_json(report: &Report, index: CallpathIndex) -> Value {
    let Some(sums) = report.threads_of(index) else { return Value::Null };
    let longest = sums.count().map(|_| integer(whole(sums.longest_ns)));
    json!({
        "count": sums.count(),
        "busy": report.busy_threads(index),
        "longest_ns": longest,
        "longest_rank": longest.map(|_| sums.longest_rank),
        "largest_visit_ns": sums.count().map(|_| sums.largest_visit_ns),
        "imbalance": sums.imbalance(),
    })
}

fn adjusted_json(times: Adjusted) -> Value {
    json!({
        "time_ns": times.ns(),
        "local_ns": times.local_ns,
        "propagated_ns": times.propagated_ns,
        "uncertainty_ns": times.uncertainty_ns,
    })
}

fn metric_json(metric: &Metric) -> Value {
    json!({
        "values": metric.values,
        "sum": metric.sum,
        "min": metric.min,
        "mean": metric.mean(),
        "max": metric.max,
    })
}

fn site_json(region: &Region) -> Value {
    json!({
        "id": format!("{:016x}", region.site.to_bits()),
        "file": region.file,
        "line": region.line,
        "column": region.column,
        "module": region.module,
        "kind": region.kind,
        "mode": region.mode,
        "rank_local": region.rank_local,
        "constants": region.constants,
    })
}
