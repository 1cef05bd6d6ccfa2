//! The times of ranks without measurement, as a table.

use tinyprof_report::cells::{time_cell, wrapped};
use tinyprof_report::{CompensatedRank, Report, head, unfollowed_line};

use crate::clock::clock_line;
use crate::table::{Column, Line, write_more, write_table};

type Of = Column<CompensatedRank>;

const COLUMNS: [Of; 7] = [
    Of::of_text().shown(1, "rank", 0, |_, of| of.rank.to_string()),
    Of::of_text().shown(2, "measured", 0, |_, of| time_cell(of.measured_ns.into())),
    Of::of_text().shown(3, "locally", 1, |_, of| time_cell(of.local_ns.into())),
    Of::of_text().shown(4, "in parallel", 0, |_, of| time_cell(of.parallel_ns.into())),
    Of::of_text().shown(5, "+-", 2, |_, of| time_cell(of.uncertainty_ns.into())),
    Of::of_text().shown(6, "of others", 4, |_, of| time_cell(of.propagated_uncertainty_ns.into())),
    Of::of_text().shown(7, "not followed", 3, |_, of| time_cell(of.unfollowed_ns.into())),
];

/// Returns the times of the first `count` ranks as text of `width_columns` columns: measured, less
/// what each rank's own measuring cost, and less all delays, also those through others.
#[must_use]
pub fn compensated_text(report: &Report, count: usize, width_columns: u16) -> String {
    let width = usize::from(width_columns);
    let mut text = head(report, width);
    let Some(clock) = &report.clock else {
        return text + &wrapped(&unknown_waiting(report), " ", width);
    };
    let lines: Vec<Line<'_, _>> =
        report.compensated.iter().take(count).map(Line::unnamed).collect();
    write_table(&mut text, report, &COLUMNS, &lines, "", width);
    write_more(&mut text, report.compensated.len(), count, "rank");
    for line in unfollowed_line(report).into_iter().chain([clock_line(clock)]) {
        text.push_str(&wrapped(&line, " ", width));
    }
    text
}

/// Returns a sentence on a run of which no message was followed.
pub(crate) fn unknown_waiting(report: &Report) -> String {
    let rest = unfollowed_line(report).map_or_else(String::new, |line| format!("; {line}"));
    format!("no waiting is known: no messages were followed{rest}")
}
