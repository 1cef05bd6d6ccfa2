//! The owner's side of a buffer: the thread that makes the visits, and sends and receives the
//! messages, records them.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::primitive::AtomicU64;
use tinyprof_segment::sequence::{begin_update, end_update, publish};
use tinyprof_segment::words::{high, low, pack};
use tinyprof_vocabulary::{EventClass, EventPolicy, MessageEnd};

use crate::bin::{Bin, word};
use crate::cell::Cell;
use crate::layout::{CELLS_AT, DICTIONARY_AT, Geometry, MAGIC, cell, dictionary, header};
use crate::{message, varint};

/// The most bytes of an event: of a callpath that gets an index, the index, the gap, and what a
/// message has.
pub(crate) const EVENT_BYTES_MAX: u32 = 1 + 5 + 5 + 8 + message::BYTES_MAX;

/// A visit that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The number by which the caller knows the callpath.
    pub callpath: u32,
    /// The class of the visit.
    pub class: EventClass,
    /// The depth of the callpath; roots have 1.
    pub depth: u32,
    /// When it began, in ticks.
    pub begin: u64,
    /// When it ended, in ticks.
    pub end: u64,
}

/// The times of a buffer, which are ticks of the caller's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The ticks of time 0. Earlier visits begin there.
    pub origin: u64,
    /// The number of low bits of a time that are left out. Order and nesting stay as they are.
    pub shift: u32,
    /// The ticks that a visit of [`EventClass::Computation`] takes at least, to be kept.
    pub shortest: u32,
}

/// An event in the units of the buffer.
#[derive(Clone, Copy, Debug)]
struct Stored<'m> {
    callpath: u32,
    cell: Cell,
    begin: u64,
    end: u64,
    /// Of an event that is no visit.
    message: Option<&'m MessageEnd>,
}

/// A buffer in words that somebody else keeps. Owner only, but for a signal handler on the same
/// thread, whose visits are refused while the thread records.
///
/// ```
/// use std::sync::atomic::AtomicU64;
/// use tinyprof_events::{Buffer, EventClass, EventPolicy, Visit, buffer::Times, read};
///
/// let words: Vec<AtomicU64> = (0..256 << 7).map(|_| AtomicU64::new(0)).collect();
/// let buffer = Buffer::prepare(&words, EventPolicy::Ring, Times::default())
///     .expect("256 KiB suffice");
/// buffer.record(Visit { callpath: 7, class: EventClass::Root, depth: 1, begin: 100, end: 300 });
/// let recording = read(&words).expect("it is a buffer");
/// assert_eq!((recording.visits[0].begin, recording.visits[0].end), (100, 300));
/// assert_eq!(recording.totals().lost, 0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'a> {
    pub(crate) words: &'a [AtomicU64],
    pub(crate) geometry: Geometry,
}

impl<'a> Buffer<'a> {
    /// Makes an empty buffer of zeroed words; `None` if they are fewer than 256 KiB.
    #[must_use]
    pub fn prepare(words: &'a [AtomicU64], policy: EventPolicy, times: Times) -> Option<Self> {
        let geometry = Geometry::of_words(words.len())?;
        let buffer = Self { words, geometry };
        let narrow = |number: usize| u32::try_from(number).ok();
        let shortest = times.shortest >> times.shift;
        for (at, value) in [
            (header::POLICY, policy.number() | u64::from(shortest) << 32),
            (header::BINS, pack(narrow(geometry.bins)?, narrow(geometry.bin_words)?)),
            (header::SHIFT, u64::from(times.shift)),
            (header::ORIGIN, times.origin),
        ] {
            words[at].store(value, Relaxed);
        }
        publish(&words[header::MAGIC], MAGIC);
        Some(buffer)
    }

    /// Returns the buffer that [`prepare`](Self::prepare) has made of these words.
    #[must_use]
    #[inline(always)]
    pub const fn of_words(words: &'a [AtomicU64], geometry: Geometry) -> Self {
        Self { words, geometry }
    }

