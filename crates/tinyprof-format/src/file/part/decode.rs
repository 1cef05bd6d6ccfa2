//! The decoder of a part, as a whole or section by section.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::facts;
use super::{
    CAUSES_KEY, COMMANDS_KEY, COMMUNICATION_KEY, EVENTS_KEY, MAGIC, METRICS_KEY, RANKS_KEY,
};
use crate::bytes::{Cursor, Malformed, MemoryLimit, column};
use crate::file::communication::{Slices, Targets};
use crate::file::exclusive::Exclusive;
use crate::file::section::{FrameError, IndexEntry, Sections};
use crate::file::times::Sums;
use crate::file::{causes, commands, communication, events, metrics, times};
use crate::model::{
    Activities, CallpathTable, CallpathValues, Children, FormatVersion, Losses, RankEvents,
    RankFacts,
};

/// The number of kinds of loss in version 0.1, which did not store it.
const LOSSES_0_1: usize = 10;

/// The largest number of kinds of loss accepted, so that a damaged number does not cause much work.
const LOSSES_MAX: usize = 64;

/// The contents of a section of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::file) enum PartSection {
    /// The facts that the ranks report about themselves.
    Ranks,
    /// The times of the callpath in a row.
    Times(usize),
    /// The metrics of the callpath in a row.
    Metrics(usize),
    /// Messages and edges of callpaths up to a row.
    Communication(usize),
    /// The causes of waiting of the ranks.
    Causes,
    /// The events of the ranks.
    Events,
    /// The commands that the ranks were given.
    Commands,
}

impl PartSection {
    /// Returns the row of the callpath; none for the sections of the ranks.
    pub(in crate::file) const fn row(self) -> Option<usize> {
        match self {
            Self::Ranks | Self::Causes | Self::Events | Self::Commands => None,
            Self::Times(row) | Self::Metrics(row) | Self::Communication(row) => Some(row),
        }
    }

    /// Returns the contents of the section with this key; none if they are not of a callpath in a
    /// dictionary of `callpaths` rows. Rows from 2^30 on, which only versions before 1.1 may have,
    /// take precedence over messages.
    pub(in crate::file) fn of_key(key: u32, callpaths: usize) -> Option<Self> {
        let row = (key & !METRICS_KEY) as usize;
        let row_of_messages = (key ^ COMMUNICATION_KEY) as usize;
        match key {
            RANKS_KEY => Some(Self::Ranks),
            _ if row < callpaths && key < METRICS_KEY => Some(Self::Times(row)),
            _ if row < callpaths => Some(Self::Metrics(row)),
            _ if row_of_messages < callpaths => Some(Self::Communication(row_of_messages)),
            CAUSES_KEY => Some(Self::Causes),
            EVENTS_KEY => Some(Self::Events),
            COMMANDS_KEY => Some(Self::Commands),
            _ => None,
        }
    }
}

/// Checks that the sections of a part are in order: the ranks, then for each row its times, its
/// metrics, and the messages and edges of callpaths up to it; then causes, events and commands of
/// all.
///
/// Sections that belong to no callpath come from a later version, and may be anywhere.
pub(in crate::file) fn check_order(
    sections: &[IndexEntry],
    callpaths: usize,
) -> Result<(), Malformed> {
    let mut before = None;
    for (position, section) in sections.iter().enumerate() {
        let place = match PartSection::of_key(section.key, callpaths) {
            Some(PartSection::Ranks) => None,
            Some(PartSection::Times(row)) => Some((row, 0)),
            Some(PartSection::Metrics(row)) => Some((row, 1)),
            Some(PartSection::Communication(row)) => Some((row, 2)),
            Some(PartSection::Causes) => Some((usize::MAX, 3)),
            Some(PartSection::Events) => Some((usize::MAX, 4)),
            Some(PartSection::Commands) => Some((usize::MAX, 5)),
            None => continue,
        };
        if place.is_none() != (position == 0) {
            let reason = "the section that describes the ranks is missing, or not the first";
            return Err(Malformed::at(section.offset, reason));
        }
        if place.is_some() && place <= before {
            return Err(Malformed::at(
                section.offset,
                format!("section {} is not in its place", section.key),
            ));
        }
        before = place;
    }
    Ok(())
}

