//! The side of other threads and processes: reads a buffer while its owner records, or after it has
//! died. It trusts no word.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use tinyprof_segment::primitive::AtomicU64;
use tinyprof_segment::sequence::try_read;
use tinyprof_segment::words::{high, low};
use tinyprof_vocabulary::EventPolicy;

use crate::bin::{Bin, Contents};
use crate::buffer::{Buffer, Times};
use crate::cell::{CELLS, Cell};
use crate::layout::{Geometry, MAGIC, cell, header};
use crate::varint;

/// The number of attempts to read a cell or bin that keeps changing.
const TRIES: usize = 100;

/// A visit as it was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedVisit {
    /// The number by which the recorder knows the callpath.
    pub callpath: u32,
    /// The cell that it was kept in.
    pub cell: Cell,
    /// Its begin, in ticks since the origin, without the bits that are left out.
    pub begin: u64,
    /// Its end, likewise.
    pub end: u64,
}

/// The visits of a cell, kept and lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellTotals {
    /// The cell.
    pub cell: Cell,
    /// The visits that there are.
    pub kept: u64,
    /// The visits that were given up, or refused.
    pub lost: u64,
    /// The begin of the first visit that was lost, in ticks since the origin.
    pub lost_first: u64,
    /// The end of the last one; 0 if there is none.
    pub lost_last: u64,
}

/// Sums over cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The visits that there are.
    pub kept: u64,
    /// The visits that were given up, or refused.
    pub lost: u64,
}

/// The contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The policy of the buffer.
    pub policy: EventPolicy,
    /// The times of the buffer.
    pub times: Times,
    /// The visits in the order of their begins; the outer one first.
    pub visits: Vec<RecordedVisit>,
    /// The cells that had visits.
    pub cells: Vec<CellTotals>,
    /// When a window ended because it was full, in ticks since the origin.
    pub stopped: Option<u64>,
    /// The visits that went on when they were recorded.
    pub cut: u64,
    /// The bins whose contents made no sense; their visits are among those lost.
    pub bins_unreadable: u64,
}

impl Recording {
    /// Returns the sums over all cells.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.cells.iter().fold(Totals::default(), |sum, cell| Totals {
            kept: sum.kept + cell.kept,
            lost: sum.lost.saturating_add(cell.lost),
        })
    }
}

/// Returns what these words contain; `None` if they are no buffer. Any thread or process.
///
/// Visits that end while this reads are neither kept nor lost: the totals are those of the moment
/// at which their cell is read. Only what is given up meanwhile is lost already.
#[must_use]
pub fn read(words: &[AtomicU64]) -> Option<Recording> {
    if words.get(header::MAGIC)?.load(Acquire) != MAGIC {
        return None;
    }
    let word = |at: usize| words[at].load(Relaxed);
    let geometry = Geometry::of_words(words.len())?;
    let (bins, bin_words) = (low(word(header::BINS)), high(word(header::BINS)));
    if (bins as usize, bin_words as usize) != (geometry.bins, geometry.bin_words) {
        return None;
    }
    let buffer = Buffer::of_words(words, geometry);
    let shift = u32::try_from(word(header::SHIFT)).ok().filter(|&shift| shift < 32)?;
    let shortest = high(word(header::POLICY)).checked_shl(shift).unwrap_or(u32::MAX);
    let times = Times { origin: word(header::ORIGIN), shift, shortest };
    let policy = EventPolicy::from_number(low(word(header::POLICY)).into())?;
    let stopped = word(header::STOPPED).checked_sub(1).map(|units| units << shift);
    let cells: Vec<_> = (0..CELLS).filter_map(Cell::from_number).collect();
    let made: Vec<Made> = cells.iter().map(|&cell| Made::read(buffer, cell)).collect();
    let mut kept = vec![0; cells.len()];
    let (mut visits, mut bins_unreadable) = (Vec::new(), 0);
    for bin in (0..geometry.bins).map(|bin| buffer.bin(bin)) {
        let Some(mut contents) = read_bin(bin) else {
            bins_unreadable += u64::from(bin.cell().is_some());
            continue;
        };
        made[contents.cell.number() as usize].cut(&mut contents);
        let before = visits.len();
        if decode(&contents, shift, &mut visits) {
            kept[contents.cell.number() as usize] += u64::from(contents.visits);
        } else {
            visits.truncate(before);
            bins_unreadable += 1;
        }
    }
    visits.sort_unstable_by_key(|visit: &RecordedVisit| {
        (visit.begin, visit.cell.depth(), std::cmp::Reverse(visit.end))
    });
    let cells = cells.into_iter().zip(made).zip(kept);
    let cells = cells.map(|((cell, made), kept)| made.totals(cell, kept, shift));
    let cells = cells.filter(|cell| cell.kept + cell.lost > 0).collect();
    let cut = word(header::CUT);
    Some(Recording { policy, times, visits, cells, stopped, cut, bins_unreadable })
}

