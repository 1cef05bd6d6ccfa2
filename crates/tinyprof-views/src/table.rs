//! Tables whose columns are described once, for text, CSV and JSON.

use std::io::{self, Write};

use serde_json::{Map, Value};
use tinyprof_report::cells::columns;
use tinyprof_report::{Datum, Report};

use crate::csv::put;
use crate::json_list::integer;

/// The minimum width of names, in columns, for which columns of numbers are left out.
const NARROWEST_NAME: usize = 24;

/// The run that a table is about.
pub trait Run {
    /// Returns the number of ranks.
    fn ranks(&self) -> u32;
}

impl Run for Report {
    fn ranks(&self) -> u32 {
        self.ranks
    }
}

/// All that a table says of a row in one column.
pub struct Column<Row: ?Sized, Of = Report> {
    /// The heading in CSV and the member in JSON.
    key: &'static str,
    value: fn(&Of, &Row) -> Datum,
    is_in_json: bool,
    shown: Option<Shown<Row, Of>>,
}

/// A column of a table as text.
struct Shown<Row: ?Sized, Of> {
    /// The place of the column in the table, from the left.
    place: u8,
    heading: &'static str,
    /// The order in which a narrow table leaves columns out: the greatest number first, 0 never.
    order: u8,
    is_text: bool,
    /// True if there is nothing to show for a single rank.
    compares_ranks: bool,
    cell: fn(&Of, &Row) -> String,
}

impl<Row: ?Sized, Of> Clone for Shown<Row, Of> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Row: ?Sized, Of> Copy for Shown<Row, Of> {}

impl<Row: ?Sized, Of> std::fmt::Debug for Column<Row, Of> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Column").field("key", &self.key).finish_non_exhaustive()
    }
}

impl<Row: ?Sized, Of> Column<Row, Of> {
    /// Returns a column for programs, with this heading in CSV and member in JSON.
    #[must_use]
    pub const fn new(key: &'static str, value: fn(&Of, &Row) -> Datum) -> Self {
        Self { key, value, is_in_json: true, shown: None }
    }

    /// Returns a column of tables as text alone.
    #[must_use]
    pub const fn of_text() -> Self {
        Self { key: "", value: |_, _| Datum::None, is_in_json: false, shown: None }
    }

    /// Leaves the column out of JSON.
    #[must_use]
    pub const fn csv_only(self) -> Self {
        Self { is_in_json: false, ..self }
    }

    /// Shows the column in text, as numbers, which are aligned at their ends. `place` is its place
    /// from the left; a narrow table leaves columns out in the order `order`: the greatest number
    /// first, 0 never.
    #[must_use]
    pub const fn shown(
        self,
        place: u8,
        heading: &'static str,
        order: u8,
        cell: fn(&Of, &Row) -> String,
    ) -> Self {
        self.with(Shown { place, heading, order, is_text: false, compares_ranks: false, cell })
    }

    /// Shows the column in text, as words, which are aligned at their beginnings.
    #[must_use]
    pub const fn shown_as_words(
        self,
        place: u8,
        heading: &'static str,
        order: u8,
        cell: fn(&Of, &Row) -> String,
    ) -> Self {
        self.with(Shown { place, heading, order, is_text: true, compares_ranks: false, cell })
    }

    /// Shows the column in text, as numbers that compare ranks: not for a single rank.
    #[must_use]
    pub const fn shown_for_several(
        self,
        place: u8,
        heading: &'static str,
        order: u8,
        cell: fn(&Of, &Row) -> String,
    ) -> Self {
        self.with(Shown { place, heading, order, is_text: false, compares_ranks: true, cell })
    }

    const fn with(self, shown: Shown<Row, Of>) -> Self {
        Self { shown: Some(shown), ..self }
    }
}

/// Returns the members of a row's JSON.
#[must_use]
pub fn row_json<Row: ?Sized>(shown: &[Column<Row>], report: &Report, row: &Row) -> Value {
    let shown = shown.iter().filter(|column| column.is_in_json);
    let member =
        |column: &Column<Row>| (column.key.to_owned(), datum_json((column.value)(report, row)));
    Value::Object(shown.map(member).collect::<Map<String, Value>>())
}

/// Returns a value as JSON.
#[must_use]
pub fn datum_json(datum: Datum) -> Value {
    match datum {
        Datum::None => Value::Null,
        Datum::Integer(n) => integer(n),
        Datum::Float(n) => n.into(),
        Datum::Text(text) => text.into(),
    }
}

/// Writes the headings of all columns as a line of CSV.
///
/// # Errors
/// If `to` cannot be written.
pub fn write_csv_headings<Row: ?Sized>(
    shown: &[Column<Row>],
    to: &mut dyn Write,
) -> io::Result<()> {
    put(to, shown.iter().map(|column| column.key))
}

/// Writes a row as a line of CSV.
///
/// # Errors
/// If `to` cannot be written.
pub fn write_csv_row<Row: ?Sized>(
    shown: &[Column<Row>],
    report: &Report,
    row: &Row,
    to: &mut dyn Write,
) -> io::Result<()> {
    put(to, shown.iter().map(|column| (column.value)(report, row).into_cell()))
}

