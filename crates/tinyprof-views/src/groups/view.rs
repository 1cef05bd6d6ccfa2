//! Times by call site, loop, MPI function or partner, as a table.

use std::io::{self, Write};

use serde_json::json;
use tinyprof_format::model::Traffic;
use tinyprof_report::cells::{
    count_cell, cut, data_cell, percent_cell, share_cell, shown, time_cell, wrapped,
};
use tinyprof_report::{Datum, Report, head, unfollowed_line};

use crate::groups::{GroupBy, GroupRow};
use crate::json_list::{LongJson, integer};
use crate::table::{
    Column, Line, row_json, write_csv_headings, write_csv_row, write_more, write_table,
};
use crate::view::View;

const TIMES: [Column<GroupRow>; 14] = [
    NAME,
    PLACE,
    RANKS,
    COUNT.shown(1, "count", 0, |_, row| count_cell(row.visits)),
    INCLUSIVE.shown(2, "incl.", 0, |_, row| time_cell(row.inclusive_ns)),
    EXCLUSIVE.shown(3, "excl.", 0, |_, row| time_cell(row.exclusive_ns)),
    WAITING.shown(5, "waiting", 2, |_, row| time_or_dash(row.waiting_ns)),
    TRANSFER.shown(6, "transfer", 3, |_, row| time_or_dash(row.transfer_ns)),
    MESSAGES_OUT,
    BYTES_OUT.shown(7, "out", 4, |_, row| bytes_cell(row.out)),
    MESSAGES_IN,
    BYTES_IN.shown(8, "in", 5, |_, row| bytes_cell(row.into_rank)),
    SHARE.shown(4, "share", 1, |report, row| {
        share_cell(&report.base, row.exclusive_ns, row.startup_ns)
    }),
    WAITING_SHARE,
];

const PARTNERS: [Column<GroupRow>; 14] = [
    NAME,
    PLACE,
    RANKS,
    COUNT,
    INCLUSIVE,
    EXCLUSIVE,
    WAITING.shown(1, "waiting", 0, |_, row| time_or_dash(row.waiting_ns)),
    TRANSFER.shown(3, "transfer", 0, |_, row| time_or_dash(row.transfer_ns)),
    MESSAGES_OUT.shown(4, "to it", 2, |_, row| count_cell(row.out.count)),
    BYTES_OUT.shown(5, "sent", 2, |_, row| bytes_cell(row.out)),
    MESSAGES_IN.shown(6, "from it", 3, |_, row| count_cell(row.into_rank.count)),
    BYTES_IN.shown(7, "received", 3, |_, row| bytes_cell(row.into_rank)),
    SHARE,
    WAITING_SHARE
        .shown(2, "share", 1, |report, row| percent_cell(report.base.share(row.waiting_ns))),
];

const NAME: Column<GroupRow> = Column::new("name", |_, row| Datum::Text(row.name.clone()));
const PLACE: Column<GroupRow> = Column::new("place", |_, row| {
    Datum::text((!row.place.is_empty()).then_some(row.place.as_str()))
});
const RANKS: Column<GroupRow> = Column::new("ranks", |_, row| Datum::Text(row.ranks.to_string()));
const COUNT: Column<GroupRow> = Column::new("count", |_, row| Datum::integer(row.visits));
const INCLUSIVE: Column<GroupRow> =
    Column::new("inclusive_ns", |_, row| Datum::Integer(row.inclusive_ns));
const EXCLUSIVE: Column<GroupRow> =
    Column::new("exclusive_ns", |_, row| Datum::Integer(row.exclusive_ns));
const WAITING: Column<GroupRow> =
    Column::new("waiting_ns", |_, row| Datum::Integer(row.waiting_ns));
const TRANSFER: Column<GroupRow> =
    Column::new("transfer_ns", |_, row| Datum::Integer(row.transfer_ns));
const MESSAGES_OUT: Column<GroupRow> =
    Column::new("messages_out", |_, row| Datum::integer(row.out.count));