fn read_bin(bin: Bin<'_>) -> Option<Contents> {
    (0..TRIES).find_map(|_| bin.read())
}

/// The visits that a cell has had.
#[derive(Clone, Copy, Debug)]
struct Made {
    recorded: u64,
    refused: u64,
    lost_first: u64,
    lost_last: u64,
    /// The bins that the cell had until then, and the visits in the last of them.
    bins: u32,
    in_last: u32,
}

impl Made {
    /// Leaves out visits that were made later.
    fn cut(self, contents: &mut Contents) {
        if contents.number >= self.bins {
            contents.visits = 0;
            contents.bytes.truncate(8);
        } else if contents.number + 1 == self.bins && contents.visits > self.in_last {
            contents.visits = self.in_last;
            contents.is_cut = true;
        }
    }

    fn read(buffer: Buffer<'_>, of: Cell) -> Self {
        let get = |at| buffer.of_cell(of, at).load(Relaxed);
        let read = || {
            let open = (low(get(cell::OPEN)) as usize).checked_sub(1);
            let open = open.filter(|&open| open < buffer.geometry.bins);
            let open = open.map(|open| buffer.bin(open)).filter(|open| open.cell() == Some(of));
            let in_open = open.map(|open| open.filled().0);
            Self {
                recorded: get(cell::CLOSED).saturating_add(in_open.unwrap_or(0).into()),
                refused: get(cell::REFUSED),
                lost_first: get(cell::LOST_FIRST).saturating_sub(1),
                lost_last: get(cell::LOST_LAST),
                bins: high(get(cell::OPEN)),
                // A bin that is closed gets no further visits.
                in_last: in_open.unwrap_or(u32::MAX),
            }
        };
        let sequence = buffer.of_cell(of, cell::SEQUENCE);
        // Of a process that was killed during a change the last state is as good as any.
        (0..TRIES).find_map(|_| try_read(sequence, read)).unwrap_or_else(read)
    }

    fn totals(self, cell: Cell, kept: u64, shift: u32) -> CellTotals {
        let lost = self.recorded.saturating_sub(kept).saturating_add(self.refused);
        let [lost_first, lost_last] = [self.lost_first, self.lost_last].map(|units| units << shift);
        CellTotals { cell, kept, lost, lost_first, lost_last }
    }
}

/// Appends the visits of a bin. Returns false if the bytes are not those of its visits.
fn decode(contents: &Contents, shift: u32, visits: &mut Vec<RecordedVisit>) -> bool {
    let mut bytes = Bytes { bytes: &contents.bytes, at: 0 };
    let mut callpaths: Vec<u32> = Vec::new();
    let mut last = contents.first;
    let cell = contents.cell;
    for _ in 0..contents.visits {
        let Some(visit) = decode_one(&mut bytes, &mut callpaths, cell, &mut last) else {
            return false;
        };
        let units = |units: u64| if units >> (63 - shift) == 0 { units << shift } else { u64::MAX };
        visits.push(RecordedVisit { begin: units(visit.begin), end: units(visit.end), ..visit });
    }
    contents.is_cut || bytes.at + 8 == contents.bytes.len()
}

fn decode_one(
    bytes: &mut Bytes<'_>,
    callpaths: &mut Vec<u32>,
    cell: Cell,
    last: &mut u64,
) -> Option<RecordedVisit> {
    let mut index = bytes.number()?;
    while index == 0 {
        callpaths.push(u32::try_from(bytes.number()?).ok()?);
        index = bytes.number()?;
    }
    let callpath = *callpaths.get(usize::try_from(index - 1).ok()?)?;
    let reference = last.checked_add(bytes.number()?)?;
    let duration = bytes.number()?;
    let (begin, end) = if cell.is_mixed() {
        (reference.checked_sub(duration)?, reference)
    } else {
        (reference, reference.checked_add(duration)?)
    };
    *last = end;
    Some(RecordedVisit { callpath, cell, begin, end })
}

/// The bytes of a bin, which end with eight zeros that belong to no number.
struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bytes<'_> {
    fn number(&mut self) -> Option<u64> {
        let bytes = self.bytes.get(self.at..self.at + 8)?;
        let (number, count) = varint::decode(u64::from_le_bytes(bytes.try_into().ok()?))?;
        self.at += count as usize;
        (self.at + 8 <= self.bytes.len()).then_some(number)
    }
}
