//! Times by call site, loop, MPI function or partner, as a table, CSV and JSON.

use std::io::{self, Write};

use serde_json::{Value, json};
use tinyprof_format::model::Traffic;

use super::json::integer;
use super::lines::{Column, Line, write_more, write_table};
use super::names::{cut, shown, wrapped};
use super::tables::put;
use super::units::{count_cell, data_cell, percent_cell, time_cell};
use super::{GroupBy, GroupRow, LongJson, Report};

const TIMES: [Column; 8] = [
    Column::number("count", 0),
    Column::number("incl.", 0),
    Column::number("excl.", 0),
    Column::number("share", 1),
    Column::number("waiting", 2),
    Column::number("transfer", 3),
    Column::number("out", 4),
    Column::number("in", 5),
];

const PARTNERS: [Column; 7] = [
    Column::number("waiting", 0),
    Column::number("share", 1),
    Column::number("transfer", 0),
    Column::number("to it", 2),
    Column::number("sent", 2),
    Column::number("from it", 3),
    Column::number("received", 3),
];

const CSV: [&str; 14] = [
    "name",
    "place",
    "ranks",
    "count",
    "inclusive_ns",
    "exclusive_ns",
    "waiting_ns",
    "transfer_ns",
    "messages_out",
    "bytes_out",
    "messages_in",
    "bytes_in",
    "share",
    "waiting_share",
];

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

impl Report {
    /// Returns the rows as text of `width_columns` columns, the first `count`.
    ///
    /// Times, messages and bytes are those of all ranks together, and shares parts of the time
    /// without start-up ([`TimeBase`](crate::TimeBase)): of the exclusive time, or for partners of
    /// waiting.
    #[must_use]
    pub fn to_grouped_text(
        &self,
        by: GroupBy,
        rows: &[GroupRow],
        count: usize,
        width_columns: u16,
    ) -> String {
        let width = usize::from(width_columns);
        let mut text = wrapped(&self.head(width), ", ", width);
        if rows.is_empty() {
            return text + &format!("no {} was recorded\n", by.word());
        }
        let line = |row: &GroupRow| {
            let name = match row.place.as_str() {
                "" => shown(&row.name),
                place => format!("{} ({})", shown(&row.name), shown(place)),
            };
            Line { cells: self.cells(by, row), name: Box::new(move |room| cut(&name, room)) }
        };
        let lines: Vec<Line<'_>> = rows.iter().take(count).map(line).collect();
        let columns = if by == GroupBy::Peer { &PARTNERS[..] } else { &TIMES };
        write_table(&mut text, columns, by.word(), &lines, width);
        write_more(&mut text, rows.len(), count, by.word());
        if let Some(line) = self.unfollowed_line() {
            text.push_str(&wrapped(&line, " ", width));
        }
        text
    }

    fn cells(&self, by: GroupBy, row: &GroupRow) -> Vec<String> {
        let time = |ns: u128| if ns == 0 { "-".to_owned() } else { time_cell(ns) };
        let bytes = |traffic: Traffic| match traffic.count {
            0 => "-".to_owned(),
            _ => data_cell(traffic.bytes),
        };
        if by == GroupBy::Peer {
            return vec![
                time(row.waiting_ns),
                percent_cell(self.base.share(row.waiting_ns)),
                time(row.transfer_ns),
                count_cell(row.out.count),
                bytes(row.out),
                count_cell(row.into_rank.count),
                bytes(row.into_rank),
            ];
        }
        vec![
            count_cell(row.visits),
            time_cell(row.inclusive_ns),
            time_cell(row.exclusive_ns),
            self.base.cell(row.exclusive_ns, row.startup_ns),
            time(row.waiting_ns),
            time(row.transfer_ns),
            bytes(row.out),
            bytes(row.into_rank),
        ]
    }

    /// Writes the rows as CSV, line by line.
    ///
    /// # Errors
    /// If `to` cannot be written.
    pub fn write_grouped_csv(&self, rows: &[GroupRow], to: &mut dyn Write) -> io::Result<()> {
        put(to, CSV)?;
        for row in rows {
            let numbers = [
                row.inclusive_ns,
                row.exclusive_ns,
                row.waiting_ns,
                row.transfer_ns,
                row.out.count.into(),
                row.out.bytes.into(),
                row.into_rank.count.into(),
                row.into_rank.bytes.into(),
            ];
            let shares = [row.worked_ns(), row.waiting_ns].map(|ns| self.base.share(ns));
            let texts = [
                row.name.clone(),
                row.place.clone(),
                row.ranks.to_string(),
                row.visits.to_string(),
            ];
            let numbers = numbers.iter().map(ToString::to_string);
            put(to, texts.into_iter().chain(numbers).chain(shares.map(|share| share.to_string())))?;
        }
        Ok(())
    }

    /// Returns the rows as JSON that is generated while it is written: `by`, and `rows`, each with
    /// its `name`, the numbers of the CSV, and `ranks` as text like `1-6`.
    #[must_use]
    pub fn grouped_json<'a>(&'a self, by: GroupBy, rows: &'a [GroupRow]) -> LongJson<'a> {
        let members = json!({
            "name": self.name,
            "ranks": self.ranks,
            "by": by.word(),
            "total_inclusive_ns": integer(self.base.ns()),
            "startup_ns": integer(self.base.startup_ns()),
        });
        LongJson::new(members, "rows", || rows.iter().map(|row| self.row_json(row)))
    }

    fn row_json(&self, row: &GroupRow) -> Value {
        json!({
            "name": row.name,
            "place": (!row.place.is_empty()).then_some(&row.place),
            "ranks": row.ranks.to_string(),
            "count": row.visits,
            "inclusive_ns": integer(row.inclusive_ns),
            "exclusive_ns": integer(row.exclusive_ns),
            "waiting_ns": integer(row.waiting_ns),
            "transfer_ns": integer(row.transfer_ns),
            "messages_out": row.out.count,
            "bytes_out": row.out.bytes,
            "messages_in": row.into_rank.count,
            "bytes_in": row.into_rank.bytes,
            "share": self.base.share(row.worked_ns()),
            "waiting_share": self.base.share(row.waiting_ns),
        })
    }
}
