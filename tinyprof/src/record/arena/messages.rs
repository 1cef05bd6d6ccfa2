//! Messages of callpaths: one record for each kind, partner and size class, beside the records of
//! callpaths.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use tinyprof_format::model::{CallpathId, MessageKey, Traffic};
use tinyprof_segment::layout::{header, message};
use tinyprof_segment::sequence::{begin_update, end_update, publish, retry, try_read};
use tinyprof_segment::words::{Line, high, low, pack};

use super::Arena;
use super::reading::Ids;

/// The size of a record: one line.
const CLASS: u32 = 0;

/// The most records of a thread. Messages of further ones go to a partner that stands for all.
pub(super) const RECORDS_MAX: u32 = if cfg!(test) { 100 } else { 1 << 17 };

/// A message that is remembered, with the record that it was added to; none if it is not counted.
#[derive(Clone, Copy, Debug)]
pub struct Like {
    record: Line,
    /// The size.
    pub bytes: u64,
}

impl Arena {
    /// Adds a message of `bytes` bytes to the callpath at `callpath`, and returns its record.
    /// Owner only.
    ///
    /// # Cost
    /// A look-up in a cache, and an update of a record.
    #[inline]
    pub(crate) fn add_message(&self, callpath: Line, key: MessageKey, bytes: u64) -> Line {
        let mixed = mix(callpath, key);
        let cached = &self.hot.message_cache()[mixed as usize % self.hot.message_cache().len()];
        let known = Line::from_number(cached.load(Relaxed));
        let line = if !known.is_none() && self.is_of(known, callpath, key) {
            known
        } else {
            let Some(line) = self.find_or_insert_message(callpath, key) else {
                self.lose_message();
                return Line::NONE;
            };
            cached.store(line.number(), Relaxed);
            line
        };
        self.add_to_message(line, bytes);
        line
    }

    #[inline(always)]
    fn add_to_message(&self, line: Line, bytes: u64) {
        let record = self.message(line);
        if !begin_update(&record[message::SEQUENCE]) {
            return self.lose_message();
        }
        let add = |word: usize, value: u64| {
            record[word].store(record[word].load(Relaxed).wrapping_add(value), Relaxed);
        };
        add(message::COUNT, 1);
        add(message::BYTES, bytes);
        end_update(&record[message::SEQUENCE]);
    }

    /// Adds a message like the last one of the callpath, if that had the same signature; else
    /// returns false, with nothing done. Owner only.
    #[inline(always)]
    pub(crate) fn add_message_again(&self, callpath: Line, signature: &[u64; 4]) -> bool {
        let like = self.message_like(callpath, signature);
        if let Some(like) = like {
            self.add_message_like(like);
        }
        like.is_some()
    }

    /// Returns what is remembered of the last message of the callpath, if that had the same
    /// signature. Owner only.
    #[inline(always)]
    pub(crate) fn message_like(&self, callpath: Line, signature: &[u64; 4]) -> Option<Like> {
        let last = self.hot.last_message(callpath.number(), signature);
        // Without branches: nearly always all are equal.
        let differences = last.signature.iter().zip(signature);
        let difference = differences.fold(0, |all, (known, word)| all | known.load(Relaxed) ^ word);
        let is_like = last.callpath.load(Relaxed) == callpath.number() && difference == 0;
        is_like.then(|| Like {
            record: Line::from_number(last.record.load(Relaxed)),
            bytes: last.bytes.load(Relaxed),
        })
    }

    /// Adds another message like one that is remembered. Owner only.
    #[inline(always)]
    pub(crate) fn add_message_like(&self, like: Like) {
        if !like.record.is_none() {
            self.add_to_message(like.record, like.bytes);
        }
    }

    /// Remembers the last message of a callpath: its record, or none if it is not counted. Owner
    /// only.
    pub(crate) fn remember_message(
        &self,
        callpath: Line,
        signature: &[u64; 4],
        record: Line,
        bytes: u64,
    ) {
        let last = self.hot.last_message(callpath.number(), signature);
        last.callpath.store(0, Relaxed);
        last.record.store(record.number(), Relaxed);
        last.bytes.store(bytes, Relaxed);
        last.signature.iter().zip(signature).for_each(|(known, word)| known.store(*word, Relaxed));
        last.callpath.store(callpath.number(), Relaxed);
    }

