//! The encoding of varying metrics: in the messages between ranks, and in a section of the part.
//!
//! In a message, each key has its summaries uncompressed, and its series encoded by the rank that
//! owns it:
//!
//! ```text
//! key's length u64 | key | summaries u64 | length of the series u64 | summaries, 48 bytes each |
//!          series
//! ```
//!
//! A section holds all metrics of one callpath: the number of keys, then each key in ascending
//! order, with its text and these columns over the ranks of the part:
//!
//! ```text
//! summaries of each rank (0: the rank recorded nothing under this key)
//! execution - position in the rank's list        all zero in a usual run
//! executions covered by each summary             all one in a usual run
//! values | sum
//! 1 byte: 0 if every summary holds one value, else minimum | maximum | sum of squares
//! length of each rank's series, then the encoded series themselves
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::series;
use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{CallpathValues, MetricSummary, MetricValues};

/// One metric of an [`EncodedCallpath`](super::EncodedCallpath).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EncodedMetric {
    /// The key.
    pub key: String,
    /// The summaries.
    pub executions: Vec<MetricSummary>,
    /// The encoded series; empty if there is none.
    pub series: Vec<u8>,
}

/// The length of one [`MetricSummary`] in a message, in bytes.
const SUMMARY_BYTES: usize = 48;

/// The length of a metric in a message without key, summaries and series, in bytes.
const HEAD_BYTES: usize = 24;

/// The memory of a rank's map of metrics with one key: a node has room for eleven.
const MAP_BYTES: usize = 11 * size_of::<(String, MetricValues)>() + 16;

/// The most memory of each further key, as nodes are at least half full and have parents.
const ENTRY_BYTES: usize = 3 * size_of::<(String, MetricValues)>();

/// The smallest size of a key in a section, in bytes: its length, and a column of at least 2 bytes
/// for each quantity.
const KEY_BYTES_MIN: usize = 14;

/// Encodes the metrics of a rank at one callpath, by key. Keys without values are omitted.
pub(super) fn encode(metrics: &BTreeMap<String, MetricValues>) -> Vec<EncodedMetric> {
    let recorded = metrics.iter().filter(|(_, values)| !values.is_empty());
    let encoded = recorded.map(|(key, values)| EncodedMetric {
        key: key.clone(),
        executions: values.executions.clone(),
        series: series::encode_metric(&values.series),
    });
    encoded.collect()
}

impl EncodedMetric {
    /// Returns the length in a message, in bytes.
    pub(super) fn message_length(&self) -> usize {
        HEAD_BYTES + self.key.len() + SUMMARY_BYTES * self.executions.len() + self.series.len()
    }

    pub(super) fn write_message(&self, sink: &mut Sink) {
        sink.u64(self.key.len() as u64);
        sink.bytes(self.key.as_bytes());
        sink.u64(self.executions.len() as u64);
        sink.u64(self.series.len() as u64);
        for e in &self.executions {
            sink.u32(e.execution);
            sink.u32(e.executions);
            sink.u64(e.values);
            [e.sum, e.min, e.max, e.sum_squares]
                .iter()
                .for_each(|number| sink.u64(number.to_bits()));
        }
        sink.bytes(&self.series);
    }

    pub(super) fn read_message(cursor: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let start = cursor.clone();
        let length = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let bytes = cursor.u64("the length of a metric's key")?;
        let key = cursor.take(length(bytes), "a metric's key")?.to_vec();
        let key =
            String::from_utf8(key).map_err(|_| start.malformed("a metric's key is not UTF-8"))?;
        let executions = cursor.u64("the number of a metric's summaries")?;
        let series_bytes = cursor.u64("the length of a metric's series")?;
        if executions > (cursor.remaining() / SUMMARY_BYTES) as u64 {
            let reason = format!("{executions} summaries of a metric do not fit the message");
            return Err(start.malformed(reason));
        }
        let executions = (0..executions).map(|_| read_summary(cursor)).collect::<Result<_, _>>()?;
        let series = cursor.take(length(series_bytes), "a metric's series")?.to_vec();
        Ok(Self { key, executions, series })
    }
}

