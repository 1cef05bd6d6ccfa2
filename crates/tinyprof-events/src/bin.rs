//! Bins: the unit of memory that is filled with events, read by others, and given up as a whole.
//!
//! ```text
//! word 0  sequence   odd while the bin is begun anew
//!      1  cell, plus 1; 0: never used; high half: number of the bin in its cell, from 0 on
//!      2  events; high half: bytes that they take
//!      3  begin of the first event   4  end of the last event
//!      5  serial number among all bins of the buffer
//!      6  callpaths that have an index     7  number of the last message
//!      8 ..  bytes of the events, the first at the low end of each word
//!
//! visit      index + 1 | gap | duration
//! message    index + 1 | gap | bytes, partner, communicator, tag, number
//! callpath   0 | callpath        gets the next index of the bin, from 0 on
//! ```
//!
//! `gap` is the time from the end of the visit before to the begin of this one, and in a cell with
//! several depths to its end. The module `message` has the numbers of a message. The owner appends
//! bytes that readers do not know of, and then publishes them with one store. So a bin is whole at
//! every instruction at which a process may be killed, but while it is begun anew.

use std::sync::atomic::Ordering::{Acquire, Relaxed};

use tinyprof_segment::primitive::AtomicU64;
use tinyprof_segment::sequence::{begin_update, end_update, publish, try_read};
use tinyprof_segment::words::{high, low, pack};

use crate::cell::Cell;

/// Words of a bin.
pub mod word {
    #![expect(missing_docs, reason = "the picture above says what each word is")]
    pub const SEQUENCE: usize = 0;
    pub const CELL: usize = 1;
    pub const FILLED: usize = 2;
    pub const FIRST: usize = 3;
    pub const LAST: usize = 4;
    pub const SERIAL: usize = 5;
    pub const DEFINED: usize = 6;
    pub const NUMBER: usize = 7;
    pub const BYTES: usize = 8;
}

/// A bin in the words of its buffer.
#[derive(Clone, Copy, Debug)]
pub struct Bin<'a>(&'a [AtomicU64]);

/// The contents of a bin at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// The cell of the events.
    pub cell: Cell,
    /// The number of the bin in its cell.
    pub number: u32,
    /// The number of events.
    pub events: u32,
    /// The begin of the first event.
    pub first: u64,
    /// The bytes of the events, and behind them at least eight zeros.
    pub bytes: Vec<u8>,
    /// Set if there are bytes of more events.
    pub is_cut: bool,
}

impl<'a> Bin<'a> {
    /// Returns the bin in these words.
    #[must_use]
    pub const fn new(words: &'a [AtomicU64]) -> Self {
        Self(words)
    }

    pub(crate) fn get(self, word: usize) -> u64 {
        self.0[word].load(Relaxed)
    }

    fn set(self, word: usize, value: u64) {
        self.0[word].store(value, Relaxed);
    }

    /// Returns the cell that it belongs to; `None` if it was never used.
    #[must_use]
    pub fn cell(self) -> Option<Cell> {
        low(self.get(word::CELL)).checked_sub(1).and_then(Cell::from_number)
    }

    /// Returns its number in its cell.
    #[must_use]
    pub fn number(self) -> u32 {
        high(self.get(word::CELL))
    }

    /// Returns the number of events in it, and of the bytes that they take.
    #[must_use]
    pub fn filled(self) -> (u32, u32) {
        let filled = self.get(word::FILLED);
        (low(filled), high(filled))
    }

    /// Returns the number of bytes that it has room for.
    #[must_use]
    pub fn capacity(self) -> u32 {
        u32::try_from((self.0.len() - word::BYTES) * 8).unwrap_or(0)
    }

    /// Empties the bin and begins it for a cell, with events from `first` on. Owner only.
    ///
    /// Returns false, with nothing done, in a signal handler that has interrupted this.
    #[must_use]
    pub fn begin(self, cell: Cell, number: u32, serial: u64, first: u64) -> bool {
        if !begin_update(&self.0[word::SEQUENCE]) {
            return false;
        }
        self.set(word::FILLED, 0);
        self.set(word::CELL, pack(cell.number() + 1, number));
        self.set(word::FIRST, first);
        self.set(word::LAST, first);
        self.set(word::SERIAL, serial);
        self.set(word::DEFINED, 0);
        self.set(word::NUMBER, 0);
        self.set(word::BYTES, 0);
        end_update(&self.0[word::SEQUENCE]);
        true
    }

    /// Appends the low `count` bytes of `bytes`, 1 to 8, behind the first `at` ones, which must
    /// leave room for them. Readers do not see them yet. Owner only.
    #[must_use]
    pub fn append(self, at: u32, bytes: u64, count: u32) -> u32 {
        debug_assert!(at + count <= self.capacity());
        let (place, shift) = (word::BYTES + at as usize / 8, at % 8 * 8);
        self.set(place, self.get(place) | bytes << shift);
        // The bits behind the last byte are zeros, also in a word that has just begun.
        if shift + 8 * count >= 64
            && let Some(next) = self.0.get(place + 1)
        {
            next.store(bytes >> 1 >> (63 - shift), Relaxed);
        }
        at + count
    }

    /// Shows readers this number of events in the first `bytes` bytes, the last of which has ended
    /// at `last`. Owner only.
    pub fn publish(self, events: u32, bytes: u32, last: u64) {
        self.set(word::LAST, last);
        publish(&self.0[word::FILLED], pack(events, bytes));
    }

    /// Sets how many callpaths have an index. Owner only.
    pub(crate) fn set_defined(self, callpaths: u32) {
        self.set(word::DEFINED, callpaths.into());
    }

    /// Sets the number of the last message. Owner only.
    pub(crate) fn set_number(self, number: u64) {
        self.set(word::NUMBER, number);
    }

    /// Returns the contents; `None` if it was never used, makes no sense, or was begun anew
    /// meanwhile. Any thread or process.
    #[must_use]
    pub fn read(self) -> Option<Contents> {
        try_read(&self.0[word::SEQUENCE], || {
            let filled = self.0[word::FILLED].load(Acquire);
            let (events, length) = (low(filled), high(filled));
            let cell = self.cell()?;
            if length > self.capacity() || events > length {
                return None;
            }
            let words = &self.0[word::BYTES..];
            let words = &words[..(length as usize).div_ceil(8)];
            let mut bytes: Vec<u8> =
                words.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()).collect();
            bytes.truncate(length as usize);
            bytes.extend([0; 8]);
            let (number, first) = (self.number(), self.get(word::FIRST));
            Some(Contents { cell, number, events, first, bytes, is_cut: false })
        })?
    }
}
