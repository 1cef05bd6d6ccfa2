//! The hottest callpaths by exclusive time: a flat list of the candidates for improvement.

use std::io::{self, Write};

use serde_json::json;
use tinyprof_format::model::CallpathIndex;
use tinyprof_report::cells::{
    below, columns, count_cell, cut, number_cell, share_cell, shown, time_cell,
};
use tinyprof_report::{Report, SortKey, head};

use crate::callpaths::{callpath_json, rows_key};
use crate::csv::put;
use crate::json_list::{LongJson, integer};
use crate::paths::{path, shown_path};
use crate::view::View;

/// The maximum width of a heading, in columns: keys may be long.
const HEADING_MAX: usize = 20;

/// The callpaths with the greatest exclusive time, or with the greatest value of the requested
/// [metric](Report::by_metric).
///
/// Times and visits are those of all ranks together; the share is a part of the roots' inclusive
/// time. A time that is an estimate is marked with `~`. The JSON has `callpaths` as in
/// [`Callpaths`](crate::Callpaths), but without `parent`.
#[derive(Clone, Copy, Debug)]
pub struct Top<'a> {
    report: &'a Report,
    count: usize,
}

impl<'a> Top<'a> {
    /// Returns the table of the first `count` callpaths of a report.
    #[must_use]
    pub const fn new(report: &'a Report, count: usize) -> Self {
        Self { report, count }
    }

    /// Returns the callpaths that were visited, sorted by the metric, then in the order of the
    /// table.
    fn rows(&self) -> Vec<CallpathIndex> {
        let report = self.report;
        let visited = report
            .callpaths
            .iter()
            .map(|(index, _)| index)
            .filter(|index| report.statistics.row(index.row()).ranks > 0);
        let mut top: Vec<CallpathIndex> = match &report.metric {
            Some(SortKey::Key(key)) => report
                .callpaths
                .iter()
                .map(|(index, _)| index)
                .filter(|at| report.recorded(*at, key).is_some())
                .collect(),
            _ => visited.collect(),
        };
        let metric = report.metric.as_ref().unwrap_or(&SortKey::Exclusive);
        top.sort_by(|left, right| report.in_order_of(metric, *left, *right));
        top.truncate(self.count);
        top
    }
}

impl View for Top<'_> {
    fn text(&self, width_columns: u16) -> String {
        let report = self.report;
        let width = usize::from(width_columns);
        let top = self.rows();
        let headings = headings(report);
        let cells: Vec<[String; 4]> = top.iter().map(|index| cells(report, *index)).collect();
        let widths: [usize; 4] = std::array::from_fn(|column| {
            let widest = cells.iter().map(|cells| cells[column].len()).max();
            widest.unwrap_or(0).max(columns(&headings[column]))
        });
        let numbers = |cells: [&str; 4]| -> String {
            let padded = |(cell, width): (&&str, usize)| {
                format!("{}{cell}  ", " ".repeat(width.saturating_sub(columns(cell))))
            };
            cells.iter().zip(widths).map(padded).collect()
        };
        let headings = numbers(headings.each_ref().map(String::as_str));
        let room = width.saturating_sub(columns(&headings)).max(20);
        let mut text = head(report, width);
        text.push_str(&format!("{headings}{}\n", report.row_word()));
        for (index, cells) in top.into_iter().zip(&cells) {
            let path = cut(&shown_path(report, index, room), room);
            text.push_str(&format!(
                "{}{path}\n",
                numbers(std::array::from_fn(|column| cells[column].as_str()))
            ));
        }
        text
    }

    fn json(&self) -> LongJson<'_> {
        let report = self.report;
        let members = json!({
            "name": report.name,
            "ranks": report.ranks,
            "total_inclusive_ns": integer(report.base.ns()),
            "startup_ns": integer(report.base.startup_ns()),
        });
        let top = self.rows();
        let callpath = move |index: CallpathIndex| {
            let mut callpath = callpath_json(report, index);
            if let Some(keys) = callpath.as_object_mut() {
                // `parent` is a position in a list that is not part of this JSON.
                keys.remove("parent");
            }
            callpath
        };
        LongJson::new(members, rows_key(report), move || top.clone().into_iter().map(callpath))
    }

    fn write_csv(&self, to: &mut dyn Write) -> io::Result<()> {
        let report = self.report;
        let recorded = matches!(report.metric, Some(SortKey::Key(_)));
        let headings = if recorded {
            ["path", "values", "sum", "min", "mean", "max"]
        } else {
            ["path", "exclusive_ns", "inclusive_ns", "ranks", "visits", "total_inclusive_ns"]
        };
        put(to, headings)?;
        for index in self.rows() {
            let row = &report.statistics.row(index.row());
            let path = path(report, index).unwrap_or_default();
            let metric = match &report.metric {
                Some(SortKey::Key(key)) => report.recorded(index, key),
                _ => None,
            };
            let cells = match metric {
                Some(metric) => [
                    path,
                    metric.values.to_string(),
                    metric.sum.to_string(),
                    metric.min.to_string(),
                    metric.mean().map_or_else(String::new, |mean| mean.to_string()),
                    metric.max.to_string(),
                ],
                None => [
                    path,
                    row.exclusive.sum_ns.to_string(),
                    row.inclusive.sum_ns.to_string(),
                    row.ranks.to_string(),
                    row.visits.to_string(),
                    report.base.ns().to_string(),
                ],
            };
            put(to, cells)?;
        }
        Ok(())
    }
}

fn headings(report: &Report) -> [String; 4] {
    match &report.metric {
        Some(SortKey::Key(key)) => {
            [cut(&shown(key), HEADING_MAX), "mean".into(), "max".into(), "values".into()]
        }
        Some(SortKey::Inclusive) => {
            ["inclusive", "share", "per visit", "visits"].map(str::to_owned)
        }
        _ => ["exclusive", "share", "per visit", "visits"].map(str::to_owned),
    }
}

fn cells(report: &Report, index: CallpathIndex) -> [String; 4] {
    let row = &report.statistics.row(index.row());
    let time = match &report.metric {
        Some(SortKey::Key(key)) => {
            let Some(recorded) = report.recorded(index, key) else { return Default::default() };
            return [
                number_cell(recorded.sum),
                recorded.mean().map_or_else(|| "-".to_owned(), number_cell),
                number_cell(recorded.max),
                count_cell(recorded.values),
            ];
        }
        Some(SortKey::Inclusive) => &row.inclusive,
        _ => &row.exclusive,
    };
    let startup_ns = match report.metric {
        Some(SortKey::Inclusive) => report.base.startup_in(index),
        _ => report.base.startup_itself(index),
    };
    let (mark, ns) = time.shown_ns(None);
    let visit_ns = ns.checked_div(u128::from(row.visits)).unwrap_or(0);
    [
        format!("{mark}{}", time_cell(ns)),
        below(mark, share_cell(&report.base, ns, startup_ns)),
        format!("{mark}{}", time_cell(visit_ns)),
        count_cell(row.visits),
    ]
}
