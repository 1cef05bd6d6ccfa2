//! The values of one rank as sent to an aggregator: in the order of the dictionary, with encoded
//! series.
//!
//! A rank sends two messages: the summary, and the series with metrics, counted messages and edges.
//! The summary is padded to the size of the largest, so that one uniform gather collects them
//! (paper, section V-A). It omits callpaths that the rank never visited; the padding takes their
//! place.

use super::causes;
use super::commands;
use super::edges;
use super::events;
use super::keys;
use super::messages;
use super::metrics::{self, EncodedMetric};
use super::series;
use crate::bytes::{Cursor, Malformed, Sink};
use crate::error::DecodeError;
use crate::model::{
    CallpathTable, ClockFacts, Edge, EdgeKey, EventMap, ExecutionSummary, Losses, MessageKey,
    ProcessorFacts, RankCommands, RankFacts, Traffic,
};

/// One callpath of an [`EncodedRank`].
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedCallpath {
    /// The row in the dictionary.
    pub row: u32,
    /// The summaries; empty only where there are metrics, messages or edges.
    pub executions: Vec<ExecutionSummary>,
    /// The encoded series; empty if there is none.
    pub series: Vec<u8>,
    /// The varying metrics, by key.
    pub metrics: Vec<EncodedMetric>,
    /// The messages, in the order of their keys.
    pub messages: Vec<(MessageKey, Traffic)>,
    /// The edges, in the order of their keys.
    pub edges: Vec<(EdgeKey, Edge)>,
}

/// The contribution of one rank to a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EncodedRank {
    /// The facts that the rank reports about itself.
    pub facts: RankFacts,
    /// The callpaths that it visited, by row.
    pub callpaths: Vec<EncodedCallpath>,
    /// The encoded events; empty if it kept none. There are none in its facts.
    pub events: Vec<u8>,
}

/// The length of one [`ExecutionSummary`] in a message, in bytes.
const SUMMARY_BYTES: usize = 56;

/// The length of the fields before the summaries of a callpath, in bytes.
const CALLPATH_BYTES: usize = 36;

/// The length of a rank's facts without its host and its clock, and of the number of callpaths, in
/// bytes.
const FACTS_BYTES: usize = 21 + 8 * (Losses::COUNT + ProcessorFacts::COUNT);

/// The length of the facts of a clock, in bytes.
const CLOCK_BYTES: usize = 8 * ClockFacts::COUNT;

/// The flags of a summary: whether it has the facts of a clock, and whether causes of waiting,
/// events and commands are at the end of the series message.
const HAS_CLOCK: u8 = 1;
const HAS_CAUSES: u8 = 2;
const HAS_EVENTS: u8 = 4;
const HAS_COMMANDS: u8 = 8;

impl EncodedRank {
    /// Encodes the event map of a rank. Its rows are those of its own table until it is
    /// [renumbered](Self::renumber).
    #[must_use]
    pub fn of_event_map(map: &EventMap) -> Self {
        let visited = (0..).zip(&map.values).filter(|(_, values)| !values.is_absent());
        let callpaths = visited.map(|(row, values)| EncodedCallpath {
            row,
            executions: values.executions.clone(),
            series: series::encode(&values.series),
            metrics: metrics::encode(&values.metrics),
            messages: keys::records(&values.messages),
            edges: keys::records(&values.edges),
        });
        let events = map.facts.events.as_deref().map(events::encode).unwrap_or_default();
        let facts = RankFacts { losses: map.losses(), events: None, ..map.facts.clone() };
        Self { facts, callpaths: callpaths.collect(), events }
    }

    /// Renumbers the rows from `own`, the table used for encoding, to those of `dictionary`, which
    /// must contain all its callpaths. The lengths of the messages do not change.
    ///
    /// # Panics
    /// If a callpath is missing from the dictionary. Phase 1 includes them all.
    pub fn renumber(&mut self, own: &CallpathTable, dictionary: &CallpathTable) {
        if own.identities() == dictionary.identities() {
            return;
        }
        let index = dictionary.index_by_identity();
        for callpath in &mut self.callpaths {
            let identity = own.identities()[callpath.row as usize];
            callpath.row = u32::try_from(index[&identity].row())
                .expect("a callpath table has fewer than 2^32 rows");
        }
        self.callpaths.sort_by_key(|c| c.row);
    }

    /// Returns the number of executions: one more than the last execution of any callpath.
    #[must_use]
    pub(crate) fn executions(&self) -> u32 {
        let last = self.callpaths.iter().filter_map(|c| c.executions.last());
        last.map(|e| e.execution.saturating_add(e.executions)).max().unwrap_or(0)
    }

