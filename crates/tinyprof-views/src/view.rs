//! A table in all the forms in which it is asked for.

use std::io::{self, Write};

use crate::json_list::LongJson;

/// A table.
pub trait View {
    /// Returns the table as text of `width_columns` columns. Columns are aligned, control
    /// characters in names are escaped, and every line ends in a newline.
    fn text(&self, width_columns: u16) -> String;

    /// Returns the table as JSON that is generated while it is written.
    fn json(&self) -> LongJson<'_>;

    /// Writes the table as CSV, line by line.
    ///
    /// # Errors
    /// If `to` cannot be written.
    fn write_csv(&self, to: &mut dyn Write) -> io::Result<()>;
}
