//! A part: its sections, and the facts of its ranks.

use std::ops::Range;

use crate::column;
use crate::cursor::{Budget, Cursor, Damage};
use crate::sections::{FileError, Section, SectionFile};

const MAGIC: &[u8] = b"TPRFPART";
const RANKS_KEY: u32 = u32::MAX;
const METRICS_KEY: u32 = 1 << 31;
const COMMUNICATION_KEY: u32 = 1 << 30;
const CAUSES_KEY: u32 = u32::MAX - 1;
const EVENTS_KEY: u32 = u32::MAX - 2;
const COMMANDS_KEY: u32 = u32::MAX - 3;

/// The number of kinds of loss in version 0.1, which does not store it.
const LOSSES_0_1: usize = 10;
/// The number of kinds that this reader knows.
pub(crate) const LOSSES: usize = 17;
/// The largest number of kinds of loss in any version, so that a damaged number does not cause much
/// work.
const LOSSES_MAX: usize = 64;
/// The number of facts of a clock that this reader knows.
const CLOCK_FACTS: usize = 13;
/// The number of facts of processor times that this reader knows.
const PROCESSOR_FACTS: usize = 9;
/// The largest number of facts of either kind in any version.
const FACTS_MAX: usize = 64;

/// The sections of one part.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) first_rank: u32,
    pub(crate) ranks: usize,
    pub(crate) version: (u16, u16),
    facts: Section,
    newer: bool,
    /// Rows of the dictionary with their sections, in ascending order of rows.
    pub(crate) times: Vec<(usize, Section)>,
    pub(crate) metrics: Vec<(usize, Section)>,
    /// Sections of messages and edges, each with the rows that may be in it.
    pub(crate) communication: Vec<(Range<usize>, Section)>,
    /// The causes of waiting of the ranks.
    pub(crate) causes: Option<Section>,
    /// The events of the ranks.
    pub(crate) events: Option<Section>,
    /// The commands that the ranks were given.
    pub(crate) commands: Option<Section>,
}

/// The manifest's entry for a part.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) first_rank: u32,
    pub(crate) ranks: u32,
    pub(crate) callpaths: usize,
}

impl Part {
    /// Reads the list of sections.
    pub(crate) fn open(bytes: &[u8], expected: &Expected) -> Result<Self, FileError> {
        let file = SectionFile::open(bytes, MAGIC, 3)?;
        let budget = Budget::new(0);
        let start = Cursor::new(bytes, 0, &budget);
        let Expected { first_rank, ranks, callpaths } = *expected;
        if (file.header[0], file.header[1], file.header[2] as usize)
            != (first_rank, ranks, callpaths)
        {
            let [first, count, rows] = [0, 1, 2].map(|field| file.header[field]);
            let reason = format!(
                "the header speaks of {count} ranks from {first} on and {rows} callpaths, \
                 the manifest of {ranks} from {first_rank} on and {callpaths}"
            );
            return Err(start.damage(reason).into());
        }
        let newer = file.is_newer();
        let Some((&facts, sections)) =
            file.sections.split_first().filter(|(first, _)| first.key == RANKS_KEY)
        else {
            return Err(start.damage("the section that describes the ranks is missing").into());
        };
        let (mut times, mut metrics) = (Vec::with_capacity(sections.len()), Vec::new());
        let mut communication: Vec<(usize, Section)> = Vec::new();
        let (mut before, mut causes, mut events, mut commands) = (None, None, None, None);
        for &section in sections {
            let of_row = |flag: u32| (section.key ^ flag) as usize;
            // Before version 1.1, a long dictionary may have rows that look like messages.
            let lists = [
                (0, &mut times),
                (METRICS_KEY, &mut metrics),
                (COMMUNICATION_KEY, &mut communication),
            ];
            let mut lists = lists.into_iter().enumerate();
            let found = lists.find(|(_, (flag, _))| of_row(*flag) < callpaths);
            if let Some((place, (flag, list))) = found {
                let row = of_row(flag);
                if before >= Some((row, place)) {
                    let reason = format!("section {} is not in its place", section.key);
                    return Err(Damage::at(section.offset, reason).into());
                }
                before = Some((row, place));
                list.push((row, section));
            } else if section.key == CAUSES_KEY && before < Some((usize::MAX, 0)) {
                before = Some((usize::MAX, 0));
                causes = Some(section);
            } else if section.key == EVENTS_KEY && before < Some((usize::MAX, 1)) {
                before = Some((usize::MAX, 1));
                events = Some(section);
            } else if section.key == COMMANDS_KEY && before < Some((usize::MAX, 2)) {
                before = Some((usize::MAX, 2));
                commands = Some(section);
            } else if !newer {
                let reason = format!("section {} belongs to no callpath", section.key);
                return Err(Damage::at(section.offset, reason).into());
            }
        }
        let ranks = ranks as usize;
        let mut first_row = 0;
        let communication = communication.into_iter().map(|(row, section)| {
            let rows = first_row..row + 1;
            first_row = rows.end;
            (rows, section)
        });
        let communication = communication.collect();
        Ok(Self {
            first_rank,
            ranks,
            version: file.version,
            facts,
            newer,
            times,
            metrics,
            communication,
            causes,
            events,
            commands,
        })
    }