    /// Returns the length of the summary message, in bytes. It does not depend on the dictionary.
    #[must_use]
    pub fn summary_length(&self) -> usize {
        let host = Sink::varint_length(self.facts.host.len() as u64) + self.facts.host.len();
        let executions = self.callpaths.iter().map(|c| c.executions.len()).sum::<usize>();
        let clock = if self.facts.clock.is_empty() { 0 } else { CLOCK_BYTES };
        host + clock
            + FACTS_BYTES
            + self.callpaths.len() * CALLPATH_BYTES
            + executions * SUMMARY_BYTES
    }

    /// Appends the summary message.
    ///
    /// # Panics
    /// Never: a table has fewer than 2^32 rows, and a callpath fewer messages and edges.
    pub fn append_summary(&self, message: &mut Vec<u8>) {
        let length =
            |records| u32::try_from(records).expect("a callpath has fewer than 2^32 records");
        message.reserve(self.summary_length());
        let mut sink = Sink::behind(message);
        sink.string(&self.facts.host);
        sink.u32(self.facts.process_id);
        sink.u32(self.facts.threads);
        sink.u64(self.facts.peak_memory_bytes);
        self.facts.losses.named().iter().for_each(|&(_, number)| sink.u64(number));
        self.facts.processor.named().iter().for_each(|&(_, number)| sink.u64(number));
        let clock = &self.facts.clock;
        let has_causes = if self.facts.causes.is_some() { HAS_CAUSES } else { 0 };
        let has_events = if self.events.is_empty() { 0 } else { HAS_EVENTS };
        let has_commands = if self.facts.commands.is_empty() { 0 } else { HAS_COMMANDS };
        let has_clock = u8::from(!clock.is_empty()) * HAS_CLOCK;
        sink.u8(has_clock | has_causes | has_events | has_commands);
        if !clock.is_empty() {
            clock.named().iter().for_each(|&(_, number)| sink.u64(number));
        }
        sink.u32(
            u32::try_from(self.callpaths.len()).expect("a callpath table has fewer than 2^32 rows"),
        );
        for callpath in &self.callpaths {
            sink.u32(callpath.row);
            sink.u64(callpath.executions.len() as u64);
            sink.u64(callpath.series.len() as u64);
            sink.u64(callpath.metrics.len() as u64);
            sink.u32(length(callpath.messages.len()));
            sink.u32(length(callpath.edges.len()));
            callpath.executions.iter().for_each(|summary| sink.bytes(&summary_to_bytes(summary)));
        }
        *message = sink.into_vec();
    }

    /// Returns the length of the series message, in bytes.
    #[must_use]
    pub fn series_length(&self) -> usize {
        let metrics = |c: &EncodedCallpath| {
            c.metrics.iter().map(EncodedMetric::message_length).sum::<usize>()
        };
        let records = |c: &EncodedCallpath| {
            c.messages.len() * messages::RECORD_BYTES + c.edges.len() * edges::RECORD_BYTES
        };
        let callpaths = self.callpaths.iter().map(|c| c.series.len() + metrics(c) + records(c));
        let causes = self.facts.causes.as_deref().map_or(0, causes::length);
        let events = if self.events.is_empty() { 0 } else { 8 + self.events.len() };
        callpaths.sum::<usize>() + causes + events + commands::encode(&self.facts.commands).len()
    }

    /// Appends the series message: the series, metrics, messages and edges of all callpaths, one
    /// callpath after the other, then the causes of waiting, the events, and the commands.
    pub fn append_series(&self, message: &mut Vec<u8>) {
        message.reserve(self.series_length());
        let mut sink = Sink::behind(message);
        for callpath in &self.callpaths {
            sink.bytes(&callpath.series);
            callpath.metrics.iter().for_each(|metric| metric.write_message(&mut sink));
            callpath.messages.iter().for_each(|record| messages::write_record(&mut sink, record));
            callpath.edges.iter().for_each(|record| edges::write_record(&mut sink, record));
        }
        if let Some(causes) = &self.facts.causes {
            causes::write_message(&mut sink, causes);
        }
        if !self.events.is_empty() {
            sink.u64(self.events.len() as u64);
            sink.bytes(&self.events);
        }
        sink.bytes(&commands::encode(&self.facts.commands));
        *message = sink.into_vec();
    }

