//! The table rows of one callpath on one rank.

use parquet::data_type::ByteArray;
use tinyprof_format::model::{CallpathValues, ExecutionSummary, MessageKind, MetricValues};

use crate::export::exporter::Source;
use crate::export::paths;

/// The contents of a row, other than its origin.
pub(super) struct Row<'a> {
    pub(super) kind: Kind,
    /// The metric; `None` for times.
    pub(super) metric: Option<&'a str>,
    pub(super) execution: u32,
    pub(super) executions: u32,
    pub(super) first_visit: Option<u64>,
    pub(super) visits: u64,
    pub(super) numbers: Numbers,
}

/// The kinds of rows.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A summary of executions.
    Execution,
    /// An element of a series.
    Series,
    /// Messages of one kind, partner and size class.
    Message,
}

impl Kind {
    /// The names, in the order of the variants.
    const NAMES: [&str; 3] = ["execution", "series", "message"];
}

pub(super) enum Numbers {
    Time(Time),
    /// Values of a metric: sum, minimum, maximum.
    Metric([f64; 3]),
    /// Messages.
    Message(Message),
}

/// Times in nanoseconds.
#[derive(Clone, Copy)]
pub(super) struct Time {
    pub(super) sum_ns: u64,
    /// The minimum and the maximum; none for a single visit.
    pub(super) extrema_ns: Option<[u64; 2]>,
    /// The sum without the callees; none for series and for callpaths without callees.
    pub(super) exclusive_ns: Option<u64>,
    /// The standard error of an estimated sum.
    pub(super) standard_error_ns: Option<f64>,
}

/// Messages with the same key; their number is that of the row's visits.
#[derive(Clone, Copy)]
pub(super) struct Message {
    pub(super) kind: MessageKind,
    /// The other rank, or the number of ranks of a collective operation.
    pub(super) partner: Option<i64>,
    pub(super) size_class: u8,
    pub(super) bytes: u64,
}

/// Texts that many rows share.
pub(super) struct Texts {
    /// Ids by row of the callpath table.
    pub(super) ids: Vec<ByteArray>,
    /// Paths by row of the callpath table.
    pub(super) paths: Vec<ByteArray>,
    /// Hosts by rank; `None` if unknown.
    pub(super) hosts: Vec<Option<ByteArray>>,
    /// The number of the job in the batch system; `None` if there is none.
    pub(super) job: Option<ByteArray>,
    /// The start of the run, in milliseconds since 1970; `None` if unknown.
    pub(super) date_ms: Option<i64>,
    kinds: [ByteArray; Kind::NAMES.len()],
    transfers: [ByteArray; MessageKind::ALL.len()],
}

impl Texts {
    /// # Errors
    /// If all paths together would be too long.
    pub(super) fn of(source: &Source<'_>) -> Result<Self, String> {
        let paths = paths::plain(source.callpaths())?;
        let host = |host: &String| (!host.is_empty()).then(|| ByteArray::from(host.as_str()));
        let ids = source.callpaths().rows().iter().map(|row| format!("{:016x}", row.id.to_bits()));
        let metadata = &source.manifest().metadata;
        let date_s = i64::try_from(metadata.launchdate).ok().filter(|date_s| *date_s > 0);
        Ok(Self {
            job: metadata.jobid.as_deref().map(ByteArray::from),
            date_ms: date_s.and_then(|date_s| date_s.checked_mul(1_000)),
            ids: ids.map(|id| ByteArray::from(id.as_str())).collect(),
            paths: paths.iter().map(|path| ByteArray::from(path.as_str())).collect(),
            hosts: source.facts().iter().map(|rank| host(&rank.host)).collect(),
            kinds: Kind::NAMES.map(ByteArray::from),
            transfers: MessageKind::ALL.map(|kind| ByteArray::from(kind.name())),
        })
    }

    pub(super) fn kind(&self, kind: Kind) -> ByteArray {
        self.kinds[kind as usize].clone()
    }

    pub(super) fn transfer(&self, kind: MessageKind) -> ByteArray {
        self.transfers[kind as usize].clone()
    }
}

