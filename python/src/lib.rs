//! The reader behind the Python package `tinyprof`. It is written from docs/format.md, not from the
//! writer's code: if both agree, the document is sufficient. Only `reports`, `groups` and `whole`
//! use the libraries of the command.
//!
//! Python reads the manifest and builds frames; this crate contains the parts that would take too
//! long there.

mod arrays;
mod callpaths;
mod causes;
mod cells;
mod children;
mod column;
mod commands;
mod communication;
mod cursor;
mod edges;
mod events;
mod file;
mod groups;
mod keys;
mod messages;
mod metrics;
mod part;
mod reader;
mod reports;
mod sections;
mod series;
mod summaries;
mod times;
mod whole;

use std::path::PathBuf;

use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyByteArray, PyDict, PyList, PyString, PyTuple};

use cells::{Columns, Unit};

use file::{Error, Listed};
use reader::Profile;
use summaries::Detail;

/// A dictionary for each column.
type Dictionaries<'py> = Vec<Bound<'py, PyDict>>;
/// Hosts, columns, and those of losses, facts of the clocks and of the processors.
type Facts<'py> = (
    Vec<(String, usize)>,
    Bound<'py, PyDict>,
    Dictionaries<'py>,
    Dictionaries<'py>,
    Dictionaries<'py>,
);

/// The files of one profile.
#[pyclass(frozen)]
struct Reader(Profile);

#[pymethods]
impl Reader {
    #[new]
    #[pyo3(signature = (directory, dictionary, rows, parts, limit_bytes, first_rank = 0))]
    fn new(
        py: Python<'_>,
        directory: PathBuf,
        dictionary: Listed,
        rows: usize,
        parts: Vec<(Listed, u32, u32)>,
        limit_bytes: u64,
        first_rank: u32,
    ) -> PyResult<Self> {
        let parts = (parts, first_rank);
        let read = Profile::open(&directory, (dictionary, rows), parts, limit_bytes);
        read.map(Self).map_err(|error| raise(py, error))
    }

