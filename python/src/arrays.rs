//! Columns for Python: a dictionary of names, each with the letter of a numpy type and the bytes.

use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyTuple};

use crate::causes::Causes;
use crate::edges::Edges;
use crate::events::Events;
use crate::messages::Messages;
use crate::series::{Elements, Number};
use crate::summaries::Summaries;

/// A number type for which numpy has a letter.
pub(crate) trait Element: bytemuck::NoUninit {
    const LETTER: &'static str;
}

impl Element for u32 {
    const LETTER: &'static str = "u4";
}

impl Element for i32 {
    const LETTER: &'static str = "i4";
}

impl Element for u64 {
    const LETTER: &'static str = "u8";
}

impl Element for i64 {
    const LETTER: &'static str = "i8";
}

impl Element for f64 {
    const LETTER: &'static str = "f8";
}

/// Adds a column to `to`.
pub(crate) fn put<T: Element>(to: &Bound<'_, PyDict>, name: &str, values: &[T]) -> PyResult<()> {
    let bytes = PyByteArray::new(to.py(), bytemuck::cast_slice(values));
    to.set_item(name, (T::LETTER, bytes))
}

/// Returns a dictionary of summaries, with `ranks` as the ranks of the counts.
pub(crate) fn of_summaries<'py, T: Number + Element>(
    py: Python<'py>,
    summaries: &Summaries<T>,
    ranks: &[u32],
) -> PyResult<Bound<'py, PyDict>> {
    let to = PyDict::new(py);
    let mut of_each = Vec::with_capacity(summaries.sums.len());
    for (&rank, &count) in ranks.iter().zip(&summaries.counts) {
        of_each.extend((0..count).map(|_| rank));
    }
    put(&to, "rank", &of_each)?;
    put(&to, "execution", &summaries.executions)?;
    put(&to, "executions", &summaries.covered)?;
    put(&to, "visits", &summaries.visits)?;
    put(&to, "sum", &summaries.sums)?;
    put(&to, "min", &summaries.minima)?;
    put(&to, "max", &summaries.maxima)?;
    put(&to, "sum_squares", &summaries.squares)?;
    put(&to, "sum_variance", &summaries.variances)?;
    Ok(to)
}

/// Returns activities by number, facts of ranks by position, costs, and parts of paths.
pub(crate) fn of_causes<'py>(py: Python<'py>, causes: &Causes) -> PyResult<Bound<'py, PyTuple>> {
    let activities = PyDict::new(py);
    for (number, [kind, from, to]) in &causes.activities {
        activities.set_item(number, (*kind, *from, *to))?;
    }
    let [facts, costs, parts] = std::array::from_fn(|_| PyDict::new(py));
    put(&facts, "rank", &causes.ranks)?;
    for (fact, column) in causes.facts.iter().enumerate() {
        put(&facts, &fact.to_string(), column)?;
    }
    put(&costs, "rank", &causes.cost_ranks)?;
    let names = [
        "callpath",
        "cause_rank",
        "activity",
        "direct_ns",
        "direct_count",
        "propagated_ns",
        "propagated_count",
    ];
    for (name, column) in names.into_iter().zip(&causes.costs) {
        put(&costs, name, column)?;
    }
    put(&parts, "rank", &causes.part_ranks)?;
    for (name, column) in ["cause_rank", "activity", "ns"].into_iter().zip(&causes.parts) {
        put(&parts, name, column)?;
    }
    (activities, facts, costs, parts).into_pyobject(py)
}

/// Returns visits, cells and messages.
pub(crate) fn of_events<'py>(py: Python<'py>, events: &Events) -> PyResult<Bound<'py, PyTuple>> {
    let [visits, cells, messages] = std::array::from_fn(|_| PyDict::new(py));
    put(&visits, "rank", &events.ranks)?;
    put(&visits, "origin_ns", &events.origins_ns)?;
    put(&visits, "thread", &events.threads)?;
    put(&visits, "callpath", &events.callpaths)?;
    put(&visits, "depth", &events.depths)?;
    put(&visits, "begin_ns", &events.begins_ns)?;
    put(&visits, "duration_ns", &events.durations_ns)?;
    put(&cells, "rank", &events.cell_ranks)?;
    put(&cells, "thread", &events.cell_threads)?;
    put(&cells, "policy", &events.cell_policies)?;
    let names = ["class", "depth", "kept", "lost", "lost_first_ns", "lost_last_ns"];
    for (name, column) in names.into_iter().zip(&events.cells) {
        put(&cells, name, column)?;
    }
    let of = &events.messages;
    put(&messages, "rank", &of.ranks)?;
    put(&messages, "origin_ns", &of.origins_ns)?;
    put(&messages, "thread", &of.threads)?;
    put(&messages, "callpath", &of.callpaths)?;
    put(&messages, "at_ns", &of.times_ns)?;
    put(&messages, "received", &of.received)?;
    put(&messages, "partner", &of.partners)?;
    put(&messages, "communicator", &of.communicators)?;
    put(&messages, "tag", &of.tags)?;
    put(&messages, "number", &of.numbers)?;
    put(&messages, "bytes", &of.bytes)?;
    (visits, cells, messages).into_pyobject(py)
}

pub(crate) fn of_messages<'py>(
    py: Python<'py>,
    messages: &Messages,
) -> PyResult<Bound<'py, PyDict>> {
    let to = PyDict::new(py);
    put(&to, "rank", &messages.ranks)?;
    put(&to, "kind", &messages.kinds)?;
    put(&to, "partner", &messages.partners)?;
    put(&to, "size_class", &messages.size_classes)?;
    put(&to, "count", &messages.counts)?;
    put(&to, "bytes", &messages.bytes)?;
    Ok(to)
}

pub(crate) fn of_edges<'py>(py: Python<'py>, edges: &Edges) -> PyResult<Bound<'py, PyDict>> {
    let (to, numbers) = (PyDict::new(py), &edges.numbers);
    put(&to, "rank", &edges.ranks)?;
    put(&to, "kind", &edges.kinds)?;
    put(&to, "partner", &edges.partners)?;
    put(&to, "from", &edges.origins)?;
    put(&to, "count", &numbers.counts)?;
    put(&to, "bytes", &numbers.bytes)?;
    put(&to, "sum_ns", &numbers.sums)?;
    put(&to, "min_ns", &numbers.minima)?;
    put(&to, "max_ns", &numbers.maxima)?;
    put(&to, "sum_squares_ns2", &numbers.squares)?;
    put(&to, "compensated_ns", &numbers.compensated)?;
    put(&to, "transfer_ns", &numbers.transfers)?;
    put(&to, "wrong_order_ns", &numbers.wrong_orders)?;
    put(&to, "late_receiver_ns", &numbers.late_receivers)?;
    put(&to, "order", &numbers.orders)?;
    Ok(to)
}

pub(crate) fn of_elements<'py, T: Element>(
    py: Python<'py>,
    series: &Elements<T>,
) -> PyResult<Bound<'py, PyDict>> {
    let to = PyDict::new(py);
    put(&to, "rank", &series.ranks)?;
    put(&to, "execution", &series.executions)?;
    put(&to, "visits", &series.visits)?;
    put(&to, "sum", &series.sums)?;
    put(&to, "min", &series.minima)?;
    put(&to, "max", &series.maxima)?;
    Ok(to)
}