    /// Records a visit that has just ended. Returns false if it is not kept.
    ///
    /// # Cost
    /// About 150 instructions. When a bin is full, 1 to 3 microseconds with up to 500 bins.
    #[expect(clippy::must_use_candidate, reason = "most callers need not know: losses are counted")]
    pub fn record(&self, visit: Visit) -> bool {
        if self.record_usual(visit) {
            return true;
        }
        self.record_stored(Stored {
            callpath: visit.callpath,
            cell: Cell::new(visit.class, visit.depth),
            begin: self.units(visit.begin),
            end: self.units(visit.end),
            message: None,
        })
    }

    /// Records an end of a message, at which the call of the callpath with this number was at `at`,
    /// in ticks. Returns false if it is not kept.
    #[expect(clippy::must_use_candidate, reason = "most callers need not know: losses are counted")]
    pub fn record_message(&self, callpath: u32, at: u64, message: &MessageEnd) -> bool {
        if self.record_usual_message(callpath, at, message) {
            return true;
        }
        let (cell, at) = (Cell::MESSAGES, self.units(at));
        self.record_stored(Stored { callpath, cell, begin: at, end: at, message: Some(message) })
    }

    fn units(&self, ticks: u64) -> u64 {
        ticks.saturating_sub(self.get(header::ORIGIN)) >> (self.get(header::SHIFT) & 63)
    }

    /// Records an event that may need a bin, or a callpath in one.
    #[inline(never)]
    fn record_stored(&self, event: Stored<'_>) -> bool {
        if !begin_update(&self.words[header::BUSY]) {
            return self.refuse(event);
        }
        let is_kept = self.keep(event);
        end_update(&self.words[header::BUSY]);
        is_kept
    }

    /// Counts a visit that was recorded although it goes on.
    pub fn count_cut(&self) {
        add(&self.words[header::CUT], 1);
    }

    fn keep(&self, event: Stored<'_>) -> bool {
        let stopped = self.get(header::STOPPED);
        let is_late = stopped != 0 && event.begin >= stopped - 1;
        let duration = event.end.checked_sub(event.begin);
        let is_long = duration.is_some_and(|units| units >= self.shortest_of(event.cell));
        if is_late || !is_long {
            return self.refuse(event);
        }
        if let Some(open) = self.open_number(event.cell).map(|open| self.bin(open)) {
            if self.append(open, event) {
                return true;
            }
            if event.reference() < open.get(word::LAST) {
                // The clock went back, or two visits overlap.
                return self.refuse(event);
            }
        }
        match self.free_bin(event.cell, event.end) {
            Some(bin) if self.open(bin, event) => self.append(self.bin(bin), event),
            _ => self.refuse(event),
        }
    }

    /// Makes this bin, which belongs to no cell any more, the open one of the event's cell.
    fn open(&self, bin: usize, event: Stored<'_>) -> bool {
        let of_cell = |at| self.of_cell(event.cell, at);
        if !begin_update(of_cell(cell::SEQUENCE)) {
            return false;
        }
        if let Some(before) = self.open_number(event.cell) {
            add(of_cell(cell::CLOSED), self.bin(before).filled().0.into());
            self.note_last(before);
        }
        let number = high(of_cell(cell::OPEN).load(Relaxed));
        let serial = &self.words[header::BINS_BEGUN];
        add(serial, 1);
        let begun = self.bin(bin).begin(event.cell, number, serial.load(Relaxed), event.begin);
        let open = if begun { u32::try_from(bin + 1).unwrap_or(0) } else { 0 };
        if begun {
            self.enter_into_index(bin, event.cell, number);
        }
        of_cell(cell::OPEN).store(pack(open, number.wrapping_add(1)), Relaxed);
        end_update(of_cell(cell::SEQUENCE));
        begun
    }

    /// Appends an event to a bin of its cell. Returns false, with nothing done, if the bin has no
    /// room, or the event is before its end.
    fn append(&self, bin: Bin<'_>, event: Stored<'_>) -> bool {
        let (events, at) = bin.filled();
        let (last, reference) = (bin.get(word::LAST), event.reference());
        if at + EVENT_BYTES_MAX > bin.capacity() || reference < last {
            return false;
        }
        let (index, at) = self.index_of(bin, event, at);
        let head = [u64::from(index) + 1, reference - last].map(varint::encode);
        let at = head.iter().fold(at, |at, part| bin.append(at, part.0, part.1));
        let at = if let Some(message) = event.message {
            message::append(bin, at, message)
        } else {
            let (bytes, count) = varint::encode(event.end - event.begin);
            bin.append(at, bytes, count)
        };
        bin.publish(events + 1, at, event.end);
        true
    }

