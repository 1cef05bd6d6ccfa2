//! The header of a segment.

use std::fmt;

use tinyprof_segment::layout::{LINE_BYTES, MAGIC, VERSION, clock, header as at};
use tinyprof_segment::words::{high, low};

use super::description::ProcessDescription;
use super::words::Words;
use crate::model::ProfileId;

/// The clock that counts the ticks of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickClock {
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    Monotonic,
    /// The processor's counter.
    Counter,
}

/// The origin of a segment: its process and thread, and the time of their start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentHeader {
    /// The process id.
    pub process_id: u32,
    /// The start time of the process, in the unit of field 22 of `/proc/PID/stat`. It distinguishes
    /// processes with the same, reused id.
    pub start_time: u64,
    /// The user id.
    pub user_id: u32,
    /// The boot id of the machine: `/proc/sys/kernel/random/boot_id`.
    pub boot_id: u128,
    /// The number of the PID namespace of the process id.
    pub namespace: u64,
    /// The number of the thread, in the order in which threads began to record.
    pub thread: u32,
    /// The clock of its ticks.
    pub clock: TickClock,
    /// A moment at the start of the recording, in ticks.
    pub start_ticks: u64,
    /// The moment of `start_ticks`, in nanoseconds of `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// The time when recording began, in seconds since 1970-01-01 UTC.
    pub launch_date_s: u64,
    /// The rank and the number of ranks of its job, if any.
    pub rank: Option<(u32, u32)>,
    /// The profile that the process was writing, or had written, when it ended. If that profile was
    /// completed, it holds all data of the segments.
    pub profile_id: Option<ProfileId>,
}

/// The reason why a file is not a readable segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoSegment {
    /// It does not begin with the magic of a segment.
    Magic,
    /// It has another version.
    Version(u64),
    /// Its header is invalid.
    Header,
}

impl fmt::Display for NoSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic => f.write_str("it is no segment"),
            Self::Version(found) => write!(
                f,
                "it is of segment version {found}, and this reader knows version {VERSION}; use the tinyprof \
                 that belongs to the program"
            ),
            Self::Header => f.write_str("its header is damaged"),
        }
    }
}

impl std::error::Error for NoSegment {}

/// The segment of one thread, read from a file.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    pub(super) words: Words<'a>,
    header: SegmentHeader,
}

impl<'a> Segment<'a> {
    /// Parses the bytes of a segment file.
    ///
    /// # Errors
    /// If they are not a segment of the version that this crate reads.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, NoSegment> {
        let words = Words(bytes);
        let word = |word| words.get(0, word);
        if word(at::MAGIC) != Some(MAGIC) {
            return Err(NoSegment::Magic);
        }
        match word(at::VERSION).ok_or(NoSegment::Header)? {
            VERSION => {}
            other => return Err(NoSegment::Version(other)),
        }
        let header = read_header(words).ok_or(NoSegment::Header)?;
        Ok(Self { words, header })
    }

    /// Returns the origin of the segment.
    #[must_use]
    pub fn header(&self) -> &SegmentHeader {
        &self.header
    }

    /// Returns the length of the header and the description of the process, in bytes from the start
    /// of the file.
    #[must_use]
    pub fn description_end(&self) -> u64 {
        let place = self.words.get(0, at::DESCRIPTION).unwrap_or_default();
        u64::from(low(place)) * LINE_BYTES as u64 + u64::from(high(place))
    }

    /// Returns the description of the process; the default if it is damaged.
    #[must_use]
    pub fn description(&self) -> ProcessDescription {
        let place = self.words.get(0, at::DESCRIPTION).unwrap_or_default();
        let bytes = self.words.bytes(low(place), 0, high(place) as usize).unwrap_or_default();
        serde_json::from_slice(bytes).unwrap_or_default()
    }
}

impl Segment<'_> {
    /// Returns the words that the process has kept for others, who know their meaning.
    #[must_use]
    pub fn kept_words(&self) -> Option<Vec<u64>> {
        let place = self.words.get(0, at::KEPT).filter(|place| *place != 0)?;
        let bytes = self.words.bytes(low(place), 0, (high(place) as usize).checked_mul(8)?)?;
        let (words, _) = bytes.as_chunks::<8>();
        Some(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }
}

fn read_header(words: Words<'_>) -> Option<SegmentHeader> {
    let word = |word| words.get(0, word);
    word(at::WORDS - 1)?;
    let process = word(at::PROCESS)?;
    let thread = word(at::THREAD)?;
    let rank = word(at::RANK)?;
    Some(SegmentHeader {
        process_id: low(process),
        user_id: high(process),
        start_time: word(at::START_TIME)?,
        boot_id: u128::from(word(at::BOOT_ID + 1)?) << 64 | u128::from(word(at::BOOT_ID)?),
        namespace: word(at::NAMESPACE)?,
        thread: low(thread),
        clock: match high(thread) {
            clock::MONOTONIC => TickClock::Monotonic,
            clock::COUNTER => TickClock::Counter,
            _ => return None,
        },
        start_ticks: word(at::START_TICKS)?,
        start_ns: word(at::START_NS)?,
        launch_date_s: word(at::LAUNCH_DATE)?,
        rank: (low(rank) < high(rank)).then_some((low(rank), high(rank))),
        profile_id: ProfileId::from_word(word(at::PROFILE_ID)?),
    })
}