fn read_summary(cursor: &mut Cursor<'_>) -> Result<MetricSummary, Malformed> {
    let execution = cursor.u32("an execution")?;
    let executions = cursor.u32("a number of executions")?;
    let values = cursor.u64("a number of values")?;
    let mut number = |what: &str| cursor.u64(what).map(f64::from_bits);
    Ok(MetricSummary {
        execution,
        executions,
        values,
        sum: number("a sum")?,
        min: number("a minimum")?,
        max: number("a maximum")?,
        sum_squares: number("a sum of squares")?,
    })
}

/// Encodes the section of a callpath: the metrics of each rank of the part; none if no rank
/// recorded any.
pub(super) fn encode_section(ranks: &[&[EncodedMetric]]) -> Option<Vec<u8>> {
    let keys: BTreeSet<&str> =
        ranks.iter().copied().flatten().map(|metric| metric.key.as_str()).collect();
    if keys.is_empty() {
        return None;
    }
    let mut sink = Sink::default();
    sink.varint(keys.len() as u64);
    for key in keys {
        sink.string(key);
        encode_key(
            &mut sink,
            &ranks.iter().map(|metrics| of_key(metrics, key)).collect::<Vec<_>>(),
        );
    }
    Some(sink.into_vec())
}

fn of_key<'a>(metrics: &'a [EncodedMetric], key: &str) -> (&'a [MetricSummary], &'a [u8]) {
    let found = metrics.iter().find(|metric| metric.key == key);
    found.map_or((&[], &[]), |metric| (&metric.executions, &metric.series))
}

fn encode_key(sink: &mut Sink, ranks: &[(&[MetricSummary], &[u8])]) {
    column::write_u64(sink, &ranks.iter().map(|(e, _)| e.len() as u64).collect::<Vec<_>>());
    let positions = ranks.iter().flat_map(|(e, _)| e.iter().zip(0_u64..));
    let gaps = positions.map(|(e, position)| u64::from(e.execution).wrapping_sub(position));
    column::write_u64(sink, &gaps.collect::<Vec<_>>());
    let summaries: Vec<MetricSummary> = ranks.iter().flat_map(|(e, _)| e.iter().copied()).collect();
    column::write_u64(sink, &summaries.iter().map(|e| u64::from(e.executions)).collect::<Vec<_>>());
    column::write_u64(sink, &summaries.iter().map(|e| e.values).collect::<Vec<_>>());
    let numbers = |sink: &mut Sink, of: fn(&MetricSummary) -> f64| {
        column::write_f64(sink, &summaries.iter().map(of).collect::<Vec<_>>());
    };
    numbers(sink, |e| e.sum);
    if summaries.iter().all(is_single) {
        sink.u8(0);
    } else {
        sink.u8(1);
        numbers(sink, |e| e.min);
        numbers(sink, |e| e.max);
        numbers(sink, |e| e.sum_squares);
    }
    column::write_u64(sink, &ranks.iter().map(|(_, s)| s.len() as u64).collect::<Vec<_>>());
    ranks.iter().for_each(|(_, series)| sink.bytes(series));
}

/// Returns true if the sum implies the whole summary. Compared bit by bit, because -0.0 equals 0.0
/// but must be kept apart from it.
fn is_single(summary: &MetricSummary) -> bool {
    let one = MetricSummary::of_one_value(summary.execution, summary.sum);
    let bits = |e: &MetricSummary| [e.min, e.max, e.sum_squares].map(f64::to_bits);
    (summary.executions, summary.values) == (1, 1) && bits(&one) == bits(summary)
}

