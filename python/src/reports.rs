//! Reports and comparisons: those of the command, made by the same libraries.

use std::error::Error;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;
use tinyprof_diff::{Diff, Estimator, Options, Runs, Side};
use tinyprof_format::error::ReadError;
use tinyprof_report::cells::{percent_cell, time_cell};
use tinyprof_report::{ByCallpath as _, Report, SortKey, TextOptions, UnknownMetric};
use tinyprof_views::LongJson;
use tinyprof_why::Why;

use crate::cursor::Damage;
use crate::file;
use crate::raise;
use crate::whole::Whole;

/// The profile of a report: its directory, its name, and the memory for reading it, in bytes.
pub(crate) type Source = (PathBuf, String, u64);

/// An error on the way to a report.
pub(crate) enum Failure {
    Read(ReadError),
    UnknownMetric(UnknownMetric),
    Other(String),
}

/// Returns the text of `tinyprof report`.
#[pyfunction]
fn report_text(
    py: Python<'_>,
    source: Source,
    by: &str,
    metric: Option<&str>,
    width: u16,
    all: bool,
) -> PyResult<String> {
    let options = TextOptions::default().with_width(width);
    let options = if all { options.unfolded() } else { options };
    let made = py.detach(|| {
        let report = report(&source, by, metric)?;
        if metric.is_some() {
            return Ok(report.to_text(&options));
        }
        Ok(why(&source, &[])?.0.report_text(&report, &options))
    });
    made.map_err(|failure| explain(py, failure))
}

/// Returns the JSON of `tinyprof why --json` with these files of rules, and a line for each rule
/// that is left out.
#[pyfunction]
fn why_json(
    py: Python<'_>,
    source: Source,
    rules: Vec<PathBuf>,
) -> PyResult<(String, Vec<String>)> {
    let made = py.detach(|| {
        let (why, notes) = why(&source, &rules)?;
        Ok((why.to_json().to_string(), notes))
    });
    made.map_err(|failure| explain(py, failure))
}

fn why(
    (directory, _, limit_bytes): &Source,
    rules: &[PathBuf],
) -> Result<(Why, Vec<String>), Failure> {
    let (mut why, totals) = Why::of_source(&Whole::open(directory, *limit_bytes)?)?;
    let (rules, mut notes) = tinyprof_rules::load(rules);
    notes.extend(rules.apply(&mut why, &totals, &Report::of_totals(&totals)));
    Ok((why, notes))
}

/// Returns the JSON of `tinyprof report --json`.
#[pyfunction]
fn report_json(py: Python<'_>, source: Source, by: &str, metric: Option<&str>) -> PyResult<String> {
    let made = py.detach(|| text_of(&tinyprof_views::report_json(&report(&source, by, metric)?)));
    made.map_err(|failure| explain(py, failure))
}

fn report(
    (directory, name, limit_bytes): &Source,
    by: &str,
    metric: Option<&str>,
) -> Result<Report, Failure> {
    let totals = Whole::open(directory, *limit_bytes)?.totals()?;
    let report = match by {
        "callpath" => Report::of_totals(&totals),
        "line" => tinyprof_views::by_line(&totals),
        _ => tinyprof_views::by_region(&totals),
    };
    let report = report.named(name);
    Ok(match metric {
        Some(metric) => report.by_metric(SortKey::from(metric)).map_err(Failure::UnknownMetric)?,
        None => report,
    })
}

pub(crate) fn text_of(json: &LongJson<'_>) -> Result<String, Failure> {
    let mut text = Vec::new();
    json.write(&mut text).map_err(|error| Failure::Other(error.to_string()))?;
    String::from_utf8(text).map_err(|error| Failure::Other(error.to_string()))
}

/// Two sides that were compared.
#[pyclass(frozen)]
struct Comparison(Diff);

#[pymethods]
impl Comparison {
    /// Compares the runs of both sides.
    #[new]
    fn new(
        py: Python<'_>,
        base: Vec<Source>,
        new: Vec<Source>,
        metric: &str,
        estimator: &str,
        fail_above: Option<f64>,
        min_share: f64,
    ) -> PyResult<Self> {
        let estimator: Estimator =
            estimator.parse().map_err(|error| PyValueError::new_err(format!("{error}")))?;
        let options = Options { metric: SortKey::from(metric), estimator, fail_above, min_share };
        let made = py.detach(|| {
            let mut runs = Runs::new(options);
            for (side, sources) in [(Side::Base, base), (Side::New, new)] {
                for (directory, name, limit_bytes) in sources {
                    add(&mut runs, side, (&directory, &name, limit_bytes))?;
                }
            }
            Ok(runs.compare())
        });
        made.map(Self).map_err(|failure| explain(py, failure))
    }

