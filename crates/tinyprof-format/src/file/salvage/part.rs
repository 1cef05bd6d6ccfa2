//! The intact sections of a damaged part.

use std::collections::{BTreeMap, BTreeSet};

use super::dictionary::{Dictionary, section_bytes};
use super::found;
use crate::bytes::{Cursor, Malformed, MemoryLimit};
use crate::error::ReadError;
use crate::file::communication::Slices;
use crate::file::exclusive::make_inclusive;
use crate::file::part::{self, MAGIC, PartSection};
use crate::file::read::explain;
use crate::file::section::{FRAME_BYTES, FrameError, Header, IndexEntry, Sections};
use crate::file::source::{Source, is_inside, read_whole};
use crate::file::times::Sums;
use crate::model::{CallpathValues, FormatVersion, PartFile, RankFacts, Salvage};

/// Reads the intact sections of a part into `values`, and returns the facts of its ranks.
pub(super) fn salvage(
    source: &dyn Source,
    (file, version): (&PartFile, FormatVersion),
    dictionary: &Dictionary,
    values: &mut [&mut [CallpathValues]],
    memory_limit: &MemoryLimit,
    salvage: &mut Salvage,
) -> Result<Vec<RankFacts>, ReadError> {
    let path = source.path(&file.file);
    let before = memory_limit.passing_bytes();
    let bytes = match is_inside(&file.file).then(|| read_whole(source, &file.file, memory_limit)) {
        Some(Ok(bytes)) => bytes,
        Some(Err(error @ ReadError::OverLimit { .. })) => return Err(error),
        None | Some(Err(_)) => {
            lose_part(file, 0, salvage);
            return Ok(vec![RankFacts::default(); file.ranks as usize]);
        }
    };
    let mut reader = Reader {
        dictionary,
        version,
        ranks: file.ranks as usize,
        memory_limit,
        facts: None,
        causes: vec![RankFacts::default(); file.ranks as usize],
        next_row: 0,
        sums: BTreeMap::new(),
        lost: BTreeSet::new(),
        read_bytes: 0,
    };
    let expected = [file.first_rank, file.ranks, u32::try_from(values.len()).unwrap_or(u32::MAX)];
    let (entries, is_certain) = match Sections::<3>::open(&bytes, MAGIC) {
        // Intact, but of another profile.
        Ok(sections) if sections.header.fields != expected => (Vec::new(), true),
        Ok(sections) => (sections.entries().to_vec(), true),
        Err(error @ FrameError::NewerVersion { .. }) => return Err(explain(&path, error)),
        Err(FrameError::Malformed(_)) => (found::sections(&bytes, Header::<3>::BYTES), false),
    };
    for entry in &entries {
        reader.section(&bytes, entry, values).map_err(|error| explain(&path, error.into()))?;
    }
    reader.resolve(values, is_certain);
    memory_limit.back_to(before);
    let expected = file.bytes.max(bytes.len() as u64);
    if reader.read_bytes == 0 && file.ranks > 0 {
        lose_part(file, expected, salvage);
        return Ok(vec![RankFacts::default(); file.ranks as usize]);
    }
    let frames = entries.len() * if is_certain { 24 } else { FRAME_BYTES };
    let used = reader.read_bytes + frames as u64 + Header::<3>::BYTES as u64;
    if !is_certain || !reader.lost.is_empty() || reader.facts.is_none() {
        salvage.bytes_lost = salvage.bytes_lost.saturating_add(expected.saturating_sub(used));
        salvage.parts_damaged += 1;
    }
    for lost in &reader.lost {
        match lost {
            PartSection::Ranks => {}
            PartSection::Times(_) => salvage.times_lost += 1,
            PartSection::Metrics(_) => salvage.metrics_lost += 1,
            PartSection::Communication(_) | PartSection::Causes => salvage.communication_lost += 1,
            PartSection::Events => salvage.events_lost += 1,
            PartSection::Commands => salvage.commands_lost += 1,
        }
    }
    let mut facts = reader.facts.unwrap_or_else(|| {
        salvage.ranks_without_facts = salvage.ranks_without_facts.saturating_add(file.ranks);
        vec![RankFacts::default(); file.ranks as usize]
    });
    for (facts, found) in facts.iter_mut().zip(reader.causes) {
        (facts.causes, facts.events) = (found.causes, found.events);
        facts.commands = found.commands;
    }
    Ok(facts)
}

fn lose_part(file: &PartFile, found_bytes: u64, salvage: &mut Salvage) {
    salvage.parts_lost += 1;
    salvage.ranks_lost = salvage.ranks_lost.saturating_add(file.ranks);
    salvage.bytes_lost = salvage.bytes_lost.saturating_add(file.bytes.max(found_bytes));
}