    /// Returns the index of a callpath in a bin, and where the next bytes go: a callpath that is
    /// not in the dictionary any more gets a new index.
    fn index_of(&self, bin: Bin<'_>, event: Stored<'_>, at: u32) -> (u32, u32) {
        let callpath = event.callpath;
        let entry = dictionary_entry(callpath, event.cell);
        let known = self.get(entry);
        let serial = bin.get(word::SERIAL);
        if low(known) == callpath && self.get(entry + dictionary::SERIAL) == serial {
            return (high(known), at);
        }
        self.define(bin, callpath, entry, at)
    }

    fn define(&self, bin: Bin<'_>, callpath: u32, entry: usize, at: u32) -> (u32, u32) {
        let index = low(bin.get(word::DEFINED));
        bin.set_defined(index + 1);
        self.words[entry].store(pack(callpath, index), Relaxed);
        self.words[entry + dictionary::SERIAL].store(bin.get(word::SERIAL), Relaxed);
        let at = bin.append(at, varint::encode(0).0, 1);
        let (bytes, count) = varint::encode(u64::from(callpath));
        (index, bin.append(at, bytes, count))
    }

    /// Counts an event that is not kept.
    #[cold]
    fn refuse(&self, event: Stored<'_>) -> bool {
        self.of_cell(event.cell, cell::REFUSED).fetch_add(1, Relaxed);
        self.note_loss(event.cell, event.begin, event.end);
        false
    }

    /// Widens the time in which a cell has lost events.
    pub(crate) fn note_loss(&self, of: Cell, begin: u64, end: u64) {
        let first = self.of_cell(of, cell::LOST_FIRST);
        if first.load(Relaxed).wrapping_sub(1) > begin {
            first.store(begin + 1, Relaxed);
        }
        let last = self.of_cell(of, cell::LOST_LAST);
        if last.load(Relaxed) < end {
            last.store(end, Relaxed);
        }
    }

    pub(crate) fn get(&self, word: usize) -> u64 {
        self.words[word].load(Relaxed)
    }

    pub(crate) fn of_cell(&self, of: Cell, word: usize) -> &'a AtomicU64 {
        &self.words[CELLS_AT + of.number() as usize * cell::WORDS + word]
    }

    pub(crate) fn bin(&self, bin: usize) -> Bin<'a> {
        let at = self.geometry.bin_at(bin);
        Bin::new(&self.words[at..at + self.geometry.bin_words])
    }

    pub(crate) fn open_number(&self, of: Cell) -> Option<usize> {
        let open = low(self.of_cell(of, cell::OPEN).load(Relaxed));
        open.checked_sub(1).map(|open| open as usize)
    }

    fn shortest_of(&self, of: Cell) -> u64 {
        if of.class() == EventClass::Computation {
            u64::from(high(self.get(header::POLICY)))
        } else {
            0
        }
    }
}

impl Stored<'_> {
    /// Returns the time that follows the end of the event before in the same cell.
    fn reference(&self) -> u64 {
        if self.cell.is_mixed() { self.end } else { self.begin }
    }
}

/// Returns the first word of the entry that tells the index of a callpath in the open bin of a
/// cell.
#[inline(always)]
pub(crate) fn dictionary_entry(callpath: u32, of: Cell) -> usize {
    // A callpath may be in bins of several cells at a time: a call and its messages are.
    let hash = callpath.wrapping_mul(0x9e37_79b9) >> 16 ^ of.number();
    hash as usize % dictionary::ENTRIES * dictionary::WORDS + DICTIONARY_AT
}

/// Adds to a word that only the owner changes.
pub(crate) fn add(word: &AtomicU64, number: u64) {
    word.store(word.load(Relaxed).wrapping_add(number), Relaxed);
}