/// Returns a row as the cells of a line of CSV with these headings: empty where it has no such
/// column.
pub(crate) fn cells_for<Row: ?Sized>(
    headings: &[&str],
    shown: &[Column<Row>],
    report: &Report,
    row: &Row,
) -> Vec<String> {
    let cell = |heading: &&str| {
        let column = shown.iter().find(|column| column.key == *heading);
        column.map_or_else(String::new, |column| (column.value)(report, row).into_cell())
    };
    headings.iter().map(cell).collect()
}

/// A line of a table: a row, and its name in a room of this many columns.
pub struct Line<'a, Row: ?Sized> {
    row: &'a Row,
    name: Box<dyn Fn(usize) -> String + 'a>,
}

impl<Row: ?Sized> std::fmt::Debug for Line<'_, Row> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").finish_non_exhaustive()
    }
}

impl<'a, Row: ?Sized> Line<'a, Row> {
    /// Returns the line of a row; `name` gets the width that the name may have, in columns.
    #[must_use]
    pub fn new(row: &'a Row, name: impl Fn(usize) -> String + 'a) -> Self {
        Self { row, name: Box::new(name) }
    }

    /// Returns the line of a row without a name.
    #[must_use]
    pub fn unnamed(row: &'a Row) -> Self {
        Self::new(row, |_| String::new())
    }
}

/// The heading of the names at the end of each line; empty if there are none.
#[derive(Clone, Copy, Debug)]
pub struct NameHeading<'a> {
    heading: &'a str,
    /// The width for which columns of numbers are left out, in columns.
    narrowest: usize,
}

impl<'a> NameHeading<'a> {
    /// Returns this heading.
    #[must_use]
    pub const fn new(heading: &'a str) -> Self {
        Self { heading, narrowest: NARROWEST_NAME }
    }

    /// Returns the heading of names for which numbers are left out below another width.
    #[must_use]
    pub const fn at_least(self, columns: usize) -> Self {
        Self { narrowest: columns, ..self }
    }
}

/// Writes a table as text. If there is too little room for names, columns are left out; names are
/// cut last.
pub fn write_table<Row: ?Sized, Of: Run>(
    text: &mut String,
    of: &Of,
    all: &[Column<Row, Of>],
    lines: &[Line<'_, Row>],
    name: NameHeading<'_>,
    width: usize,
) {
    let mut shown: Vec<Shown<Row, Of>> = all.iter().filter_map(|column| column.shown).collect();
    shown.retain(|column| of.ranks() > 1 || !column.compares_ranks);
    shown.sort_by_key(|column| column.place);
    let of_line = |line: &Line<'_, Row>| -> Vec<String> {
        shown.iter().map(|column| (column.cell)(of, line.row)).collect()
    };
    let rows: Vec<Vec<String>> = lines.iter().map(of_line).collect();
    let widths: Vec<usize> = (0..shown.len())
        .map(|at| {
            let cells = rows.iter().map(|cells| columns(&cells[at]));
            cells.max().unwrap_or(0).max(shown[at].heading.len())
        })
        .collect();
    let numbers_width = |least: u8| -> usize {
        let kept = shown.iter().zip(&widths).filter(|(column, _)| column.order < least);
        kept.map(|(_, width)| width + 2).sum()
    };
    let room_needed = if name.heading.is_empty() { 0 } else { name.narrowest };
    let least = (1..=u8::MAX)
        .take_while(|least| numbers_width(*least) + room_needed <= width)
        .last()
        .unwrap_or(1);
    let room = width.saturating_sub(numbers_width(least)).max(room_needed.min(12));
    let mut write = |cells: &dyn Fn(usize) -> String, name: &str| {
        let kept = shown.iter().zip(&widths).enumerate();
        let kept = kept.filter(|(_, (column, _))| column.order < least);
        let mut line: String =
            kept.map(|(at, (column, width))| padded(&cells(at), *width, column.is_text)).collect();
        line.push_str(name);
        text.push_str(line.trim_end());
        text.push('\n');
    };
    write(&|at| shown[at].heading.to_owned(), name.heading);
    for (line, cells) in lines.iter().zip(&rows) {
        write(&|at| cells[at].clone(), &(line.name)(room));
    }
}

/// Returns a cell in `width` columns, with the gap behind it.
fn padded(cell: &str, width: usize, is_text: bool) -> String {
    let padding = " ".repeat(width.saturating_sub(columns(cell)));
    if is_text { format!("{cell}{padding}  ") } else { format!("{padding}{cell}  ") }
}

/// Writes the number of lines that a table has no room for.
pub fn write_more(text: &mut String, lines: usize, count: usize, noun: &str) {
    match lines.saturating_sub(count) {
        0 => {}
        1 => text.push_str(&format!("... 1 more {noun}\n")),
        more => text.push_str(&format!("... {more} more {noun}s\n")),
    }
}
