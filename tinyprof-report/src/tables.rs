//! The tables as CSV, for spreadsheets and scripts: every callpath, every number unrounded, times
//! in nanoseconds.

use std::io::{self, Write};

use tinyprof_format::model::CallpathIndex;

use super::csv::csv_line;
use super::{RankStatistics, Report, SortKey, Spread};

/// The columns of a spread over ranks.
const SPREAD: [&str; 9] = [
    "sum_ns",
    "standard_error_ns",
    "min_ns",
    "mean_ns",
    "max_ns",
    "max_rank",
    "max_host",
    "imbalance",
    "lost_ns",
];

impl Report {
    /// Writes the report as CSV, line by line, in the order of the tree: a line of headings, then
    /// one for each callpath. Cells have the values of [`to_json`](Self::to_json), and null is an
    /// empty cell. Varying metrics are not included, see [`write_top_csv`](Self::write_top_csv),
    /// nor bytes, see [`write_mpi_csv`](Self::write_mpi_csv).
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn write_csv(&self, to: &mut dyn Write) -> io::Result<()> {
        let named = |time: &'static str| SPREAD.map(|what| format!("{time}_{what}"));
        let headings = ["path", "name", "depth", "ranks", "visits"].map(str::to_owned).into_iter();
        let headings = headings.chain(named("inclusive")).chain(named("exclusive"));
        put(to, headings.chain(["variation".to_owned()]))?;
        for index in self.in_tree_order() {
            let row = &self.statistics.row(index.row());
            let cells = self.first_cells(index).into_iter();
            let spreads = self.spread_cells(row, &row.inclusive).into_iter();
            let spreads = spreads.chain(self.spread_cells(row, &row.exclusive));
            put(to, cells.chain(spreads).chain([number(row.coefficient_of_variation())]))?;
        }
        Ok(())
    }

    /// Writes the tree as CSV, line by line, with a column `value` if the report is sorted by a
    /// metric.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn write_tree_csv(&self, to: &mut dyn Write) -> io::Result<()> {
        let value = self.metric.is_some().then(|| "value".to_owned());
        let headings = ["path", "name", "depth", "ranks", "visits"].map(str::to_owned).into_iter();
        put(to, headings.chain(value))?;
        for index in self.in_tree_order() {
            let value = self.metric.as_ref().map(|metric| self.metric_number(index, metric));
            put(to, self.first_cells(index).into_iter().chain(value))?;
        }
        Ok(())
    }

    /// Writes the `count` callpaths of [`to_top_text`](Self::to_top_text) as CSV, line by line.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn write_top_csv(&self, count: usize, to: &mut dyn Write) -> io::Result<()> {
        let recorded = matches!(self.metric, Some(SortKey::Key(_)));
        let headings = if recorded {
            ["path", "values", "sum", "min", "mean", "max"]
        } else {
            ["path", "exclusive_ns", "inclusive_ns", "ranks", "visits", "total_inclusive_ns"]
        };
        put(to, headings)?;
        for index in self.top(count) {
            let row = &self.statistics.row(index.row());
            let path = self.path(index).unwrap_or_default();
            let metric = match &self.metric {
                Some(SortKey::Key(key)) => self.recorded(index, key),
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
                    self.base.ns().to_string(),
                ],
            };
            put(to, cells)?;
        }
        Ok(())
    }

    fn first_cells(&self, index: CallpathIndex) -> [String; 5] {
        let (callpath, row) = (self.callpaths.get(index), &self.statistics.row(index.row()));
        [
            self.path(index).unwrap_or_default(),
            callpath.region.name.clone(),
            callpath.depth.to_string(),
            row.ranks.to_string(),
            row.visits.to_string(),
        ]
    }

    /// Returns the value of `metric` at a callpath, unrounded; empty if there is none.
    pub(super) fn metric_number(&self, index: CallpathIndex, metric: &SortKey) -> String {
        let row = &self.statistics.row(index.row());
        match metric {
            SortKey::Inclusive => row.inclusive.sum_ns.to_string(),
            SortKey::Exclusive => row.exclusive.sum_ns.to_string(),
            SortKey::Visits => row.visits.to_string(),
            SortKey::Key(key) => {
                self.recorded(index, key).map_or_else(String::new, |row| row.sum.to_string())
            }
        }
    }

    fn spread_cells(&self, row: &RankStatistics, spread: &Spread) -> [String; 9] {
        if row.ranks == 0 {
            return Default::default();
        }
        [
            spread.sum_ns.to_string(),
            number(spread.standard_error_ns()),
            spread.min_ns.to_string(),
            number(row.mean_ns(spread)),
            spread.max_ns.to_string(),
            spread.max_rank.to_string(),
            self.host_names.name(spread.max_host).unwrap_or_default().to_owned(),
            number(row.imbalance(spread)),
            row.lost_ns(spread).to_string(),
        ]
    }
}

pub(super) fn number(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}

pub(super) fn put(
    to: &mut dyn Write,
    cells: impl IntoIterator<Item = impl AsRef<str>>,
) -> io::Result<()> {
    to.write_all(csv_line(cells).as_bytes())
}
