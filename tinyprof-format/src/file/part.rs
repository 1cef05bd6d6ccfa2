//! A part: the values of one aggregator's ranks, callpath by callpath, each column rank-major.
//!
//! The header holds first rank, ranks and callpaths. The sections and their keys:
//!
//! ```text
//! 2^32 - 1     the ranks themselves; the first section
//! row          times of a callpath that any of the ranks visited
//! row + 2^31   its metrics, where any of the ranks recorded any
//! ```
//!
//! In the section of the ranks stand:
//!
//! ```text
//! hosts, each with the number of neighbouring ranks on it
//! process ids | threads | peaks of memory, in bytes
//! kinds of loss (a varint), then a column for each
//! ```
//!
//! That of a callpath's times is drawn in `times.rs`, that of metrics in `metrics.rs`, the bytes of a series in `series.rs`.
//!
//! Version 0.1 had no peaks, no number of kinds (there were 10) and no metrics. A reader that meets a
//! newer minor version skips sections, kinds of loss, and ends of the section of the ranks that it does not know.

#[cfg(test)]
mod tests;

use super::encoded_rank::EncodedRank;
use super::metrics;
use super::section::{FrameError, SectionWriter, Sections};
use super::times;
use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{CallpathValues, FormatVersion, Losses, RankFacts};

/// The first bytes of a part.
pub(super) const MAGIC: &[u8; 8] = b"TPRFPART";
const RANKS_KEY: u32 = u32::MAX;

/// Added to a row, the key of the section with the callpath's metrics.
const METRICS_KEY: u32 = 1 << 31;

/// The kinds of loss in version 0.1, which did not say how many there are.
const LOSSES_0_1: usize = 10;

/// No version has more kinds of loss than this: a damaged number must not make much work.
const LOSSES_MAX: usize = 64;

/// The bytes of a part with the values of `ranks`, the first of which is rank `first_rank` of the run, over a
/// dictionary of `callpaths` rows.
///
/// # Panics
/// If there are 2^32 ranks or more, or 2^31 callpaths or more.
#[must_use]
pub fn encode_part(first_rank: u32, callpaths: u32, ranks: &[EncodedRank]) -> Vec<u8> {
    assert!(callpaths < METRICS_KEY, "a dictionary has fewer than 2^31 callpaths, this one {callpaths}");
    let count = u32::try_from(ranks.len()).expect("a group has fewer than 2^32 ranks");
    let mut file = SectionWriter::new(MAGIC, &[first_rank, count, callpaths]);
    file.section(RANKS_KEY, &encode_facts(ranks));
    let mut next = vec![0; ranks.len()];
    for row in 0..callpaths {
        let (mut ranks_times, mut recorded) = (Vec::new(), Vec::new());
        for (rank, next) in ranks.iter().zip(&mut next) {
            let here = rank.callpaths.get(*next).filter(|c| c.row == row);
            *next += usize::from(here.is_some());
            ranks_times
                .push(here.map_or((&[][..], &[][..]), |c| (c.executions.as_slice(), c.series.as_slice())));
            recorded.push(here.map_or(&[][..], |c| c.metrics.as_slice()));
        }
        if ranks_times.iter().any(|(executions, series)| !executions.is_empty() || !series.is_empty()) {
            file.section(row, &times::encode(&ranks_times));
        }
        if let Some(section) = metrics::encode_section(&recorded) {
            file.section(row | METRICS_KEY, &section);
        }
    }
    file.finish()
}

fn encode_facts(ranks: &[EncodedRank]) -> Vec<u8> {
    let mut sink = Sink::default();
    // Hosts change seldom from rank to rank: each is written once, with the number of ranks that follow on it.
    let runs: Vec<_> = ranks.chunk_by(|a, b| a.facts.host == b.facts.host).collect();
    sink.varint(runs.len() as u64);
    for run in runs {
        sink.string(&run[0].facts.host);
        sink.varint(run.len() as u64);
    }
    let mut numbers = |of: &dyn Fn(&RankFacts) -> u64| {
        column::write_u64(&mut sink, &ranks.iter().map(|r| of(&r.facts)).collect::<Vec<_>>());
    };
    numbers(&|facts| u64::from(facts.process_id));
    numbers(&|facts| u64::from(facts.threads));
    numbers(&|facts| facts.peak_memory_bytes);
    sink.varint(Losses::COUNT as u64);
    for loss in 0..Losses::COUNT {
        column::write_u64(
            &mut sink,
            &ranks.iter().map(|r| r.facts.losses.named()[loss].1).collect::<Vec<_>>(),
        );
    }
    sink.into_vec()
}