struct Reader<'a> {
    dictionary: &'a Dictionary,
    version: FormatVersion,
    ranks: usize,
    memory_limit: &'a MemoryLimit,
    facts: Option<Vec<RankFacts>>,
    /// Facts of the ranks that have nothing but causes, events and commands.
    causes: Vec<RankFacts>,
    /// The first row that the next section of messages and edges may be of.
    next_row: usize,
    /// The callpaths whose times were read.
    sums: BTreeMap<usize, Sums>,
    lost: BTreeSet<PartSection>,
    read_bytes: u64,
}

impl Reader<'_> {
    /// Reads one section, or counts it as lost.
    ///
    /// # Errors
    /// If it would need more memory than allowed.
    fn section(
        &mut self,
        bytes: &[u8],
        entry: &IndexEntry,
        values: &mut [&mut [CallpathValues]],
    ) -> Result<(), Malformed> {
        let Some(what) = PartSection::of_key(entry.key, values.len()) else { return Ok(()) };
        let Some(found) = section_bytes(bytes, entry) else {
            self.lost.insert(what);
            return Ok(());
        };
        let section = Cursor::within(self.memory_limit, found, entry.offset);
        let first_row = self.next_row;
        let read = match what {
            PartSection::Ranks => part::decode_facts(section, self.ranks, self.version)
                .map(|facts| self.facts = Some(facts)),
            PartSection::Communication(row) => {
                self.next_row = row + 1;
                let (rows, table) = (first_row..=row, &self.dictionary.table);
                let targets = &mut Slices { first: 0, values: &mut *values };
                part::decode_communication(section, rows, table, targets, self.version)
            }
            PartSection::Causes => {
                let table = &self.dictionary.table;
                part::decode_causes(section, table, &mut self.causes, self.version)
            }
            PartSection::Events => {
                let of_ranks = &mut self.causes;
                let mut keep = |rank: usize, events| of_ranks[rank].events = Some(events);
                part::decode_events(section, self.ranks, self.version, &|_| true, &mut keep)
            }
            PartSection::Commands => part::decode_commands(section, &mut self.causes, self.version),
            _ => part::decode_section(section, what, values, self.version).map(|sums| {
                if let PartSection::Times(row) = what {
                    self.sums.insert(row, sums);
                }
            }),
        };
        match read {
            Ok(()) => self.read_bytes += entry.length,
            Err(error) if error.limit_bytes.is_some() => return Err(error),
            Err(_) => {
                self.lost.insert(what);
                clear(what, first_row, values);
            }
        }
        Ok(())
    }

    /// Makes exclusive sums inclusive. Where a child was lost, they are lost too. With
    /// `is_certain`, a child without a section has no values.
    fn resolve(&mut self, values: &mut [&mut [CallpathValues]], is_certain: bool) {
        for (row, sums) in std::mem::take(&mut self.sums).into_iter().rev() {
            let Sums::Exclusive { single } = sums else {
                self.sums.insert(row, sums);
                continue;
            };
            let children = &self.dictionary.children[row];
            let is_known = |row: usize| {
                let may_be_absent = is_certain && !self.lost.contains(&PartSection::Times(row));
                self.sums.contains_key(&row) || may_be_absent
            };
            if !self.dictionary.is_whole || !children.iter().all(|child| is_known(child.row())) {
                self.lost.insert(PartSection::Times(row));
                clear(PartSection::Times(row), row, values);
                continue;
            }
            let (above, below) = values.split_at_mut(row + 1);
            let children: Vec<&[CallpathValues]> =
                children.iter().map(|child| &*below[child.row() - row - 1]).collect();
            make_inclusive(above[row], &children, single);
            self.sums.insert(row, Sums::Inclusive);
        }
    }
}

/// Removes the values left by a section with inner damage. One of messages and edges may be of
/// callpaths from `first_row` on.
fn clear(what: PartSection, first_row: usize, values: &mut [&mut [CallpathValues]]) {
    let Some(row) = what.row() else { return };
    if matches!(what, PartSection::Communication(_)) {
        for values in values[first_row..=row].iter_mut().flat_map(|of_ranks| of_ranks.iter_mut()) {
            values.messages.clear();
            values.edges.clear();
        }
        return;
    }
    for values in values[row].iter_mut() {
        match what {
            PartSection::Metrics(_) => values.metrics.clear(),
            _ => (values.executions, values.series) = (Vec::new(), Vec::new()),
        }
    }
}
