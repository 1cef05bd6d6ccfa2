//! The tables as CSV, for spreadsheets and scripts: every callpath, every number unrounded, times in nanoseconds.

use crate::model::CallpathIndex;

use super::csv::csv_line;
use super::{MetricName, RankStatistics, Report, Spread};

/// What is told of a spread over ranks.
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
    /// The report as CSV, in the order of the tree: a line of headings, then one for each callpath. Means, and what
    /// [`to_json`](Self::to_json) has as null, as there; null is an empty cell. Varying metrics are not in it, see
    /// [`to_top_csv`](Self::to_top_csv).
    #[must_use]
    pub fn to_csv(&self) -> String {
        let named = |time: &'static str| SPREAD.map(|what| format!("{time}_{what}"));
        let headings = ["path", "name", "depth", "ranks", "visits"].map(str::to_owned).into_iter();
        let mut csv = csv_line(
            headings.chain(named("inclusive")).chain(named("exclusive")).chain(["variation".to_owned()]),
        );
        let paths = self.paths();
        for index in self.in_tree_order() {
            let row = &self.statistics.rows()[index.row()];
            let cells = self.first_cells(index, &paths).into_iter();
            let spreads = self.spread_cells(row, &row.inclusive).into_iter();
            let spreads = spreads.chain(self.spread_cells(row, &row.exclusive));
            csv.push_str(&csv_line(cells.chain(spreads).chain([number(row.coefficient_of_variation())])));
        }
        csv
    }

    /// The tree as CSV, and `value` if the report is in the order of a metric.
    #[must_use]
    pub fn to_tree_csv(&self) -> String {
        let value = self.metric.is_some().then(|| "value".to_owned());
        let headings = ["path", "name", "depth", "ranks", "visits"].map(str::to_owned).into_iter();
        let mut csv = csv_line(headings.chain(value));
        let paths = self.paths();
        for index in self.in_tree_order() {
            let value = self.metric.as_ref().map(|metric| self.metric_number(index, metric));
            csv.push_str(&csv_line(self.first_cells(index, &paths).into_iter().chain(value)));
        }
        csv
    }

    /// The `count` callpaths of [`to_top_text`](Self::to_top_text) as CSV.
    #[must_use]
    pub fn to_top_csv(&self, count: usize) -> String {
        let recorded = matches!(self.metric, Some(MetricName::Key(_)));
        let mut csv = csv_line(if recorded {
            ["path", "values", "sum", "min", "mean", "max"]
        } else {
            ["path", "exclusive_ns", "inclusive_ns", "ranks", "visits", "total_inclusive_ns"]
        });
        let paths = self.paths();
        for index in self.top(count) {
            let row = &self.statistics.rows()[index.row()];
            let path = paths[index.row()].clone().unwrap_or_default();
            let metric = match &self.metric {
                Some(MetricName::Key(key)) => self.recorded(index, key),
                _ => None,
            };
            csv.push_str(&csv_line(match metric {
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
                    self.total_ns.to_string(),
                ],
            }));
        }
        csv
    }

    fn first_cells(&self, index: CallpathIndex, paths: &[Option<String>]) -> [String; 5] {
        let (callpath, row) = (self.callpaths.get(index), &self.statistics.rows()[index.row()]);
        [
            paths[index.row()].clone().unwrap_or_default(),
            callpath.region.name.clone(),
            callpath.depth.to_string(),
            row.ranks.to_string(),
            row.visits.to_string(),
        ]
    }

    /// The value of `metric` at a callpath, unrounded; empty where there is none.
    pub(super) fn metric_number(&self, index: CallpathIndex, metric: &MetricName) -> String {
        let row = &self.statistics.rows()[index.row()];
        match metric {
            MetricName::Inclusive => row.inclusive.sum_ns.to_string(),
            MetricName::Exclusive => row.exclusive.sum_ns.to_string(),
            MetricName::Visits => row.visits.to_string(),
            MetricName::Key(key) => {
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

fn number(number: Option<f64>) -> String {
    number.map_or_else(String::new, |number| number.to_string())
}