    /// Returns the rows of the dictionary as tuples.
    fn callpaths<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        // A million rows have few different texts: each text is one Python object.
        let strings: Vec<_> =
            self.0.callpaths.strings.iter().map(|text| PyString::new(py, text)).collect();
        let list = PyList::empty(py);
        for row in &self.0.callpaths.rows {
            let [name, module, file] = row.texts.map(|number| &strings[number as usize]);
            let texts = (name, module, file, row.line, row.column);
            let constants =
                (!row.constants.is_empty()).then(|| row.constants.clone().into_py_dict(py));
            let constants = constants.transpose()?;
            list.append((
                row.id,
                row.site,
                row.parent(),
                texts,
                row.kind,
                row.mode,
                row.rank_local,
                constants,
            ))?;
        }
        Ok(list)
    }

    /// Returns the facts of the ranks: hosts with their numbers of ranks, then columns, then
    /// losses, then clocks, then processors.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Facts<'py>> {
        let facts = self.0.facts().map_err(|error| raise(py, error))?;
        let columns = PyDict::new(py);
        arrays::put(&columns, "process_id", &facts.process_ids)?;
        arrays::put(&columns, "threads", &facts.threads)?;
        arrays::put(&columns, "peak_memory_bytes", &facts.peaks_bytes)?;
        let each = |numbers: &[Vec<u64>]| {
            let columns = numbers.iter().map(|numbers| {
                let column = PyDict::new(py);
                arrays::put(&column, "number", numbers)?;
                Ok(column)
            });
            columns.collect::<PyResult<Vec<_>>>()
        };
        let clocks = each(&facts.clocks)?;
        Ok((facts.hosts, columns, each(&facts.losses)?, clocks, each(&facts.processors)?))
    }

    /// Returns the values of each callpath on each rank over all executions, with the callpaths in
    /// the given `order` of rows.
    ///
    /// The result is the number of cells of each callpath in that order, a flag that is true if
    /// there is a column of ranks, and columns of 64 bits one after the other: visits, sums and
    /// exclusive times; the cell's rank, unless every rank has a cell of every callpath; and
    /// minima, maxima, and variances of the sums, if `all` is set. If `dense` is set, every rank
    /// has a cell of every callpath, with zeros for missing ones. Sums and exclusive times are
    /// integers in nanoseconds, or floats in seconds if `seconds` is set.
    fn cells<'py>(
        &self,
        py: Python<'py>,
        order: Vec<usize>,
        ranks: usize,
        all: bool,
        seconds: bool,
        dense: bool,
    ) -> PyResult<(Vec<usize>, bool, Bound<'py, PyByteArray>)> {
        let detail = if all { Detail::All } else { Detail::Sums };
        let unit = if seconds { Unit::Seconds } else { Unit::Nanoseconds };
        let counts = if dense {
            vec![ranks; self.0.callpaths.rows.len()]
        } else {
            self.0.count_cells().map_err(|error| raise(py, error))?
        };
        let mut starts = vec![0; counts.len()];
        let mut cells = 0;
        for &row in &order {
            starts[row] = cells;
            cells += counts[row];
        }
        let has_ranks = counts.iter().any(|&count| count != ranks);
        let bytes = Columns::count(has_ranks, detail).saturating_mul(cells).saturating_mul(8);
        self.0.check_limit(bytes).map_err(|error| raise(py, error))?;
        let filled = PyByteArray::new_with(py, bytes, |bytes| {
            let values = bytemuck::try_cast_slice_mut(bytes).map_err(|error| {
                PyMemoryError::new_err(format!(
                    "memory of Python is not aligned to 8 bytes: {error}"
                ))
            })?;
            let mut columns = Columns::within(values, cells, has_ranks, detail);
            self.0.fill_cells(&mut columns, starts, detail, unit).map_err(|error| raise(py, error))
        })?;
        Ok((order.iter().map(|&row| counts[row]).collect(), has_ranks, filled))
    }

    /// Returns the summaries and the series of a callpath.
    fn times<'py>(
        &self,
        py: Python<'py>,
        row: usize,
    ) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        let (summaries, ranks, series) = self.0.times(row).map_err(|error| raise(py, error))?;
        Ok((arrays::of_summaries(py, &summaries, &ranks)?, arrays::of_elements(py, &series)?))
    }

    /// Returns the metrics of a callpath by key: summaries and series.
    fn metrics<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        for (key, metric) in self.0.metrics(row).map_err(|error| raise(py, error))? {
            let summaries = arrays::of_summaries(py, &metric.summaries, &metric.ranks)?;
            found.set_item(key, (summaries, arrays::of_elements(py, &metric.series)?))?;
        }
        Ok(found)
    }

    /// Returns the messages of a callpath: columns over its keys and their ranks.
    fn messages<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyDict>> {
        let found = self.0.messages(row).map_err(|error| raise(py, error))?;
        arrays::of_messages(py, &found)
    }

    /// Returns the rows of the dictionary that have messages on some rank.
    fn rows_with_messages(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        self.0.rows_with_messages().map_err(|error| raise(py, error))
    }

    /// Returns the edges to a callpath: columns over its keys and their ranks.
    fn edges<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyDict>> {
        let found = self.0.edges(row).map_err(|error| raise(py, error))?;
        arrays::of_edges(py, &found)
    }

    /// Returns the rows of the dictionary that have edges on some rank.
    fn rows_with_edges(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        self.0.rows_with_edges().map_err(|error| raise(py, error))
    }

    /// Returns the causes of waiting: what each activity is by its number, then facts, costs and
    /// parts of paths as columns.
    fn causes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let found = self.0.causes().map_err(|error| raise(py, error))?;
        arrays::of_causes(py, &found)
    }

    /// Returns the events: visits, cells and messages, as columns.
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let found = self.0.events().map_err(|error| raise(py, error))?;
        arrays::of_events(py, &found)
    }

    /// Returns the commands of all ranks, and rank, commands without room and time off of those
    /// that were given any.
    fn commands<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let found = self.0.commands().map_err(|error| raise(py, error))?;
        (found.commands, found.ranks).into_pyobject(py)
    }

    /// Returns the rows of the dictionary that have metrics on some rank.
    fn rows_with_metrics(&self) -> Vec<usize> {
        self.0.rows_with_metrics()
    }
}

/// Returns the exception for an error: one of `tinyprof.errors`, or one of Python's own.
fn raise(py: Python<'_>, error: Error) -> PyErr {
    let made = match error {
        Error::Io(path, source) => {
            let text = format!("cannot read {}: {source}", path.display());
            return std::io::Error::new(source.kind(), text).into();
        }
        Error::TooLarge(path, reason) => {
            of_errors(py, "TooLargeError").and_then(|class| class.call1((path, reason)))
        }
        Error::Damaged(path, damage) => of_errors(py, "DamagedError")
            .and_then(|class| class.call1((path, damage.offset, damage.reason))),
        Error::NewerVersion(path, found) => {
            of_errors(py, "NewerVersionError").and_then(|class| class.call1((path, found)))
        }
    };
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Returns a `ProfileError` with this text.
fn profile_error(py: Python<'_>, path: PathBuf, text: String) -> PyErr {
    let made = of_errors(py, "ProfileError").and_then(|class| class.call1((path, text)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Returns a class or function of `tinyprof.errors`.
fn of_errors<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("tinyprof.errors")?.getattr(name)
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("NEWEST_VERSION", sections::NEWEST)?;
    module.add_class::<Reader>()?;
    groups::add_to(module)?;
    reports::add_to(module)
}
