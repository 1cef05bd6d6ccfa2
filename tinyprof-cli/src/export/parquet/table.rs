//! The columns of the table, filled row by row.

use tinyprof_format::model::{Callpath, CallpathIndex};

use super::column::{Column, Values};
use super::rows::{Numbers, Row, Texts};

/// Rows that are not yet written.
#[derive(Default)]
pub(super) struct Table<'a> {
    kind: Vec<Option<&'a str>>,
    metric: Vec<Option<&'a str>>,
    callpath: Vec<Option<&'a str>>,
    parent: Vec<Option<&'a str>>,
    path: Vec<Option<&'a str>>,
    rank: Vec<Option<u32>>,
    host: Vec<Option<&'a str>>,
    execution: Vec<Option<u32>>,
    executions: Vec<Option<u32>>,
    first_visit: Vec<Option<u64>>,
    visits: Vec<Option<u64>>,
    /// Sum, minimum and maximum.
    times_ns: [Vec<Option<u64>>; 3],
    standard_error_ns: Vec<Option<f64>>,
    /// Sum, minimum and maximum.
    metrics: [Vec<Option<f64>>; 3],
}

impl<'a> Table<'a> {
    pub(super) fn rows(&self) -> usize {
        self.kind.len()
    }

    pub(super) fn push(
        &mut self,
        texts: &'a Texts<'a>,
        callpath: &Callpath,
        index: CallpathIndex,
        rank: u32,
        row: &Row<'a>,
    ) {
        self.kind.push(Some(if row.is_series { "series" } else { "execution" }));
        self.metric.push(row.metric);
        self.callpath.push(Some(&texts.ids[index.row()]));
        self.parent.push(callpath.parent.map(|parent| texts.ids[parent.row()].as_str()));
        self.path.push(Some(&texts.paths[index.row()]));
        self.rank.push(Some(rank));
        self.host.push(texts.hosts[rank as usize]);
        self.execution.push(Some(row.execution));
        self.executions.push(Some(row.executions));
        self.first_visit.push(row.first_visit);
        self.visits.push(Some(row.visits));
        let (times_ns, standard_error_ns, metrics) = match row.numbers {
            Numbers::Time(times_ns, error) => (times_ns.map(Some), error, [None; 3]),
            Numbers::Metric(numbers) => ([None; 3], None, numbers.map(Some)),
        };
        self.times_ns.iter_mut().zip(times_ns).for_each(|(column, ns)| column.push(ns));
        self.standard_error_ns.push(standard_error_ns);
        self.metrics.iter_mut().zip(metrics).for_each(|(column, number)| column.push(number));
    }

    /// The columns in the order of the file. Ids are texts, as in the report: pandas makes floats of whole numbers that
    /// may be missing.
    pub(super) fn columns(self) -> Vec<Column<'a>> {
        let required = |name, values| Column { name, is_optional: false, values };
        let optional = |name, values| Column { name, is_optional: true, values };
        let [sum_ns, min_ns, max_ns] = self.times_ns;
        let [sum, min, max] = self.metrics;
        vec![
            required("kind", Values::Text(self.kind)),
            optional("metric", Values::Text(self.metric)),
            required("callpath", Values::Text(self.callpath)),
            optional("parent", Values::Text(self.parent)),
            required("path", Values::Text(self.path)),
            required("rank", Values::Whole32(self.rank)),
            optional("host", Values::Text(self.host)),
            required("execution", Values::Whole32(self.execution)),
            required("executions", Values::Whole32(self.executions)),
            optional("first_visit", Values::Whole64(self.first_visit)),
            required("visits", Values::Whole64(self.visits)),
            optional("sum_ns", Values::Whole64(sum_ns)),
            optional("min_ns", Values::Whole64(min_ns)),
            optional("max_ns", Values::Whole64(max_ns)),
            optional("standard_error_ns", Values::Float(self.standard_error_ns)),
            optional("sum", Values::Float(sum)),
            optional("min", Values::Float(min)),
            optional("max", Values::Float(max)),
        ]
    }
}
