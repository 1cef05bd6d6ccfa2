//! Tables whose columns are described once, for text, CSV and JSON.

use std::io::{self, Write};

use serde_json::{Map, Value};
use tinyprof_report::cells::{columns, names_share};
use tinyprof_report::{Datum, Report};

use crate::csv::put;
use crate::json_list::integer;

/// The minimum width of names, in columns, for which columns of numbers are left out.
const NARROWEST_NAME: usize = 24;

/// The space behind a column, in columns of the terminal.
const GAP: usize = 2;

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
    /// Returns the line of a row; `name` gets the width that the name may have, in columns. What
    /// comes after a newline in it is put below.
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

/// A column of a table as text, with its cells.
struct LaidOut<'a, Row: ?Sized, Of> {
    shown: &'a Shown<Row, Of>,
    cells: Vec<String>,
    width: usize,
}

impl<'a, Row: ?Sized, Of> LaidOut<'a, Row, Of> {
    fn new(shown: &'a Shown<Row, Of>, of: &Of, lines: &[Line<'_, Row>]) -> Self {
        let cells: Vec<String> = lines.iter().map(|line| (shown.cell)(of, line.row)).collect();
        let widest = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        Self { shown, cells, width: widest.max(shown.heading.len()) }
    }

    /// Returns true if nothing is lost without it.
    fn is_dispensable(&self) -> bool {
        self.shown.order > 0 && self.cells.iter().all(|cell| cell == "-")
    }

    fn padded(&self, cell: &str) -> String {
        padded(cell, self.width, self.shown.is_text)
    }
}

/// Writes a table as text.
///
/// If there is too little room for names, columns are left out, those without anything in them
/// first. Names are cut last, but have no right to all of the width. `heading` is that of the names
/// at the end of each line, empty if there are none.
pub fn write_table<Row: ?Sized, Of: Run>(
    text: &mut String,
    of: &Of,
    all: &[Column<Row, Of>],
    lines: &[Line<'_, Row>],
    heading: &str,
    width: usize,
) {
    let shown = all.iter().filter_map(|column| column.shown.as_ref());
    let shown = shown.filter(|column| of.ranks() > 1 || !column.compares_ranks);
    let mut laid_out: Vec<_> = shown.map(|column| LaidOut::new(column, of, lines)).collect();
    laid_out.sort_by_key(|column| column.shown.place);
    let room_needed = room_for_names(lines, heading, width);
    leave_out(&mut laid_out, width.saturating_sub(room_needed));
    let room = width.saturating_sub(numbers_width(&laid_out)).max(room_needed.min(12));
    let mut write = |cell: &dyn Fn(&LaidOut<'_, Row, Of>) -> String, name: &str| {
        let mut line: String = laid_out.iter().map(cell).collect();
        line.push_str(name);
        text.push_str(line.trim_end());
        text.push('\n');
    };
    write(&|column| column.padded(column.shown.heading), heading);
    for (at, line) in lines.iter().enumerate() {
        let name = (line.name)(room);
        let mut parts = name.split('\n');
        write(&|column| column.padded(&column.cells[at]), parts.next().unwrap_or_default());
        parts.for_each(|below| write(&|column| column.padded(""), below));
    }
}

/// Returns the width that names need before columns of numbers are left out.
fn room_for_names<Row: ?Sized>(lines: &[Line<'_, Row>], heading: &str, width: usize) -> usize {
    if heading.is_empty() {
        return 0;
    }
    let of_line = |line: &Line<'_, Row>| (line.name)(width).lines().map(columns).max();
    let longest = lines.iter().filter_map(of_line).max().unwrap_or(0);
    NARROWEST_NAME.max(longest.min(names_share(width)))
}

fn numbers_width<Row: ?Sized, Of>(laid_out: &[LaidOut<'_, Row, Of>]) -> usize {
    laid_out.iter().map(|column| column.width + GAP).sum()
}

/// Leaves columns out until the others take at most `width` columns.
fn leave_out<Row: ?Sized, Of>(laid_out: &mut Vec<LaidOut<'_, Row, Of>>, width: usize) {
    if numbers_width(laid_out) > width {
        laid_out.retain(|column| !column.is_dispensable());
    }
    while numbers_width(laid_out) > width {
        let last = laid_out.iter().map(|column| column.shown.order).max().unwrap_or(0);
        if last == 0 {
            break;
        }
        laid_out.retain(|column| column.shown.order < last);
    }
}

/// Returns a cell in `width` columns, with the gap behind it.
fn padded(cell: &str, width: usize, is_text: bool) -> String {
    let padding = " ".repeat(width.saturating_sub(columns(cell)));
    let gap = " ".repeat(GAP);
    if is_text { format!("{cell}{padding}{gap}") } else { format!("{padding}{cell}{gap}") }
}

/// Writes the number of lines that a table has no room for.
pub fn write_more(text: &mut String, lines: usize, count: usize, noun: &str) {
    match lines.saturating_sub(count) {
        0 => {}
        1 => text.push_str(&format!("... 1 more {noun}\n")),
        more => text.push_str(&format!("... {more} more {noun}s\n")),
    }
}
