//! A part: the values of one aggregator's ranks, callpath by callpath, each column rank-major.
//!
//! The header holds the first rank and the numbers of ranks and callpaths. The sections and their
//! keys:
//!
//! ```text
//! 2^32 - 1     the ranks themselves; the first section
//! row          times of a callpath that any of the ranks visited
//! row + 2^31   its metrics, where any of the ranks recorded any
//! row + 2^30   messages and edges of callpaths, of this row at the latest
//! 2^32 - 2     causes of waiting, where any of the ranks knows any
//! 2^32 - 3     events, where any of the ranks kept any
//! 2^32 - 4     commands, where any of the ranks was given any
//! ```
//!
//! The section of the ranks contains:
//!
//! ```text
//! hosts, each with the number of neighbouring ranks on it
//! process ids | threads | peaks of memory, in bytes
//! kinds of loss (a varint), then a column for each
//! facts of the clocks (a varint), then a column for each; left out where all are 0, also below
//! facts of the processors (a varint), then a column for each; left out where all are 0
//! ```
//!
//! `times.rs` shows the section of a callpath's times, `metrics.rs` that of its metrics,
//! `communication.rs` one of messages and edges, `causes.rs` that of causes, `events.rs` that
//! of events, `commands.rs` that of commands, and `series.rs` the bytes of a series.
//!
//! Version 0.1 had no peaks, no number of kinds (there were 10) and no metrics. If the minor
//! version is newer, readers skip unknown sections, unknown kinds of loss, and unknown data at the
//! end of the section of the ranks.

mod decode;
mod facts;
#[cfg(test)]
mod tests;

use super::causes;
use super::commands;
use super::communication::Communication;
use super::encoded_rank::EncodedRank;
use super::events;
use super::exclusive::Called;
use super::metrics;
use super::rank_values::{EncodedValues, RankValues};
use super::section::{FrameError, SectionWriter, Sections};
use super::times::{self, RankUsage};
use crate::bytes::{Sink, column};
use crate::model::{CallpathTable, FormatVersion, RankFacts};

pub(super) use decode::{
    PartSection, check_order, decode, decode_activities, decode_causes, decode_commands,
    decode_communication, decode_events, decode_facts, decode_section,
};

/// The first bytes of a part.
pub(super) const MAGIC: &[u8; 8] = b"TPRFPART";
const RANKS_KEY: u32 = u32::MAX;

/// The key of the section with the causes of waiting of all ranks. No callpath has the row that it
/// would be of.
const CAUSES_KEY: u32 = u32::MAX - 1;

/// The key of the section with the events of all ranks.
const EVENTS_KEY: u32 = u32::MAX - 2;

/// The key of the section with the commands of all ranks, since 1.2.
const COMMANDS_KEY: u32 = u32::MAX - 3;

/// Added to a row, this gives the key of the section with the callpath's metrics.
const METRICS_KEY: u32 = 1 << 31;

/// Added to a row, this gives the key of a section with the messages and edges of callpaths up to
/// this row, down to that of the section before.
const COMMUNICATION_KEY: u32 = 1 << 30;

/// Encodes a part with the values of `ranks` over a dictionary. The first of them is rank
/// `first_rank` of the run.
///
/// # Panics
/// If there are 2^32 ranks or more, or 2^30 callpaths or more.
#[must_use]
pub fn encode_part(first_rank: u32, dictionary: &CallpathTable, ranks: &[EncodedRank]) -> Vec<u8> {
    encode(first_rank, dictionary, ranks)
}

