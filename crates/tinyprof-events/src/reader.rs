//! The side of other threads and processes: reads a buffer while its owner records, or after it has
//! died. It trusts no word.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use tinyprof_segment::primitive::AtomicU64;
use tinyprof_segment::sequence::try_read;
use tinyprof_segment::words::{high, low};
use tinyprof_vocabulary::{EventClass, EventPolicy, MessageEnd};

use crate::bin::{Bin, Contents};
use crate::buffer::{Buffer, Times};
use crate::cell::{CELLS, Cell};
use crate::layout::{Geometry, MAGIC, cell, header};
use crate::{message, varint};

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

/// An end of a message as it was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedMessage {
    /// The number by which the recorder knows the callpath of the call.
    pub callpath: u32,
    /// When the call was at it, in ticks since the origin, without the bits that are left out.
    pub at: u64,
    /// The end.
    pub end: MessageEnd,
}

/// The events of a cell, kept and lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellTotals {
    /// The cell.
    pub cell: Cell,
    /// The events that there are.
    pub kept: u64,
    /// The events that were given up, or refused.
    pub lost: u64,
    /// The begin of the first event that was lost, in ticks since the origin.
    pub lost_first: u64,
    /// The end of the last one; 0 if there is none.
    pub lost_last: u64,
}

/// Sums over the cells of visits.
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
    /// The messages in their order.
    pub messages: Vec<RecordedMessage>,
    /// The cells that had events.
    pub cells: Vec<CellTotals>,
    /// When a window ended because it was full, in ticks since the origin.
    pub stopped: Option<u64>,
    /// The visits that went on when they were recorded.
    pub cut: u64,
    /// The bins whose contents made no sense; their events are among those lost.
    pub bins_unreadable: u64,
}

impl Recording {
    /// Returns the sums over all cells of visits.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let visits = self.cells.iter().filter(|cell| cell.cell.class() != EventClass::Message);
        visits.fold(Totals::default(), |sum, cell| Totals {
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
    let (mut visits, mut messages, mut bins_unreadable) = (Vec::new(), Vec::new(), 0);
    for bin in (0..geometry.bins).map(|bin| buffer.bin(bin)) {
        let Some(mut contents) = read_bin(bin) else {
            bins_unreadable += u64::from(bin.cell().is_some());
            continue;
        };
        made[contents.cell.number() as usize].cut(&mut contents);
        let is_whole = if contents.cell.class() == EventClass::Message {
            decode(&contents, &mut messages, |bytes, head| decode_message(bytes, head, shift))
        } else {
            decode(&contents, &mut visits, |bytes, head| decode_visit(bytes, head, shift))
        };
        if is_whole {
            kept[contents.cell.number() as usize] += u64::from(contents.events);
        } else {
            bins_unreadable += 1;
        }
    }
    visits.sort_unstable_by_key(|visit: &RecordedVisit| {
        (visit.begin, visit.cell.depth(), std::cmp::Reverse(visit.end))
    });
    messages.sort_by_key(|message: &RecordedMessage| message.at);
    let cells = cells.into_iter().zip(made).zip(kept);
    let cells = cells.map(|((cell, made), kept)| made.totals(cell, kept, shift));
    let cells = cells.filter(|cell| (cell.kept, cell.lost) != (0, 0)).collect();
    let cut = word(header::CUT);
    Some(Recording { policy, times, visits, messages, cells, stopped, cut, bins_unreadable })
}

fn read_bin(bin: Bin<'_>) -> Option<Contents> {
    (0..TRIES).find_map(|_| bin.read())
}

/// The events that a cell has had.
#[derive(Clone, Copy, Debug)]
struct Made {
    recorded: u64,
    refused: u64,
    lost_first: u64,
    lost_last: u64,
    /// The bins that the cell had until then, and the events in the last of them.
    bins: u32,
    in_last: u32,
}

impl Made {
    /// Leaves out events that were made later.
    fn cut(self, contents: &mut Contents) {
        if contents.number >= self.bins {
            contents.events = 0;
            contents.bytes.truncate(8);
        } else if contents.number.saturating_add(1) == self.bins && contents.events > self.in_last {
            contents.events = self.in_last;
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
                // A bin that is closed gets no further events.
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

/// The begin of an event: the same of visits and of messages.
struct Head<'a> {
    cell: Cell,
    callpath: u32,
    /// The end of the event before, and the time that its gap leads to.
    last: &'a mut u64,
    reference: u64,
    /// The number of the message before.
    number: &'a mut u64,
}

/// Appends the events of a bin. Returns false, with nothing done, if the bytes are not those of its
/// events.
fn decode<E>(
    contents: &Contents,
    events: &mut Vec<E>,
    mut decode_event: impl FnMut(&mut Bytes<'_>, Head<'_>) -> Option<E>,
) -> bool {
    let mut bytes = Bytes { bytes: &contents.bytes, at: 0 };
    let mut callpaths: Vec<u32> = Vec::new();
    let (before, mut last, mut number) = (events.len(), contents.first, 0);
    let mut decode_one = || {
        let mut index = bytes.number()?;
        while index == 0 {
            callpaths.push(u32::try_from(bytes.number()?).ok()?);
            index = bytes.number()?;
        }
        let callpath = *callpaths.get(usize::try_from(index - 1).ok()?)?;
        let reference = last.checked_add(bytes.number()?)?;
        let (cell, last, number) = (contents.cell, &mut last, &mut number);
        decode_event(&mut bytes, Head { cell, callpath, last, reference, number })
    };
    let is_whole = (0..contents.events)
        .all(|_| decode_one().map(|event| events.push(event)).is_some())
        && (contents.is_cut || bytes.at + 8 == contents.bytes.len());
    if !is_whole {
        events.truncate(before);
    }
    is_whole
}

/// Returns a time in ticks.
const fn ticks(units: u64, shift: u32) -> u64 {
    if units >> (63 - shift) == 0 { units << shift } else { u64::MAX }
}

fn decode_visit(bytes: &mut Bytes<'_>, head: Head<'_>, shift: u32) -> Option<RecordedVisit> {
    let Head { cell, callpath, last, reference, .. } = head;
    let duration = bytes.number()?;
    let (begin, end) = if cell.is_mixed() {
        (reference.checked_sub(duration)?, reference)
    } else {
        (reference, reference.checked_add(duration)?)
    };
    *last = end;
    Some(RecordedVisit { callpath, cell, begin: ticks(begin, shift), end: ticks(end, shift) })
}

fn decode_message(bytes: &mut Bytes<'_>, head: Head<'_>, shift: u32) -> Option<RecordedMessage> {
    let Head { callpath, last, reference, number, .. } = head;
    let end = message::decode(|| bytes.number(), *number)?;
    (*last, *number) = (reference, end.number);
    Some(RecordedMessage { callpath, at: ticks(reference, shift), end })
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
