//! The spread of a time over ranks, in JSON and CSV.

use serde_json::{Map, Value};
use tinyprof_report::{Datum, RankStatistics, Report, Spread};

use crate::table::datum_json;

/// A number of a spread: its member in JSON, the unit that CSV adds to it, and the value.
type Number = (&'static str, &'static str, fn(&Report, &RankStatistics, &Spread) -> Datum);

const NUMBERS: [Number; 9] = [
    ("sum", "_ns", |_, _, spread| Datum::Integer(spread.sum_ns)),
    ("standard_error", "_ns", |_, _, spread| Datum::float(spread.standard_error_ns())),
    ("min", "_ns", |_, _, spread| Datum::integer(spread.min_ns)),
    ("mean", "_ns", |_, row, spread| Datum::float(row.mean_ns(spread))),
    ("max", "_ns", |_, _, spread| Datum::integer(spread.max_ns)),
    ("max_rank", "", |_, _, spread| Datum::integer(spread.max_rank)),
    ("max_host", "", |report, _, spread| Datum::text(report.host_names.name(spread.max_host))),
    ("imbalance", "", |_, row, spread| Datum::float(row.imbalance(spread))),
    ("lost", "_ns", |_, row, spread| Datum::Integer(row.lost_ns(spread))),
];

/// Returns the spread of a row as JSON; null if no rank visited it.
pub(crate) fn spread_json(report: &Report, row: &RankStatistics, spread: &Spread) -> Value {
    if row.ranks == 0 {
        return Value::Null;
    }
    let number =
        |(member, _, value): Number| (member.to_owned(), datum_json(value(report, row, spread)));
    NUMBERS.into_iter().map(number).collect::<Map<String, Value>>().into()
}

/// Returns the headings of [`spread_cells`] for a time of this name.
pub(crate) fn spread_headings(time: &str) -> [String; 9] {
    NUMBERS.map(|(member, unit, _)| format!("{time}_{member}{unit}"))
}

/// Returns the spread of a row as cells of CSV; empty if no rank visited it.
pub(crate) fn spread_cells(report: &Report, row: &RankStatistics, spread: &Spread) -> [String; 9] {
    NUMBERS.map(|(.., value)| match row.ranks {
        0 => String::new(),
        _ => value(report, row, spread).into_cell(),
    })
}