    /// Reassembles a rank from its two messages. Padding after the summary is ignored.
    ///
    /// # Errors
    /// If these are not two such messages.
    pub fn from_messages(summary: &[u8], series: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self::read(&mut Cursor::new(summary, 0), &mut Cursor::new(series, 0))?)
    }

    fn read(summary: &mut Cursor<'_>, series: &mut Cursor<'_>) -> Result<Self, Malformed> {
        let host = summary.string("the host")?;
        let process_id = summary.u32("the process id")?;
        let threads = summary.u32("the number of threads")?;
        let peak_memory_bytes = summary.u64("the peak of memory")?;
        let mut numbers = [0; Losses::COUNT];
        for number in &mut numbers {
            *number = summary.u64("the losses")?;
        }
        let losses = Losses::from_numbers(numbers);
        let mut processor = [0; ProcessorFacts::COUNT];
        for number in &mut processor {
            *number = summary.u64("the processor time")?;
        }
        let processor = ProcessorFacts::from_numbers(processor);
        let mut clock = [0; ClockFacts::COUNT];
        let has = summary.u8("what there is of the rank")?;
        if has & HAS_CLOCK != 0 {
            for number in &mut clock {
                *number = summary.u64("the facts of a clock")?;
            }
        }
        let clock = ClockFacts::from_numbers(clock);
        let causes = None;
        let mut facts = RankFacts {
            host,
            process_id,
            threads,
            peak_memory_bytes,
            losses,
            clock,
            causes,
            events: None,
            processor,
            commands: RankCommands::default(),
        };
        let count = summary.u32("the number of callpaths")?;
        let mut callpaths = Vec::new();
        for _ in 0..count {
            let row = summary.u32("a row")?;
            let executions = summary.u64("the number of executions")?;
            let series_bytes = summary.u64("the length of a series")?;
            let metrics = summary.u64("the number of metrics")?;
            let messages = summary.u32("the number of messages")?;
            let edges = summary.u32("the number of edges")?;
            let length =
                usize::try_from(executions).ok().and_then(|n| n.checked_mul(SUMMARY_BYTES));
            let executions =
                summary.take(length.unwrap_or(usize::MAX), "the summaries of a callpath")?;
            let executions = executions.as_chunks().0.iter().map(summary_from_bytes).collect();
            let series_bytes = usize::try_from(series_bytes).unwrap_or(usize::MAX);
            let encoded = series.take(series_bytes, "a series")?.to_vec();
            let metrics = (0..metrics)
                .map(|_| EncodedMetric::read_message(series))
                .collect::<Result<_, _>>()?;
            let messages =
                (0..messages).map(|_| messages::read_record(series)).collect::<Result<_, _>>()?;
            let edges = (0..edges).map(|_| edges::read_record(series)).collect::<Result<_, _>>()?;
            let series = encoded;
            callpaths.push(EncodedCallpath { row, executions, series, metrics, messages, edges });
        }
        if has & HAS_CAUSES != 0 {
            facts.causes = Some(Box::new(causes::read_message(series)?));
        }
        let mut events = Vec::new();
        if has & HAS_EVENTS != 0 {
            let length = usize::try_from(series.u64("the length of the events")?);
            events = series.take(length.unwrap_or(usize::MAX), "the events")?.to_vec();
        }
        if has & HAS_COMMANDS != 0 {
            facts.commands = commands::decode(series)?;
        }
        series.finish("the series")?;
        Ok(Self { facts, callpaths, events })
    }
}

/// Encodes a summary as one block, because lists are long in long runs, and appending each number
/// would check the buffer's capacity separately.
fn summary_to_bytes(summary: &ExecutionSummary) -> [u8; SUMMARY_BYTES] {
    let word = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let words = [
        word(summary.executions, summary.execution),
        summary.visits,
        summary.sum_ns,
        summary.min_ns,
        summary.max_ns,
        summary.sum_squares_ns2.to_bits(),
        summary.sum_variance_ns2.to_bits(),
    ];
    let mut bytes = [0; SUMMARY_BYTES];
    bytes
        .as_chunks_mut()
        .0
        .iter_mut()
        .zip(words)
        .for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    bytes
}

fn summary_from_bytes(bytes: &[u8; SUMMARY_BYTES]) -> ExecutionSummary {
    let half = |at: usize| u32::from_le_bytes(bytes.as_chunks().0[at]);
    let word = |at: usize| u64::from_le_bytes(bytes.as_chunks().0[at]);
    ExecutionSummary {
        execution: half(0),
        executions: half(1),
        visits: word(1),
        sum_ns: word(2),
        min_ns: word(3),
        max_ns: word(4),
        sum_squares_ns2: f64::from_bits(word(5)),
        sum_variance_ns2: f64::from_bits(word(6)),
    }
}

/// Returns true if every summary equals that of one visit with its sum. The matching rule for
/// buckets is in `series`; this one is next to the bytes that it saves.
pub(super) fn all_single(executions: &[ExecutionSummary]) -> bool {
    executions.iter().all(|e| *e == ExecutionSummary::of_one_visit(e.execution, e.sum_ns))
}

#[cfg(test)]
mod tests;