/// Reads a part of a profile with these ranks into `values`. It has a slice with an element per
/// rank for each row of the dictionary, which is given with the children of its rows.
pub(in crate::file) fn decode(
    bytes: &[u8],
    (first_rank, ranks): (u32, usize),
    (dictionary, children): (&CallpathTable, &Children),
    values: &mut [&mut [CallpathValues]],
    memory_limit: &MemoryLimit,
) -> Result<Vec<RankFacts>, FrameError> {
    let file = Sections::<3>::open(bytes, MAGIC)?;
    let [found_first, found_ranks, found_callpaths] = file.header.fields;
    let header = Cursor::new(bytes, 0);
    let found = (found_first, found_ranks as usize, found_callpaths as usize);
    if found != (first_rank, ranks, values.len()) {
        let reason = format!(
            "the header speaks of {found_ranks} ranks from {found_first} on and {found_callpaths} callpaths, the \
             manifest of {ranks} from {first_rank} on and {}",
            values.len()
        );
        return Err(header.malformed(reason).into());
    }
    let version = file.header.version;
    let newer = version > FormatVersion::CURRENT;
    let mut sections = file.keys().enumerate();
    check_order(file.entries(), values.len())?;
    // The ranks come first. Later sections may then claim as many ranks as this one has proved to
    // exist.
    let Some((position, RANKS_KEY)) = sections.next() else {
        return Err(header.malformed("the section that describes the ranks is missing").into());
    };
    let mut facts = decode_facts(file.section_within(position, memory_limit)?, ranks, version)?;
    let mut exclusive = Exclusive::default();
    let mut first_row = 0;
    for (position, key) in sections {
        let section = file.section_within(position, memory_limit)?;
        match PartSection::of_key(key, values.len()) {
            Some(PartSection::Communication(row)) => {
                let targets = &mut Slices { first: 0, values: &mut *values };
                decode_communication(section, first_row..=row, dictionary, targets, version)?;
                first_row = row + 1;
            }
            Some(PartSection::Causes) => {
                decode_causes(section, dictionary, &mut facts, version)?;
            }
            Some(PartSection::Events) => {
                decode_events(section, ranks, version, &|_| true, &mut |rank, events| {
                    facts[rank].events = Some(events);
                })?;
            }
            Some(PartSection::Commands) => decode_commands(section, &mut facts, version)?,
            Some(what) => {
                if let (Sums::Exclusive { single }, Some(row)) =
                    (decode_section(section, what, values, version)?, what.row())
                {
                    exclusive.push(row, single);
                }
            }
            None if newer => {}
            None => {
                return Err(section
                    .malformed(format!("section {key} belongs to no callpath"))
                    .into());
            }
        }
    }
    exclusive.resolve(children, values);
    Ok(facts)
}

/// Reads the section of a callpath into its values. Returns the kind of its sums, which may have to
/// be made inclusive.
pub(in crate::file) fn decode_section(
    mut section: Cursor<'_>,
    what: PartSection,
    values: &mut [&mut [CallpathValues]],
    version: FormatVersion,
) -> Result<Sums, Malformed> {
    let decoded = section.passing(|section| {
        let mut sums = Sums::Inclusive;
        match what {
            PartSection::Ranks
            | PartSection::Communication(_)
            | PartSection::Causes
            | PartSection::Events
            | PartSection::Commands => {
                return Err(section.malformed("it is not of one callpath"));
            }
            PartSection::Times(row) => sums = times::decode(section, values[row])?,
            PartSection::Metrics(row) => metrics::decode_section(section, values[row])?,
        }
        section.finish("a section")?;
        Ok(sums)
    });
    decoded.map_err(|error| of_version(error, version))
}

/// Reads a section of messages and edges, which may be of these rows.
pub(in crate::file) fn decode_communication(
    mut section: Cursor<'_>,
    rows: RangeInclusive<usize>,
    dictionary: &CallpathTable,
    targets: &mut dyn Targets,
    version: FormatVersion,
) -> Result<(), Malformed> {
    let decoded = section.passing(|section| {
        communication::decode_section(section, rows, dictionary, targets)?;
        section.finish("a section")
    });
    decoded.map_err(|error| of_version(error, version))
}

/// Reads the section of causes into the facts of the part's ranks.
pub(in crate::file) fn decode_causes(
    mut section: Cursor<'_>,
    dictionary: &CallpathTable,
    facts: &mut [RankFacts],
    version: FormatVersion,
) -> Result<(), Malformed> {
    let read = |section: &mut Cursor<'_>| {
        let found =
            section.passing(|section| causes::decode_section(section, facts.len(), dictionary))?;
        section.finish("a section")?;
        Ok(found)
    };
    let found = read(&mut section).map_err(|error| of_version(error, version))?;
    facts.iter_mut().zip(found).for_each(|(facts, causes)| facts.causes = causes);
    Ok(())
}

/// Reads the section of events, and passes those of each of the part's ranks that is wanted to
/// `visit`.
pub(in crate::file) fn decode_events(
    mut section: Cursor<'_>,
    ranks: usize,
    version: FormatVersion,
    is_wanted: &dyn Fn(usize) -> bool,
    visit: &mut dyn FnMut(usize, Arc<RankEvents>),
) -> Result<(), Malformed> {
    let decoded = events::decode_section(&mut section, ranks, is_wanted, visit)
        .and_then(|()| section.finish("a section"));
    decoded.map_err(|error| of_version(error, version))
}