/// Adds the metrics of a section to the values of the part's ranks.
pub(super) fn decode_section(
    cursor: &mut Cursor<'_>,
    ranks: &mut [CallpathValues],
) -> Result<(), Malformed> {
    let keys = cursor.count(cursor.remaining() / KEY_BYTES_MIN, "the number of metrics")?;
    let mut before: Option<String> = None;
    // All keys together may claim no more than one column, so that a few bytes cannot cause much
    // work.
    let mut left = column::MAX_VALUES;
    for _ in 0..keys {
        let start = cursor.clone();
        let key = cursor.string("a metric's key")?;
        if before.as_ref().is_some_and(|before| *before >= key) {
            return Err(start.malformed("the keys of metrics are not in ascending order"));
        }
        cursor.claim_temporary(ranks.len(), size_of::<MetricValues>(), "a metric")?;
        let metrics = cursor.passing(|cursor| decode_key(cursor, ranks.len(), &mut left))?;
        for (values, metric) in ranks.iter_mut().zip(metrics) {
            if !metric.is_empty() {
                let map = if values.metrics.is_empty() { MAP_BYTES } else { ENTRY_BYTES };
                cursor.claim_kept(1, map + key.len(), "the keys of metrics")?;
                values.metrics.insert(key.clone(), metric);
            }
        }
        before = Some(key);
    }
    Ok(())
}

/// Decodes the values of one key, rank by rank. `left` is the number of ranks and summaries that
/// the section may still claim.
fn decode_key(
    cursor: &mut Cursor<'_>,
    ranks: usize,
    left: &mut usize,
) -> Result<Vec<MetricValues>, Malformed> {
    let start = cursor.clone();
    let lengths = column::read_u64(cursor, ranks, "the numbers of a metric's summaries")?;
    let total = lengths.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    let total = total.and_then(|n| usize::try_from(n).ok());
    let rest = total.and_then(|total| left.checked_sub(ranks)?.checked_sub(total));
    let (Some(total), Some(rest)) = (total, rest) else {
        return Err(start.malformed("a metric claims more summaries than can be"));
    };
    *left = rest;
    let gaps = column::read_u64(cursor, total, "a metric's executions")?;
    let spans = column::read_u64(cursor, total, "a metric's covered executions")?;
    let values = column::read_u64(cursor, total, "a metric's values")?;
    let sums = column::read_f64(cursor, total, "a metric's sums")?;
    let more = match cursor.u8("the kind of a metric's summaries")? {
        0 => None,
        1 => Some((
            column::read_f64(cursor, total, "a metric's minima")?,
            column::read_f64(cursor, total, "a metric's maxima")?,
            column::read_f64(cursor, total, "a metric's sums of squares")?,
        )),
        other => {
            return Err(cursor.malformed(format!("{other} is no kind of a metric's summaries")));
        }
    };
    cursor.claim_kept(total, size_of::<MetricSummary>(), "a metric's summaries")?;
    let mut at = 0;
    let mut metrics = Vec::with_capacity(ranks);
    for &length in &lengths {
        // The lengths add up to the length of the columns that have been read.
        let mut executions = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        for position in 0..length {
            let execution = u32::try_from(gaps[at].wrapping_add(position));
            let (Ok(execution), Ok(span)) = (execution, u32::try_from(spans[at])) else {
                return Err(start.malformed("a metric's execution does not fit 32 bits"));
            };
            executions.push(match &more {
                None => MetricSummary::of_one_value(execution, sums[at]),
                Some((minima, maxima, squares)) => MetricSummary {
                    execution,
                    executions: span,
                    values: values[at],
                    sum: sums[at],
                    min: minima[at],
                    max: maxima[at],
                    sum_squares: squares[at],
                },
            });
            at += 1;
        }
        metrics.push(MetricValues { executions, series: Vec::new() });
    }
    let lengths = column::read_u64(cursor, ranks, "the lengths of a metric's series")?;
    for (metric, length) in metrics.iter_mut().zip(lengths) {
        let base = cursor.clone();
        let bytes =
            cursor.take(usize::try_from(length).unwrap_or(usize::MAX), "a metric's series")?;
        metric.series = base.sub(bytes).passing(series::decode_metric)?;
    }
    Ok(metrics)
}

#[cfg(test)]
mod tests;