    /// Reads the facts of the ranks and adds them to `facts`.
    pub(crate) fn read_facts(
        &self,
        bytes: &[u8],
        budget: &Budget,
        facts: &mut Facts,
    ) -> Result<(), Damage> {
        let mut cursor = self.facts.cursor(bytes, budget);
        let mut left = self.ranks;
        for _ in 0..cursor.count(self.ranks, "the number of hosts")? {
            let host = cursor.string("a host")?.to_owned();
            let ranks = cursor.count(left, "the ranks of a host")?;
            left -= ranks;
            facts.hosts.push((host, ranks));
        }
        if left > 0 {
            return Err(cursor.damage(format!("{left} ranks have no host")));
        }
        column::integers(&mut cursor, self.ranks, "the process ids", &mut facts.process_ids)?;
        column::integers(&mut cursor, self.ranks, "the threads", &mut facts.threads)?;
        let mut kinds = LOSSES_0_1;
        if self.version > (0, 1) {
            column::integers(
                &mut cursor,
                self.ranks,
                "the peaks of memory",
                &mut facts.peaks_bytes,
            )?;
            kinds = cursor.count(LOSSES_MAX, "the number of kinds of loss")?;
        }
        facts.peaks_bytes.resize(facts.process_ids.len(), 0);
        for kind in 0..kinds {
            match facts.losses.get_mut(kind) {
                Some(losses) => {
                    column::integers(&mut cursor, self.ranks, "a kind of loss", losses)?
                }
                None => column::skip(&mut cursor, self.ranks, "a kind of loss")?,
            }
        }
        facts.losses.iter_mut().for_each(|losses| losses.resize(facts.process_ids.len(), 0));
        if self.version > (1, 0) && cursor.remaining() > 0 {
            let Facts { clocks, processors, .. } = facts;
            self.read_columns(&mut cursor, clocks, "a fact of the clocks")?;
            if cursor.remaining() > 0 {
                self.read_columns(&mut cursor, processors, "a fact of the processors")?;
            }
        }
        if !self.newer {
            cursor.finish("the section of the ranks")?;
        }
        let columns = facts.clocks.iter_mut().chain(&mut facts.processors);
        columns.for_each(|column| column.resize(facts.process_ids.len(), 0));
        Ok(())
    }

    /// Reads a number of columns, and skips those that this reader does not know.
    fn read_columns(
        &self,
        cursor: &mut Cursor<'_>,
        columns: &mut [Vec<u64>],
        name: &'static str,
    ) -> Result<(), Damage> {
        for fact in 0..cursor.count(FACTS_MAX, "the number of facts of the ranks")? {
            match columns.get_mut(fact) {
                Some(numbers) => column::integers(cursor, self.ranks, name, numbers)?,
                None => column::skip(cursor, self.ranks, name)?,
            }
        }
        Ok(())
    }
}

/// Returns the first section of a part, or of the callpaths, that does not match its checksum, or
/// any other error in the file.
pub(crate) fn locate_damage(bytes: &[u8], is_part: bool) -> Option<FileError> {
    let file = if is_part {
        SectionFile::open(bytes, MAGIC, 3)
    } else {
        SectionFile::open(bytes, b"TPRFPATH", 0)
    };
    match file {
        Ok(file) => file
            .sections
            .iter()
            .find_map(|section| section.verify(bytes).err())
            .map(FileError::from),
        Err(error) => Some(error),
    }
}

/// The facts of all ranks, rank by rank.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Hosts, each with its number of neighbouring ranks.
    pub(crate) hosts: Vec<(String, usize)>,
    pub(crate) process_ids: Vec<u64>,
    pub(crate) threads: Vec<u64>,
    pub(crate) peaks_bytes: Vec<u64>,
    pub(crate) losses: [Vec<u64>; LOSSES],
    pub(crate) clocks: [Vec<u64>; CLOCK_FACTS],
    pub(crate) processors: [Vec<u64>; PROCESSOR_FACTS],
}
