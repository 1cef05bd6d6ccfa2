//! The callpath tree alone: regions, their callers and visits. Nothing is folded.

use std::io::{self, Write};

use serde_json::json;
use tinyprof_format::model::CallpathIndex;
use tinyprof_report::cells::{columns, count_cell, cut, number_cell, shown, sum_cell};
use tinyprof_report::{Report, SortKey, head, in_tree_order, indent};

use crate::callpaths::{FIRST, first_cells};
use crate::csv::put;
use crate::json_list::LongJson;
use crate::paths::path;
use crate::view::View;

/// The headings of the two columns of numbers.
const VISITS: &str = "visits";
const RANKS: &str = "ranks";

/// The maximum width of a heading, in columns: keys may be long.
const HEADING_MAX: usize = 20;

/// The callpath tree: every callpath with its visits on all ranks together and the number of ranks
/// that visited it.
///
/// Siblings are sorted by inclusive time, or by the requested [metric](Report::by_metric), which
/// then has a column too.
///
/// The JSON has `callpaths` in the order of the tree, with `path`, `name`, `depth`, `ranks` and
/// `visits`, and `value` if there is a metric. `path` is null if it would be longer than 16 KiB.
#[derive(Clone, Copy, Debug)]
pub struct Tree<'a> {
    report: &'a Report,
}

impl<'a> Tree<'a> {
    /// Returns the tree of a report.
    #[must_use]
    pub const fn new(report: &'a Report) -> Self {
        Self { report }
    }
}

impl View for Tree<'_> {
    fn text(&self, width_columns: u16) -> String {
        let report = self.report;
        let width = usize::from(width_columns);
        let mut text = head(report, width);
        let rows = in_tree_order(report);
        let counts = |index: &CallpathIndex| {
            let row = &report.statistics.row(index.row());
            (row.visits.to_string(), row.ranks.to_string())
        };
        let counts: Vec<(String, String)> = rows.iter().map(counts).collect();
        let visits_width =
            counts.iter().map(|(visits, _)| visits.len()).max().unwrap_or(0).max(VISITS.len());
        let ranks_width =
            counts.iter().map(|(_, ranks)| ranks.len()).max().unwrap_or(0).max(RANKS.len());
        let values = value_column(report, &rows);
        let value_width = values.first().map_or(0, |heading| columns(heading));
        let tree_width = width.saturating_sub(visits_width + ranks_width + value_width + 4).max(20);
        let mut values = values.into_iter();
        let mut value = || values.next().unwrap_or_default();
        text.push_str(&format!(
            "{VISITS:>visits_width$}  {RANKS:>ranks_width$}  {}callpath\n",
            value()
        ));
        for (index, (visits, ranks)) in rows.into_iter().zip(counts) {
            let callpath = report.callpaths.get(index);
            let indent = indent(callpath.depth as usize, tree_width);
            let name =
                cut(&shown(&callpath.region.name), tree_width.saturating_sub(columns(&indent)));
            text.push_str(&format!(
                "{visits:>visits_width$}  {ranks:>ranks_width$}  {}{indent}{name}\n",
                value()
            ));
        }
        text
    }

    fn json(&self) -> LongJson<'_> {
        let report = self.report;
        let metric = report.metric.as_ref().map(ToString::to_string);
        let members = json!({ "name": report.name, "ranks": report.ranks, "metric": metric });
        let order = in_tree_order(report);
        let callpath = move |index: CallpathIndex| {
            let callpath = report.callpaths.get(index);
            let row = &report.statistics.row(index.row());
            let mut entry = json!({
                "path": path(report, index),
                "name": callpath.region.name,
                "depth": callpath.depth,
                "ranks": row.ranks,
                "visits": row.visits,
            });
            if let Some(metric) = &report.metric {
                entry["value"] =
                    serde_json::from_str(&metric_number(report, index, metric)).unwrap_or_default();
            }
            entry
        };
        LongJson::new(members, "callpaths", move || order.clone().into_iter().map(callpath))
    }

    fn write_csv(&self, to: &mut dyn Write) -> io::Result<()> {
        let report = self.report;
        let value = report.metric.is_some().then(|| "value".to_owned());
        let headings = FIRST.map(str::to_owned).into_iter();
        put(to, headings.chain(value))?;
        for index in in_tree_order(report) {
            let value = report.metric.as_ref().map(|metric| metric_number(report, index, metric));
            put(to, first_cells(report, index).into_iter().chain(value))?;
        }
        Ok(())
    }
}

/// Returns the heading and the values of the metric, aligned, each followed by a gap; empty if
/// there is no metric.
fn value_column(report: &Report, rows: &[CallpathIndex]) -> Vec<String> {
    let Some(metric) = &report.metric else { return Vec::new() };
    // Visits have a column already.
    if *metric == SortKey::Visits {
        return Vec::new();
    }
    let heading = cut(&shown(&metric.to_string()), HEADING_MAX);
    let cells: Vec<String> = std::iter::once(heading)
        .chain(rows.iter().map(|index| metric_cell(report, *index, metric)))
        .collect();
    let width = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
    cells.iter().map(|cell| format!("{}{cell}  ", " ".repeat(width - columns(cell)))).collect()
}

/// Returns the value of `metric` at a callpath, on all ranks together, as shown in tables.
fn metric_cell(report: &Report, index: CallpathIndex, metric: &SortKey) -> String {
    let row = &report.statistics.row(index.row());
    match metric {
        SortKey::Inclusive => sum_cell(&row.inclusive, None),
        SortKey::Exclusive => sum_cell(&row.exclusive, Some(row.inclusive.shown_ns(None).1)),
        SortKey::Visits => count_cell(row.visits),
        SortKey::Key(key) => {
            report.recorded(index, key).map_or("-".to_owned(), |row| number_cell(row.sum))
        }
    }
}

/// Returns the value of `metric` at a callpath, unrounded; empty if there is none.
pub(crate) fn metric_number(report: &Report, index: CallpathIndex, metric: &SortKey) -> String {
    let row = &report.statistics.row(index.row());
    match metric {
        SortKey::Inclusive => row.inclusive.sum_ns.to_string(),
        SortKey::Exclusive => row.exclusive.sum_ns.to_string(),
        SortKey::Visits => row.visits.to_string(),
        SortKey::Key(key) => {
            report.recorded(index, key).map_or_else(String::new, |row| row.sum.to_string())
        }
    }
}
