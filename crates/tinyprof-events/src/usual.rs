//! The shortest way of an event into the buffer: into the open bin of its cell, which has room,
//! with a callpath that has an index there, and small numbers.
//!
//! It is written for few instructions: a program has a million such visits a second. Everything
//! else is left, with nothing done, to the module `buffer`.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::primitive::AtomicU64;
use tinyprof_segment::sequence::{begin_update, end_update, publish};
use tinyprof_segment::words::{high, low};
use tinyprof_vocabulary::{EventClass, MessageEnd};

use crate::bin::word;
use crate::buffer::{Buffer, EVENT_BYTES_MAX, Visit, dictionary_entry};
use crate::cell::Cell;
use crate::layout::{BINS_AT, CELLS_AT, cell, dictionary, header};
use crate::{message, varint};

/// The words before the bins.
type Front = [AtomicU64; BINS_AT];

/// The end of an open bin.
struct Place<'a> {
    /// The words of the bin that tell what it contains.
    own: &'a [AtomicU64; word::BYTES],
    /// The words with the bytes of its events, and those of the bins behind it.
    words: &'a [AtomicU64],
    /// The bin's word that counts its events and their bytes.
    filled: u64,
    /// The bytes that are taken.
    at: usize,
    /// The encoded index of the callpath, which takes a byte.
    index: u64,
}

impl Buffer<'_> {
    /// Records a usual visit. Returns false, with nothing done, for another one, which
    /// [`record`](Self::record) takes.
    #[inline(always)]
    #[must_use]
    pub fn record_usual(&self, visit: Visit) -> bool {
        let Some(front) = self.begin_record() else { return false };
        let is_kept = self.append_visit(front, visit).is_some();
        end_update(&front[header::BUSY]);
        is_kept
    }

    /// Records a usual end of a message. Returns false, with nothing done, for another one.
    #[inline(always)]
    pub(crate) fn record_usual_message(&self, callpath: u32, at: u64, end: &MessageEnd) -> bool {
        let Some(front) = self.begin_record() else { return false };
        let is_kept = self.append_message(front, callpath, at, end).is_some();
        end_update(&front[header::BUSY]);
        is_kept
    }

    #[inline(always)]
    fn begin_record(&self) -> Option<&Front> {
        self.words.first_chunk().filter(|front: &&Front| begin_update(&front[header::BUSY]))
    }

    #[inline(always)]
    fn append_visit(&self, front: &Front, visit: Visit) -> Option<()> {
        let of = Cell::new(visit.class, visit.depth);
        let (begin, end) = (units(front, visit.begin), units(front, visit.end));
        let duration = end.wrapping_sub(begin);
        let is_computation = visit.class == EventClass::Computation;
        if is_computation && duration < high(front[header::POLICY].load(Relaxed)).into() {
            return None;
        }
        let place = self.place(front, visit.callpath, of)?;
        let reference = if of.is_mixed() { end } else { begin };
        // Negative ones have the highest bit.
        let gap = reference.wrapping_sub(place.own[word::LAST].load(Relaxed));
        if (gap | duration) > varint::MAX {
            return None;
        }
        let (gap, duration) = (varint::encode_small(gap), varint::encode_small(duration));
        let count = 1 + gap.1 + duration.1;
        if count > 8 {
            return None;
        }
        let bytes = place.index | gap.0 << 8 | duration.0 << (8 + 8 * gap.1);
        put(place.words, place.at, bytes)?;
        place.publish(count, end);
        Some(())
    }

    #[inline(always)]
    fn append_message(
        &self,
        front: &Front,
        callpath: u32,
        at: u64,
        end: &MessageEnd,
    ) -> Option<()> {
        let at = units(front, at);
        let place = self.place(front, callpath, Cell::MESSAGES)?;
        let gap = at.wrapping_sub(place.own[word::LAST].load(Relaxed));
        let numbers = message::numbers(end, place.own[word::NUMBER].load(Relaxed));
        let [size, .., number] = numbers;
        if (gap | size | number) > varint::MAX {
            return None;
        }
        let gap = varint::encode_small(gap);
        let [size, partner, communicator, tag, number] = numbers.map(varint::encode_small);
        let heads = [gap.1, gap.1 + size.1].map(|count| 1 + count);
        let tails = [partner.1, partner.1 + communicator.1, partner.1 + communicator.1 + tag.1];
        let (head_count, tail_count) = (heads[1], tails[2] + number.1);
        if head_count > 8 || tail_count > 8 {
            return None;
        }
        let head = place.index | gap.0 << 8 | size.0 << (8 * heads[0]);
        let tail = partner.0
            | communicator.0 << (8 * tails[0])
            | tag.0 << (8 * tails[1])
            | number.0 << (8 * tails[2]);
        put(place.words, place.at, head)?;
        put(place.words, place.at + head_count as usize, tail)?;
        place.own[word::NUMBER].store(end.number, Relaxed);
        place.publish(head_count + tail_count, at);
        Some(())
    }

    #[inline(always)]
    fn place(&self, front: &Front, callpath: u32, of: Cell) -> Option<Place<'_>> {
        let get = |word: usize| front[word].load(Relaxed);
        let of_cell = CELLS_AT + of.number() as usize * cell::WORDS;
        let open = low(front.get(of_cell + cell::OPEN)?.load(Relaxed)).wrapping_sub(1) as usize;
        let bin = self.words.get(self.geometry.bin_at(open)..)?;
        let (own, words) = bin.split_first_chunk::<{ word::BYTES }>()?;
        let filled = own[word::FILLED].load(Relaxed);
        let at = high(filled) as usize;
        if at + EVENT_BYTES_MAX as usize > self.geometry.bin_bytes() || get(header::STOPPED) != 0 {
            return None;
        }
        let entry = dictionary_entry(callpath, of);
        let known = get(entry + dictionary::ENTRY);
        let is_known = get(entry + dictionary::SERIAL) == own[word::SERIAL].load(Relaxed);
        let index = high(known);
        if low(known) != callpath || !is_known || index > 126 {
            return None;
        }
        Some(Place { own, words, filled, at, index: u64::from(index) * 2 + 3 })
    }
}

impl Place<'_> {
    /// Shows readers one event more, of this number of bytes, which ended at `last`.
    #[inline(always)]
    fn publish(&self, count: u32, last: u64) {
        self.own[word::LAST].store(last, Relaxed);
        publish(&self.own[word::FILLED], self.filled + (1 | u64::from(count) << 32));
    }
}

/// Returns a time in units. One before the origin becomes so large that its gap is not usual.
#[inline(always)]
fn units(front: &Front, ticks: u64) -> u64 {
    let [origin, shift] = [header::ORIGIN, header::SHIFT].map(|word| front[word].load(Relaxed));
    ticks.wrapping_sub(origin) >> (shift & 63)
}

/// Puts up to eight bytes behind the first `at` ones of these words, with zeros behind them.
#[inline(always)]
fn put(words: &[AtomicU64], at: usize, bytes: u64) -> Option<()> {
    let [first, second] = words.get(at / 8..)?.first_chunk::<2>()?;
    let bits = at % 8 * 8;
    first.store(first.load(Relaxed) | bytes << bits, Relaxed);
    second.store(bytes >> 1 >> (63 - bits), Relaxed);
    Some(())
}