/// Returns summaries and series of the time, then those of each metric, then messages, which are of
/// all `executions` of the run. `called` has the rank's times at the callpath's callees, if it has
/// any.
pub(super) fn rows<'a>(
    values: &'a CallpathValues,
    called: Option<&'a [(u32, u64)]>,
    rank: usize,
    executions: u32,
) -> impl Iterator<Item = Row<'a>> {
    let messages = values.messages.iter().map(move |(&key, traffic)| Row {
        kind: Kind::Message,
        metric: None,
        execution: 0,
        executions,
        first_visit: None,
        visits: traffic.count,
        numbers: Numbers::Message(Message {
            kind: key.kind,
            partner: tinyprof_report::partner(key, rank),
            size_class: key.size_class,
            bytes: traffic.bytes,
        }),
    });
    let executions = values.executions.iter().map(move |e| Row {
        kind: Kind::Execution,
        metric: None,
        execution: e.execution,
        executions: e.executions,
        first_visit: None,
        visits: e.visits,
        numbers: Numbers::Time(Time {
            sum_ns: e.sum_ns,
            extrema_ns: (e.visits > 1).then_some([e.min_ns, e.max_ns]),
            exclusive_ns: called.map(|called| exclusive_ns(e, called)),
            standard_error_ns: standard_error_ns(e),
        }),
    });
    let mut place = VisitCounter::default();
    let series = values.series.iter().map(move |b| Row {
        kind: Kind::Series,
        metric: None,
        execution: b.execution,
        executions: 1,
        first_visit: Some(place.advance(b.execution, b.visits)),
        visits: b.visits.into(),
        numbers: Numbers::Time(Time {
            sum_ns: b.sum_ns,
            extrema_ns: (b.visits > 1).then_some([b.min_ns, b.max_ns]),
            exclusive_ns: None,
            standard_error_ns: None,
        }),
    });
    let metrics = values.metrics.iter().flat_map(|(key, metric)| metric_rows(key, metric));
    executions.chain(series).chain(metrics).chain(messages)
}

fn metric_rows<'a>(key: &'a str, metric: &'a MetricValues) -> impl Iterator<Item = Row<'a>> {
    let executions = metric.executions.iter().map(move |e| Row {
        kind: Kind::Execution,
        metric: Some(key),
        execution: e.execution,
        executions: e.executions,
        first_visit: None,
        visits: e.values,
        numbers: Numbers::Metric([e.sum, e.min, e.max]),
    });
    let mut place = VisitCounter::default();
    let series = metric.series.iter().map(move |b| Row {
        kind: Kind::Series,
        metric: Some(key),
        execution: b.execution,
        executions: 1,
        first_visit: Some(place.advance(b.execution, b.values)),
        visits: b.values.into(),
        numbers: Numbers::Metric([b.sum, b.min, b.max]),
    });
    executions.chain(series)
}

/// Returns the sum without those of the callees' summaries that begin within the same executions; 0
/// if these took longer, on several threads.
fn exclusive_ns(summary: &ExecutionSummary, called: &[(u32, u64)]) -> u64 {
    let first = summary.execution;
    let end = first.saturating_add(summary.executions.max(1));
    let from = called.partition_point(|(execution, _)| *execution < first);
    let within = called[from..].iter().take_while(|(execution, _)| *execution < end);
    within.fold(summary.sum_ns, |rest, (_, ns)| rest.saturating_sub(*ns))
}

fn standard_error_ns(summary: &ExecutionSummary) -> Option<f64> {
    (summary.sum_variance_ns2 > 0.0).then(|| summary.sum_variance_ns2.sqrt())
}

/// A counter of the visits of a series within each execution.
#[derive(Default)]
struct VisitCounter {
    execution: u32,
    visits: u64,
}

impl VisitCounter {
    /// Returns the 0-based number of the first of the next `visits` visits.
    fn advance(&mut self, execution: u32, visits: u32) -> u64 {
        if execution != self.execution {
            *self = Self { execution, visits: 0 };
        }
        let first = self.visits;
        self.visits += u64::from(visits);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_are_counted_anew_in_each_execution() {
        let mut place = VisitCounter::default();
        let seen = [(0, 1), (0, 4), (0, 1), (3, 2), (3, 2)]
            .map(|(execution, n)| place.advance(execution, n));
        assert_eq!(seen, [0, 1, 5, 0, 2]);
    }
}
