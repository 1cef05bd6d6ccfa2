//! What a segment says of itself.

use std::fmt;

use super::description::ProcessDescription;
use super::layout::{LINE_BYTES, MAGIC, VERSION, clock, header as at};
use super::words::{Words, high, low};
use crate::model::ProfileId;

/// What the ticks of a segment are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickClock {
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    Monotonic,
    /// The processor's counter.
    Counter,
}

/// Who wrote a segment, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SegmentHeader {
    /// The process.
    pub process_id: u32,
    /// When the process began, in the unit of field 22 of `/proc/PID/stat`: tells a reused process
    /// id apart.
    pub start_time: u64,
    /// The user.
    pub user_id: u32,
    /// Since which boot of the machine: `/proc/sys/kernel/random/boot_id`.
    pub boot_id: u128,
    /// The number of the PID namespace in which the process id counts.
    pub namespace: u64,
    /// The thread, in the order in which threads began to record.
    pub thread: u32,
    /// What its ticks are.
    pub clock: TickClock,
    /// A moment at the start of the recording, in ticks.
    pub start_ticks: u64,
    /// The same moment, in nanoseconds of `CLOCK_MONOTONIC`.
    pub start_ns: u64,
    /// Seconds since 1970-01-01 UTC at which recording began.
    pub launch_date_s: u64,
    /// The rank and the number of ranks of its job, where it is part of one.
    pub rank: Option<(u32, u32)>,
    /// The profile that its process was writing, or had written, when it ended: it holds all that
    /// is in its segments, if it was completed.
    pub profile_id: Option<ProfileId>,
}

/// Why a file is not a segment that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoSegment {
    /// It does not begin as a segment does.
    Magic,
    /// It is of another version.
    Version(u64),
    /// What it says of itself cannot be.
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

/// One thread's segment, read from a file.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    pub(super) words: Words<'a>,
    header: SegmentHeader,
}

impl<'a> Segment<'a> {
    /// The segment that these bytes of a file are.
    ///
    /// # Errors
    /// When they are not the bytes of a segment of the version that this crate knows.
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

    /// Who wrote it, and when.
    #[must_use]
    pub fn header(&self) -> &SegmentHeader {
        &self.header
    }

    /// How many bytes from the start of the file on hold the header and what the process said of
    /// itself.
    #[must_use]
    pub fn description_end(&self) -> u64 {
        let place = self.words.get(0, at::DESCRIPTION).unwrap_or_default();
        u64::from(low(place)) * LINE_BYTES as u64 + u64::from(high(place))
    }

    /// What the process said of itself; the default where that is damaged.
    #[must_use]
    pub fn description(&self) -> ProcessDescription {
        let place = self.words.get(0, at::DESCRIPTION).unwrap_or_default();
        let bytes = self.words.bytes(low(place), 0, high(place) as usize).unwrap_or_default();
        serde_json::from_slice(bytes).unwrap_or_default()
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