/// Reads the section of commands into the facts of the part's ranks.
pub(in crate::file) fn decode_commands(
    mut section: Cursor<'_>,
    facts: &mut [RankFacts],
    version: FormatVersion,
) -> Result<(), Malformed> {
    let decoded = section.passing(|section| {
        commands::decode_section(section, facts)?;
        section.finish("a section")
    });
    decoded.map_err(|error| of_version(error, version))
}

/// Reads the activities of a section of causes.
pub(in crate::file) fn decode_activities(
    mut section: Cursor<'_>,
    dictionary: &CallpathTable,
    version: FormatVersion,
) -> Result<Activities, Malformed> {
    let found = section.passing(|section| causes::decode_activities(section, dictionary));
    found.map_err(|error| of_version(error, version))
}

/// Adds advice to an error if the file is of a newer version than the reader.
fn of_version(error: Malformed, version: FormatVersion) -> Malformed {
    if version <= FormatVersion::CURRENT || error.limit_bytes.is_some() {
        return error;
    }
    let (FormatVersion { major, minor }, known) = (version, FormatVersion::CURRENT);
    let reason = format!(
        "{}; the file is of format version {major}.{minor}, this reader knows {}.{}: update tinyprof to read it",
        error.reason, known.major, known.minor
    );
    Malformed { reason, ..error }
}

/// Reads the facts that the ranks report about themselves: the whole section.
pub(in crate::file) fn decode_facts(
    mut section: Cursor<'_>,
    ranks: usize,
    version: FormatVersion,
) -> Result<Vec<RankFacts>, Malformed> {
    let facts = section.passing(|section| {
        let facts = read_facts(section, ranks, version)?;
        if version <= FormatVersion::CURRENT {
            section.finish("the section of the ranks")?;
        }
        Ok(facts)
    });
    facts.map_err(|error| of_version(error, version))
}

fn read_facts(
    cursor: &mut Cursor<'_>,
    ranks: usize,
    version: FormatVersion,
) -> Result<Vec<RankFacts>, Malformed> {
    cursor.claim_kept(ranks, size_of::<RankFacts>(), "the ranks")?;
    let mut facts = Vec::with_capacity(ranks);
    for _ in 0..cursor.count(ranks, "the number of hosts")? {
        let host = cursor.string("a host")?;
        let length = cursor.count(ranks - facts.len(), "the ranks of a host")?;
        cursor.claim_kept(length + 1, host.len(), "the names of the hosts")?;
        facts.resize(facts.len() + length, RankFacts { host, ..RankFacts::default() });
    }
    if facts.len() != ranks {
        return Err(
            cursor.malformed(format!("{} ranks have a host, {ranks} were expected", facts.len()))
        );
    }
    let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    let processes = column::read_u64(cursor, ranks, "the process ids")?;
    let threads = column::read_u64(cursor, ranks, "the threads")?;
    for (rank, facts) in facts.iter_mut().enumerate() {
        facts.process_id = narrow(processes[rank]);
        facts.threads = narrow(threads[rank]);
    }
    let mut kinds = LOSSES_0_1;
    if version > (FormatVersion { major: 0, minor: 1 }) {
        let peaks = column::read_u64(cursor, ranks, "the peaks of memory")?;
        facts.iter_mut().zip(peaks).for_each(|(facts, peak)| facts.peak_memory_bytes = peak);
        kinds = cursor.count(LOSSES_MAX, "the number of kinds of loss")?;
    }
    cursor.claim_temporary(ranks, size_of::<[u64; Losses::COUNT]>(), "the losses")?;
    let mut losses = vec![[0; Losses::COUNT]; ranks];
    for kind in 0..kinds {
        let column = cursor.passing(|cursor| column::read_u64(cursor, ranks, "a kind of loss"))?;
        for (losses, number) in losses.iter_mut().zip(column) {
            if let Some(loss) = losses.get_mut(kind) {
                *loss = number;
            }
        }
    }
    facts
        .iter_mut()
        .zip(losses)
        .for_each(|(facts, losses)| facts.losses = Losses::from_numbers(losses));
    if version > (FormatVersion { major: 1, minor: 0 }) && cursor.remaining() > 0 {
        let clocks = facts::decode_clocks(cursor, ranks)?;
        facts.iter_mut().zip(clocks).for_each(|(facts, clock)| facts.clock = clock);
        if cursor.remaining() > 0 {
            let processors = facts::decode_processors(cursor, ranks)?;
            let facts = facts.iter_mut().zip(processors);
            facts.for_each(|(facts, processor)| facts.processor = processor);
        }
    }
    Ok(facts)
}