const BYTES_OUT: Column<GroupRow> =
    Column::new("bytes_out", |_, row| Datum::integer(row.out.bytes));
const MESSAGES_IN: Column<GroupRow> =
    Column::new("messages_in", |_, row| Datum::integer(row.into_rank.count));
const BYTES_IN: Column<GroupRow> =
    Column::new("bytes_in", |_, row| Datum::integer(row.into_rank.bytes));
const SHARE: Column<GroupRow> =
    Column::new("share", |report, row| Datum::Float(report.base.share(row.worked_ns())));
const WAITING_SHARE: Column<GroupRow> =
    Column::new("waiting_share", |report, row| Datum::Float(report.base.share(row.waiting_ns)));

impl GroupBy {
    /// Returns the word for the command line and JSON: `site`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Site => "site",
            Self::Loop => "loop",
            Self::Call => "call",
            Self::Peer => "peer",
        }
    }
}

/// The times of a profile by call site, loop, function or partner.
///
/// Times, messages and bytes are those of all ranks together, and shares parts of the time without
/// start-up ([`TimeBase`](tinyprof_report::TimeBase)): of the exclusive time, or for partners of
/// waiting. JSON has `by`, and `rows`, each with its `name`, the numbers of the CSV, and `ranks` as
/// text like `1-6`.
#[derive(Clone, Copy, Debug)]
pub struct GroupView<'a> {
    report: &'a Report,
    by: GroupBy,
    rows: &'a [GroupRow],
    count: usize,
}

impl<'a> GroupView<'a> {
    /// The number of rows in a text, unless all are asked for.
    pub const ROWS: usize = 20;

    /// Returns the table of these rows of the report's profile, whose text has the first `count`.
    #[must_use]
    pub const fn new(report: &'a Report, by: GroupBy, rows: &'a [GroupRow], count: usize) -> Self {
        Self { report, by, rows, count }
    }
}

impl View for GroupView<'_> {
    fn text(&self, width_columns: u16) -> String {
        let Self { report, by, rows, count } = *self;
        let width = usize::from(width_columns);
        let mut text = head(report, width);
        if rows.is_empty() {
            return text + &format!("no {} was recorded\n", by.word());
        }
        let lines: Vec<Line<'_, _>> = rows
            .iter()
            .take(count)
            .map(|row| Line::new(row, |room| cut(&named(row), room)))
            .collect();
        let columns = if by == GroupBy::Peer { &PARTNERS } else { &TIMES };
        write_table(&mut text, report, columns, &lines, by.word(), width);
        write_more(&mut text, rows.len(), count, by.word());
        if let Some(line) = unfollowed_line(report) {
            text.push_str(&wrapped(&line, " ", width));
        }
        text
    }

    fn json(&self) -> LongJson<'_> {
        let report = self.report;
        let members = json!({
            "name": report.name,
            "ranks": report.ranks,
            "by": self.by.word(),
            "total_inclusive_ns": integer(report.base.ns()),
            "startup_ns": integer(report.base.startup_ns()),
        });
        LongJson::new(members, "rows", || self.rows.iter().map(|row| row_json(&TIMES, report, row)))
    }

    fn write_csv(&self, to: &mut dyn Write) -> io::Result<()> {
        write_csv_headings(&TIMES, to)?;
        self.rows.iter().try_for_each(|row| write_csv_row(&TIMES, self.report, row, to))
    }
}

/// Returns the name with the place, which names of calls and of sampled functions have already.
fn named(row: &GroupRow) -> String {
    let file = row.place.rsplit('/').next().unwrap_or_default();
    if file.is_empty() || row.name.ends_with(&format!("({file})")) {
        return shown(&row.name);
    }
    format!("{} ({})", shown(&row.name), shown(&row.place))
}

fn time_or_dash(ns: u128) -> String {
    if ns == 0 { "-".to_owned() } else { time_cell(ns) }
}

fn bytes_cell(traffic: Traffic) -> String {
    if traffic.count == 0 { "-".to_owned() } else { data_cell(traffic.bytes) }
}