    /// Returns the record at `line`, which must be that of a message: it comes from the cache, the
    /// look-up or the chain of all records.
    #[inline]
    fn message(&self, line: Line) -> &[AtomicU64; message::WORDS] {
        // SAFETY: the line is that of a block which `insert_message` has allocated as a record, and
        // which is never released afterwards.
        unsafe { self.segment.record(line, 0) }
    }

    fn is_of(&self, line: Line, callpath: Line, key: MessageKey) -> bool {
        let record = self.message(line);
        record[message::KEY].load(Relaxed) == key.to_bits()
            && low(record[message::CALLPATH].load(Relaxed)) == callpath.number()
    }

    #[cold]
    #[inline(never)]
    fn find_or_insert_message(&self, callpath: Line, key: MessageKey) -> Option<Line> {
        self.reentrancy.change(|| {
            let find = |key| {
                let is = |line| self.is_of(line, callpath, key);
                self.message_lookup.find(&self.segment, mix(callpath, key), is)
            };
            let insert = |key| {
                let full = self.messages.load(Relaxed) >= RECORDS_MAX;
                if full { None } else { self.insert_message(callpath, key) }
            };
            find(key).or_else(|| insert(key)).or_else(|| {
                self.lose_message();
                let anyone = key.with_any_partner();
                find(anyone).or_else(|| self.insert_message(callpath, anyone))
            })
        })?
    }

    fn insert_message(&self, callpath: Line, key: MessageKey) -> Option<Line> {
        let (line, record) = self.segment.allocate_zeroed(CLASS)?;
        record[message::KEY].store(key.to_bits(), Relaxed);
        let chained = pack(callpath.number(), self.last_message.load(Relaxed));
        record[message::CALLPATH].store(chained, Relaxed);
        if !self.message_lookup.insert(&self.segment, mix(callpath, key), line) {
            // SAFETY: the line is that of the new block, and nothing refers to it yet.
            unsafe { self.segment.release(line, CLASS) };
            return None;
        }
        self.messages.fetch_add(1, Relaxed);
        self.last_message.store(line.number(), Release);
        if self.is_mapped() {
            publish(self.header(header::LAST_MESSAGE), line.number().into());
        }
        Some(line)
    }

    /// Counts a message whose partner, or which itself, is not recorded. Rare.
    #[cold]
    pub(crate) fn lose_message(&self) {
        let lost = self.messages_lost.load(Relaxed) + 1;
        self.messages_lost.store(lost, Relaxed);
        self.header(header::MESSAGES_LOST).store(lost, Relaxed);
    }

    /// Forgets all messages, whose memory is gone.
    pub(super) fn clear_messages(&self) {
        self.message_lookup.clear();
        self.messages.store(0, Relaxed);
        self.last_message.store(0, Relaxed);
        self.messages_lost.store(0, Relaxed);
    }

    /// Returns all records of messages, newest first, with `None` for one that changed in every
    /// attempt. Any thread.
    pub(crate) fn message_readings(
        &self,
    ) -> impl Iterator<Item = Option<(CallpathId, MessageKey, Traffic)>> {
        let mut next = Line::from_number(self.last_message.load(Acquire));
        let mut ids = Ids::default();
        std::iter::from_fn(move || {
            let line = (!next.is_none()).then_some(next)?;
            let record = self.message(line);
            let callpath = record[message::CALLPATH].load(Relaxed);
            next = Line::from_number(high(callpath));
            let key = MessageKey::from_bits(record[message::KEY].load(Relaxed));
            let callpath = ids.of(self, Line::from_number(low(callpath)));
            let number = |word: usize| record[word].load(Relaxed);
            let traffic =
                || Traffic { count: number(message::COUNT), bytes: number(message::BYTES) };
            let traffic = retry(|| try_read(&record[message::SEQUENCE], traffic));
            Some(key.zip(traffic).map(|(key, traffic)| (callpath, key, traffic)))
        })
    }
}

fn mix(callpath: Line, key: MessageKey) -> u32 {
    let word = key.to_bits() ^ u64::from(callpath.number()).rotate_left(12);
    high(word.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