/// Encodes a part as [`encode_part`] does, also from ranks that are not yet encoded.
pub(super) fn encode<R: RankValues>(
    first_rank: u32,
    dictionary: &CallpathTable,
    ranks: &[R],
) -> Vec<u8> {
    let callpaths = u32::try_from(dictionary.len()).unwrap_or(u32::MAX);
    assert!(
        callpaths < COMMUNICATION_KEY,
        "a dictionary has fewer than 2^30 callpaths, this one {callpaths}"
    );
    let count = u32::try_from(ranks.len()).expect("a group has fewer than 2^32 ranks");
    let facts: Vec<RankFacts> = ranks.iter().map(RankValues::facts).collect();
    let commands = commands::encode_section(&facts);
    // Older readers accept a section that they do not know in newer files alone.
    let version = if commands.is_some() { FormatVersion::CURRENT } else { FormatVersion::USUAL };
    let mut file = SectionWriter::new(MAGIC, version, &[first_rank, count, callpaths]);
    file.section(RANKS_KEY, &encode_facts(&facts));
    let called: Vec<_> = ranks.iter().map(|rank| Called::of(rank, dictionary)).collect();
    let mut communication = Communication::of(dictionary);
    let mut rows: Vec<_> = ranks.iter().map(|rank| rank.rows().peekable()).collect();
    for row in 0..callpaths {
        let here = ranks.iter().zip(&mut rows).map(|(rank, rows)| {
            let (_, position) = rows.next_if(|(next, _)| *next == row)?;
            Some(rank.values(position))
        });
        let here: Vec<Option<EncodedValues<'_>>> = here.collect();
        let times = here.iter().zip(&called).map(|(here, called)| {
            let Some(values) = here else { return RankUsage::default() };
            let called = called.row(row as usize, values.executions.len());
            RankUsage { executions: &values.executions, series: &values.series, called }
        });
        let times: Vec<RankUsage<'_>> = times.collect();
        if times.iter().any(|rank| !rank.executions.is_empty() || !rank.series.is_empty()) {
            file.section_with(row, |sink| times::encode(sink, &times));
        }
        if here.iter().flatten().any(|values| !values.metrics.is_empty()) {
            let recorded =
                here.iter().map(|here| here.as_ref().map_or(&[][..], |values| &values.metrics));
            if let Some(section) = metrics::encode_section(&recorded.collect::<Vec<_>>()) {
                file.section(row | METRICS_KEY, &section);
            }
        }
        let sent = here.iter().map(|here| here.as_ref().map_or(&[][..], |values| &values.messages));
        let led = here.iter().map(|here| here.as_ref().map_or(&[][..], |values| &values.edges));
        communication.add(row, &sent.collect::<Vec<_>>(), &led.collect::<Vec<_>>());
        let is_due = communication.is_enough() || row + 1 == callpaths;
        if let Some(section) = is_due.then(|| communication.take_section(row)).flatten() {
            file.section(row | COMMUNICATION_KEY, &section);
        }
    }
    if let Some(section) = causes::encode_section(&facts, dictionary) {
        file.section(CAUSES_KEY, &section);
    }
    let recorded: Vec<_> = ranks.iter().map(RankValues::events).collect();
    if let Some(section) = events::encode_section(&recorded) {
        file.section(EVENTS_KEY, &section);
    }
    if let Some(section) = commands {
        file.section(COMMANDS_KEY, &section);
    }
    file.finish()
}

fn encode_facts(ranks: &[RankFacts]) -> Vec<u8> {
    let mut sink = Sink::default();
    // Hosts seldom change from rank to rank. Each is written once, with the number of ranks that
    // follow on it.
    let runs: Vec<_> = ranks.chunk_by(|a, b| a.host == b.host).collect();
    sink.varint(runs.len() as u64);
    for run in runs {
        sink.string(&run[0].host);
        sink.varint(run.len() as u64);
    }
    let mut numbers = |of: &dyn Fn(&RankFacts) -> u64| {
        column::write_u64(&mut sink, &ranks.iter().map(of).collect::<Vec<_>>());
    };
    numbers(&|facts| u64::from(facts.process_id));
    numbers(&|facts| u64::from(facts.threads));
    numbers(&|facts| facts.peak_memory_bytes);
    let kinds = kinds_of_loss(ranks);
    sink.varint(kinds as u64);
    for loss in 0..kinds {
        column::write_u64(
            &mut sink,
            &ranks.iter().map(|r| r.losses.named()[loss].1).collect::<Vec<_>>(),
        );
    }
    facts::encode(&mut sink, ranks);
    sink.into_vec()
}

/// Returns the number of kinds of loss to write: the first twelve, and any after them up to the
/// last one that occurred.
fn kinds_of_loss(ranks: &[RankFacts]) -> usize {
    const ALWAYS: usize = 12;
    let last = |rank: &RankFacts| rank.losses.named().iter().rposition(|&(_, number)| number > 0);
    ranks.iter().filter_map(last).max().map_or(ALWAYS, |last| ALWAYS.max(last + 1))
}

/// Returns the first error in the frame or the checksums of a part, if any.
pub(super) fn locate_damage(bytes: &[u8]) -> Option<FrameError> {
    match Sections::<3>::open(bytes, MAGIC) {
        Ok(file) => file
            .keys()
            .enumerate()
            .find_map(|(position, _)| file.section(position).err())
            .map(FrameError::from),
        Err(error) => Some(error),
    }
}

/// Returns a description of the section with this key in a part of a dictionary of `callpaths`
/// rows; none for an unknown section. `path` gives the callpath of a row.
pub(super) fn section_name(
    key: u32,
    callpaths: usize,
    path: impl Fn(usize) -> String,
) -> Option<String> {
    Some(match PartSection::of_key(key, callpaths)? {
        PartSection::Ranks => "what the ranks say of themselves".to_owned(),
        PartSection::Causes => "the causes of waiting".to_owned(),
        PartSection::Events => "the events".to_owned(),
        PartSection::Commands => "the commands that ranks were given".to_owned(),
        PartSection::Times(row) => format!("the times of {}", path(row)),
        PartSection::Metrics(row) => format!("the metrics of {}", path(row)),
        PartSection::Communication(row) => {
            format!("the messages and edges of callpaths up to {}", path(row))
        }
    })
}