/// What one part holds.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) first_rank: u32,
    pub(super) facts: Vec<RankFacts>,
    /// Row by row of the dictionary, then rank by rank of this part.
    pub(super) values: Vec<Vec<CallpathValues>>,
}

/// Reads a part of a profile whose dictionary has `callpaths` rows, and which must hold `ranks` ranks.
pub(super) fn decode(bytes: &[u8], callpaths: usize, ranks: usize) -> Result<Part, FrameError> {
    let file = Sections::<3>::open(bytes, MAGIC)?;
    let [first_rank, found_ranks, found_callpaths] = file.header;
    let header = Cursor::new(bytes, 0);
    if found_ranks as usize != ranks || found_callpaths as usize != callpaths {
        let reason = format!(
            "the header speaks of {found_ranks} ranks and {found_callpaths} callpaths, \
             the manifest of {ranks} and {callpaths}"
        );
        return Err(header.malformed(reason).into());
    }
    let newer = file.minor > FormatVersion::CURRENT.minor;
    let mut sections = file.keys().enumerate();
    // The ranks come first: what follows may then be of as many ranks as this section has shown to be there.
    let Some((position, RANKS_KEY)) = sections.next() else {
        return Err(header.malformed("the section that describes the ranks is missing").into());
    };
    let mut section = file.section(position)?;
    let facts = decode_facts(&mut section, ranks, file.minor)?;
    if !newer {
        section.finish("the section of the ranks")?;
    }
    let mut values = vec![vec![CallpathValues::default(); ranks]; callpaths];
    for (position, key) in sections {
        let mut section = file.section(position)?;
        match values.get_mut((key & !METRICS_KEY) as usize) {
            Some(values) if key < METRICS_KEY => times::decode(&mut section, values)?,
            Some(values) => metrics::decode_section(&mut section, values)?,
            None if newer => continue,
            None => return Err(section.malformed(format!("section {key} belongs to no callpath")).into()),
        }
        section.finish("a section")?;
    }
    Ok(Part { first_rank, facts, values })
}

/// The first thing wrong with the frame or the checksums of a part, if anything is.
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

/// What the section with this key holds; `path` tells the callpath of a row.
pub(super) fn section_name(key: u32, path: impl Fn(usize) -> String) -> String {
    match key {
        RANKS_KEY => "what the ranks say of themselves".to_owned(),
        row if row < METRICS_KEY => format!("the times of {}", path(row as usize)),
        row => format!("the metrics of {}", path((row & !METRICS_KEY) as usize)),
    }
}

fn decode_facts(cursor: &mut Cursor<'_>, ranks: usize, minor: u16) -> Result<Vec<RankFacts>, Malformed> {
    let mut facts = Vec::new();
    for _ in 0..cursor.count(ranks, "the number of hosts")? {
        let host = cursor.string("a host")?;
        let length = cursor.count(ranks - facts.len(), "the ranks of a host")?;
        facts.resize(facts.len() + length, RankFacts { host, ..RankFacts::default() });
    }
    if facts.len() != ranks {
        return Err(cursor.malformed(format!("{} ranks have a host, {ranks} were expected", facts.len())));
    }
    let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let processes = column::read_u64(cursor, ranks, "the process ids")?;
    let threads = column::read_u64(cursor, ranks, "the threads")?;
    for (rank, facts) in facts.iter_mut().enumerate() {
        facts.process_id = narrow(processes[rank]);
        facts.threads = narrow(threads[rank]);
    }
    let mut kinds = LOSSES_0_1;
    if minor > 1 {
        let peaks = column::read_u64(cursor, ranks, "the peaks of memory")?;
        facts.iter_mut().zip(peaks).for_each(|(facts, peak)| facts.peak_memory_bytes = peak);
        kinds = cursor.count(LOSSES_MAX, "the number of kinds of loss")?;
    }
    let mut losses = vec![[0; Losses::COUNT]; ranks];
    for kind in 0..kinds {
        let column = column::read_u64(cursor, ranks, "a kind of loss")?;
        for (losses, number) in losses.iter_mut().zip(column) {
            if let Some(loss) = losses.get_mut(kind) {
                *loss = number;
            }
        }
    }
    facts.iter_mut().zip(losses).for_each(|(facts, losses)| facts.losses = Losses::from_numbers(losses));
    Ok(facts)
}
