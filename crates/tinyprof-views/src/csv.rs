//! Comma-separated values by RFC 4180.

use std::io::{self, Write};

use tinyprof_report::escaped;

/// Returns a line of a table: the cells separated by commas, and a newline.
///
/// A cell that is not a plain number or word is quoted. Control characters are escaped as on the
/// screen. A cell that a spreadsheet would take for a formula (it begins with `=`, `+`, `-` or `@`
/// and is not a number) gets a `'` before it.
///
/// ```
/// use tinyprof_views::csv_line;
///
/// assert_eq!(csv_line(["main<a, b", "3", "-1.5", "=1+1"]), "\"main<a, b\",3,-1.5,\"'=1+1\"\n");
/// assert_eq!(csv_line(["a \"quoted\" one", ""]), "\"a \"\"quoted\"\" one\",\n");
/// ```
#[must_use]
pub fn csv_line<C: AsRef<str>>(cells: impl IntoIterator<Item = C>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|text| cell(text.as_ref())).collect();
    cells.join(",") + "\n"
}

/// Writes a line of a table.
pub(crate) fn put(
    to: &mut dyn Write,
    cells: impl IntoIterator<Item = impl AsRef<str>>,
) -> io::Result<()> {
    to.write_all(csv_line(cells).as_bytes())
}

fn cell(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    if text.chars().all(plain) || text.parse::<f64>().is_ok_and(f64::is_finite) {
        return text.to_owned();
    }
    let guard = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    format!("\"{guard}{}\"", escaped(text).replace('"', "\"\""))
}
