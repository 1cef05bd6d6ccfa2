//! The metrics as text below the table: one line for each key at each callpath.

use std::collections::BTreeMap;

use crate::facts::totals::metrics::Metric;
use crate::report::Report;
use crate::words::names::{columns, cut, escaped, shown};
use crate::words::units::{count_cell, number_cell};

/// The minimum width of path and key together, in columns; narrower names are unreadable.
const NARROWEST_NAMES: usize = 20;

/// A column of numbers.
#[derive(Clone, Copy, Debug)]
enum Column {
    Values,
    Mean,
    Min,
    Max,
    Sum,
}

/// The layouts from the richest to the narrowest: the columns, and the spaces before each.
const LAYOUTS: [(&[Column], usize); 4] = {
    use Column::{Max, Mean, Min, Sum, Values};
    [
        (&[Values, Mean, Min, Max, Sum], 2),
        (&[Values, Mean, Min, Max, Sum], 1),
        (&[Values, Mean, Sum], 1),
        (&[Mean], 1),
    ]
};

/// Returns the number of lines that all metrics would take, with their headings.
pub(crate) fn metric_lines(report: &Report) -> usize {
    match shown_metrics(report).count() {
        0 => 0,
        rows => rows + 1,
    }
}

fn shown_metrics(report: &Report) -> impl Iterator<Item = &Metric> {
    report.metrics.rows().iter().filter(|row| report.shows_key(&row.key))
}

/// Returns the block, of at most `lines_max` lines, each at most `width` columns wide; empty if
/// there are no metrics.
///
/// The largest come first: those whose sum is the greatest part of the total recorded under their
/// key.
pub(crate) fn metric_block(report: &Report, width: usize, lines_max: usize) -> String {
    let mut rows: Vec<&Metric> = shown_metrics(report).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for row in &rows {
        *sums.entry(&row.key).or_default() += row.sum.abs();
    }
    let part = |row: &Metric| {
        let part = row.sum.abs() / sums[row.key.as_str()];
        // Without a finite total, the values of interest are those without a finite sum.
        if part.is_nan() { f64::from(u8::from(!row.sum.is_finite())) } else { part }
    };
    rows.sort_by(|left, right| part(right).total_cmp(&part(left)));
    let room = if rows.len() < lines_max { rows.len() } else { lines_max.saturating_sub(2).max(1) };
    let more = rows.len().saturating_sub(room);
    rows.truncate(room);
    let mut names = vec![("metrics".to_owned(), "key".to_owned())];
    names.extend(
        rows.iter().map(|row| (escaped(&report.callpaths.path(row.callpath)), shown(&row.key))),
    );
    let (room, numbers) = numbers(&rows, width);
    let key_width = names.iter().map(|(_, key)| columns(key)).max().unwrap_or(0).min(room / 3);
    let path_width = names.iter().map(|(path, _)| columns(path)).max().unwrap_or(0);
    let path_width = path_width.min(room.saturating_sub(2 + key_width));
    let mut block = String::new();
    for ((path, key), numbers) in names.iter().zip(&numbers) {
        let (path, key) = (padded(path, path_width), padded(key, key_width));
        block.push_str(&format!("{path}  {key}{numbers}\n"));
    }
    if more > 0 {
        block.push_str(&format!("... {more} more\n"));
    }
    block
}

/// Returns the width that is left for names, in columns, and the numbers of the heading and of each
/// row as aligned text.
fn numbers(rows: &[&Metric], width: usize) -> (usize, Vec<String>) {
    let lay_out = |(shown, gap): &(&[Column], usize)| {
        let mut lines = vec![String::new(); rows.len() + 1];
        for column in *shown {
            let heading = column.heading().to_owned();
            let cells: Vec<String> =
                std::iter::once(heading).chain(rows.iter().map(|row| cell(row, *column))).collect();
            let widest = cells.iter().map(String::len).max().unwrap_or(0);
            for (line, cell) in lines.iter_mut().zip(cells) {
                line.push_str(&format!("{cell:>0$}", gap + widest));
            }
        }
        lines
    };
    let laid_out = LAYOUTS.iter().map(|layout| {
        let lines = lay_out(layout);
        (width.saturating_sub(lines[0].len()), lines)
    });
    let mut narrowest = (0, Vec::new());
    for (room, lines) in laid_out {
        if room >= NARROWEST_NAMES {
            return (room, lines);
        }
        narrowest = (NARROWEST_NAMES, lines);
    }
    narrowest
}

/// Returns `text` in exactly `width` columns.
fn padded(text: &str, width: usize) -> String {
    let text = cut(text, width);
    let padding = " ".repeat(width.saturating_sub(columns(&text)));
    text + &padding
}

impl Column {
    const fn heading(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Max => "max",
            Self::Sum => "sum",
        }
    }
}

fn cell(row: &Metric, column: Column) -> String {
    match column {
        Column::Values => count_cell(row.values),
        Column::Mean => row.mean().map_or_else(|| "-".to_owned(), number_cell),
        Column::Min => number_cell(row.min),
        Column::Max => number_cell(row.max),
        Column::Sum => number_cell(row.sum),
    }
}
