//! A comparison for programs: every callpath, every number unrounded, times in nanoseconds.

use std::io::{self, Write};

use serde_json::{Value, json};
use tinyprof_report::SortKey;
use tinyprof_views::{LongJson, csv_line};

use super::compare::{Diff, FALSE_DISCOVERY_RATE, Row, SideValues};
use super::run::Run;
use super::statistics::CONFIDENCE;

const HEADINGS: [&str; 21] = [
    "path",
    "verdict",
    "fails",
    "sample",
    "base_values",
    "base_mean",
    "base_deviation",
    "new_values",
    "new_mean",
    "new_deviation",
    "difference",
    "interval_low",
    "interval_high",
    "change",
    "smallest_change",
    "hedges_g",
    "p",
    "adjusted_p",
    "share",
    "estimate",
    "paired",
];

impl Diff {
    /// Returns the comparison as JSON. A number that cannot be determined is null.
    #[must_use]
    pub fn json(&self) -> LongJson<'_> {
        let unit = match self.options.metric {
            SortKey::Inclusive | SortKey::Exclusive => "ns",
            SortKey::Visits => "visits",
            SortKey::Key(_) => "as recorded",
        };
        let members = json!({
            "base": self.base.iter().map(run_json).collect::<Vec<_>>(),
            "new": self.new.iter().map(run_json).collect::<Vec<_>>(),
            "metric": self.options.metric.to_string(),
            "unit": unit,
            "per": "rank and execution",
            "estimator": self.options.estimator.word(),
            "confidence": CONFIDENCE,
            "false_discovery_rate": FALSE_DISCOVERY_RATE,
            "fail_above": self.options.fail_above,
            "min_share": self.options.min_share,
            "fails": self.rows.iter().filter(|row| self.fails(row)).count(),
            "without_power": self.rows.iter().filter(|row| self.is_powerless(row)).count(),
        });
        LongJson::new(members, "callpaths", || self.rows.iter().map(|row| row_json(self, row)))
    }

    /// Writes the comparison as CSV: a header line, then one line for each callpath. A number that
    /// cannot be determined is an empty cell.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn write_csv(&self, to: &mut dyn Write) -> io::Result<()> {
        to.write_all(csv_line(HEADINGS).as_bytes())?;
        for row in &self.rows {
            let number =
                |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
            let mean = |side: &SideValues| number((side.runs > 0).then_some(side.mean));
            let interval = row.interval();
            let line = csv_line([
                self.names.path(row.callpath).unwrap_or_default(),
                row.verdict.word().to_owned(),
                self.fails(row).to_string(),
                row.unit.word().to_owned(),
                row.base.values.to_string(),
                mean(&row.base),
                number(row.base.deviation),
                row.new.values.to_string(),
                mean(&row.new),
                number(row.new.deviation),
                row.difference.to_string(),
                number(interval.map(|(low, _)| low)),
                number(interval.map(|(_, high)| high)),
                number(row.change()),
                number(row.smallest_change()),
                number(row.hedges_g),
                number(row.test.map(|test| test.p)),
                number(row.adjusted_p),
                row.share.to_string(),
                (row.base.estimate_variance + row.new.estimate_variance > 0.0).to_string(),
                row.paired.to_string(),
            ]);
            to.write_all(line.as_bytes())?;
        }
        Ok(())
    }
}

fn run_json(run: &Run) -> Value {
    json!({ "profile": run.name, "ranks": run.ranks, "executions": run.executions, "complete": !run.incomplete })
}

fn row_json(diff: &Diff, row: &Row) -> Value {
    json!({
        "path": diff.names.path(row.callpath),
        "name": *diff.names.rows()[row.callpath].name,
        "depth": diff.names.rows()[row.callpath].depth,
        "verdict": row.verdict.word(),
        "fails": diff.fails(row),
        "sample": row.unit.word(),
        "folded": row.folded,
        "paired": row.paired,
        "base": side_json(&row.base),
        "new": side_json(&row.new),
        "difference": row.difference,
        "interval": row.interval().map(|(low, high)| [low, high]),
        "change": row.change(),
        "smallest_change": row.smallest_change(),
        "hedges_g": row.hedges_g,
        "p": row.test.map(|test| test.p),
        "adjusted_p": row.adjusted_p,
        "share": row.share,
    })
}

fn side_json(side: &SideValues) -> Value {
    json!({
        "mean": (side.runs > 0).then_some(side.mean),
        "values": side.values,
        "deviation": side.deviation,
        "runs": side.runs,
        "standard_error_of_estimate": side.estimate_error(),
    })
}