    /// Returns the text of `tinyprof diff`.
    fn text(&self, all: bool, width: u16) -> String {
        self.0.to_text(all, width)
    }

    /// Returns the JSON of `tinyprof diff --json`.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        text_of(&self.0.json()).map_err(|failure| explain(py, failure))
    }

    /// Returns the sentences above and below the table.
    fn notes(&self) -> (String, Vec<String>) {
        (self.0.samples(), self.0.notes())
    }

    /// Returns true if a callpath is up by more than the limit.
    fn is_above_limit(&self) -> bool {
        self.0.is_above_limit()
    }
}

fn add(
    runs: &mut Runs,
    side: Side,
    (directory, name, limit_bytes): (&Path, &str, u64),
) -> Result<(), Failure> {
    let profile = Whole::open(directory, limit_bytes)?;
    let ranks: Vec<usize> = (0..profile.ranks().len()).collect();
    Ok(runs.add(side, name, &profile, &ranks)?)
}

/// Returns a name of a profile with all characters escaped that could move a cursor, reorder a line
/// or hide in it.
#[pyfunction]
fn escaped(name: &str) -> String {
    tinyprof_report::escaped(name)
}

/// Returns a time as tables show it.
#[pyfunction]
fn time_text(ns: f64) -> String {
    // A sum over ranks may exceed 64 bits. The conversion saturates.
    time_cell(ns.round() as u128)
}

/// Returns a share as tables show it.
#[pyfunction]
fn percent_text(share: f64) -> String {
    percent_cell(share)
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<Box<dyn Error>> for Failure {
    fn from(error: Box<dyn Error>) -> Self {
        let error = match error.downcast::<ReadError>() {
            Ok(read) => return Self::Read(*read),
            Err(other) => other,
        };
        match error.downcast::<UnknownMetric>() {
            Ok(unknown) => Self::UnknownMetric(*unknown),
            Err(other) => Self::Other(other.to_string()),
        }
    }
}

/// Returns the exception for an unknown metric, with those of similar names.
fn unknown_metric(py: Python<'_>, unknown: &UnknownMetric) -> PyErr {
    let known = unknown.known.iter().map(String::as_str);
    let known: Vec<&str> = known.chain(["inclusive", "exclusive", "visits"]).collect();
    let near = crate::of_errors(py, "near").and_then(|near| near.call1((&unknown.key, known)));
    match near.and_then(|near| near.extract::<String>()) {
        Ok(near) => PyKeyError::new_err(format!("{unknown}{near}")),
        Err(error) => error,
    }
}

/// Returns the exception for a failure, as the package's own reader raises it.
pub(crate) fn explain(py: Python<'_>, failure: Failure) -> PyErr {
    let error = match failure {
        Failure::Read(error) => error,
        Failure::UnknownMetric(unknown) => return unknown_metric(py, &unknown),
        Failure::Other(reason) => return PyOSError::new_err(reason),
    };
    let text = error.to_string();
    let own = match error {
        ReadError::Io { path, source } => file::Error::Io(path, source),
        ReadError::NewerVersion { path, found } => file::Error::NewerVersion(path, found),
        ReadError::OverLimit { path, reason, .. } => file::Error::TooLarge(path, reason),
        ReadError::Damaged { path, offset, reason } => {
            file::Error::Damaged(path, Damage::at(offset, reason))
        }
        ReadError::WrongLength { path, expected_bytes, found_bytes } => {
            file::Error::Damaged(path, Damage::at(found_bytes.min(expected_bytes), text))
        }
        ReadError::NotFound { directory } | ReadError::NoManifest { directory, .. } => {
            return crate::profile_error(py, directory, text);
        }
        ReadError::BadManifest { path, .. } => return crate::profile_error(py, path, text),
        _ => return PyOSError::new_err(text),
    };
    raise(py, own)
}

/// Adds the functions and classes of this module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(report_text, module)?)?;
    module.add_function(wrap_pyfunction!(report_json, module)?)?;
    module.add_function(wrap_pyfunction!(why_json, module)?)?;
    module.add_function(wrap_pyfunction!(escaped, module)?)?;
    module.add_function(wrap_pyfunction!(time_text, module)?)?;
    module.add_function(wrap_pyfunction!(percent_text, module)?)?;
    module.add_class::<Comparison>()
}
