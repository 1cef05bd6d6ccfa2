//! Tables of lines: columns of numbers, and a name at the end. In a narrow terminal columns are
//! left out, and the name is cut last.

use super::names::columns;

/// The minimum width of names, in columns, for which columns of numbers are left out.
const NARROWEST_NAME: usize = 24;

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    heading: &'static str,
    /// The order in which a narrow table leaves columns out: the greatest number first, 0 never.
    order: u8,
    is_text: bool,
}

/// A line of a table: its numbers, and its name in a room of so many columns.
pub(super) struct Line<'a> {
    pub(super) cells: Vec<String>,
    pub(super) name: Box<dyn Fn(usize) -> String + 'a>,
}

impl Column {
    /// Returns a column of numbers, which are aligned at their ends.
    pub(super) const fn number(heading: &'static str, order: u8) -> Self {
        Self { heading, order, is_text: false }
    }

    /// Returns a column of words, which are aligned at their beginnings.
    pub(super) const fn text(heading: &'static str, order: u8) -> Self {
        Self { heading, order, is_text: true }
    }
}

/// Writes a table with the heading `name` above the names. If there is too little room for names,
/// columns are left out.
pub(super) fn write_table(
    text: &mut String,
    shown: &[Column],
    name: &str,
    lines: &[Line<'_>],
    width: usize,
) {
    write_table_of_names(text, shown, (name, NARROWEST_NAME), lines, width);
}

/// Writes a table as [`write_table`] does, whose names have at least so many columns.
pub(super) fn write_table_of_names(
    text: &mut String,
    shown: &[Column],
    (name, narrowest): (&str, usize),
    lines: &[Line<'_>],
    width: usize,
) {
    let widths: Vec<usize> = (0..shown.len())
        .map(|column| {
            let cells = lines.iter().map(|line| columns(&line.cells[column]));
            cells.max().unwrap_or(0).max(shown[column].heading.len())
        })
        .collect();
    let numbers_width = |least: u8| -> usize {
        let kept = shown.iter().zip(&widths).filter(|(column, _)| column.order < least);
        kept.map(|(_, width)| width + 2).sum()
    };
    let room_needed = if name.is_empty() { 0 } else { narrowest };
    let least = (1..=u8::MAX)
        .take_while(|least| numbers_width(*least) + room_needed <= width)
        .last()
        .unwrap_or(1);
    let room = width.saturating_sub(numbers_width(least)).max(room_needed.min(12));
    let mut write = |cells: &dyn Fn(usize) -> String, name: &str| {
        let mut line = String::new();
        for (at, width) in widths.iter().enumerate() {
            if shown[at].order < least {
                let cell = cells(at);
                let padding = " ".repeat(width.saturating_sub(columns(&cell)));
                let (before, after) =
                    if shown[at].is_text { ("", &*padding) } else { (&*padding, "") };
                line.extend([before, &cell, after, "  "]);
            }
        }
        line.push_str(name);
        text.push_str(line.trim_end());
        text.push('\n');
    };
    write(&|column| shown[column].heading.to_owned(), name);
    for line in lines {
        write(&|column| line.cells[column].clone(), &(line.name)(room));
    }
}

/// Writes the number of lines that a table has no room for.
pub(super) fn write_more(text: &mut String, lines: usize, count: usize, noun: &str) {
    match lines.saturating_sub(count) {
        0 => {}
        1 => text.push_str(&format!("... 1 more {noun}\n")),
        more => text.push_str(&format!("... {more} more {noun}s\n")),
    }
}
