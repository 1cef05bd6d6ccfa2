//! Times by call site, loop, function and partner, and the classes of ranks.

use pyo3::prelude::*;
use tinyprof_report::Report;
use tinyprof_structure::grouped;
use tinyprof_views::{GroupBy, GroupRow, GroupView, View as _};

use crate::reports::{Failure, Source, explain, text_of};
use crate::whole::Whole;

/// The words for the rows, which are those of the command.
const WORDS: [GroupBy; 4] = [GroupBy::Site, GroupBy::Loop, GroupBy::Call, GroupBy::Peer];

/// Returns the text of `tinyprof report --by site`, `loop`, `call` or `peer`.
#[pyfunction]
fn groups_text(
    py: Python<'_>,
    source: Source,
    by: &str,
    width: u16,
    all: bool,
) -> PyResult<String> {
    let made = py.detach(|| {
        let (report, by, rows) = read(&source, by)?;
        let count = if all { usize::MAX } else { GroupView::ROWS };
        Ok(GroupView::new(&report, by, &rows, count).text(width))
    });
    made.map_err(|failure| explain(py, failure))
}

/// Returns the JSON of `tinyprof report --json --by site`, `loop`, `call` or `peer`.
#[pyfunction]
fn groups_json(py: Python<'_>, source: Source, by: &str) -> PyResult<String> {
    let made = py.detach(|| {
        let (report, by, rows) = read(&source, by)?;
        text_of(&GroupView::new(&report, by, &rows, usize::MAX).json())
    });
    made.map_err(|failure| explain(py, failure))
}

fn read(
    (directory, name, limit_bytes): &Source,
    word: &str,
) -> Result<(Report, GroupBy, Vec<GroupRow>), Failure> {
    let found = WORDS.into_iter().find(|by| by.word() == word);
    let by = found.ok_or_else(|| Failure::Other(format!("there are no rows by {word}")))?;
    let (totals, rows) = grouped(&Whole::open(directory, *limit_bytes)?, by)?;
    Ok((Report::of_totals(&totals).named(name), by, rows))
}

/// Returns the JSON of `tinyprof classes --json`, and whether the profile says which call followed
/// which.
#[pyfunction]
fn classes_json(py: Python<'_>, source: Source, with_times: bool) -> PyResult<(String, bool)> {
    let (directory, name, limit_bytes) = source;
    let made = py.detach(|| {
        let structure = Whole::open(&directory, limit_bytes)?.structure(with_times)?;
        Ok((structure.to_json(&name).to_string(), structure.is_recorded()))
    });
    made.map_err(|error| explain(py, Failure::Read(error)))
}

/// Adds the functions of this module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(groups_text, module)?)?;
    module.add_function(wrap_pyfunction!(groups_json, module)?)?;
    module.add_function(wrap_pyfunction!(classes_json, module)?)
}
