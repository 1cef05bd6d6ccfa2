//! Messages of callpaths: one record for each kind, partner and size class, beside the records of
//! callpaths.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use tinyprof_format::model::{CallpathId, MessageKey, Traffic};
use tinyprof_format::segment::layout::{header, message};


use super::super::node::{high, low, pack};
use super::super::segment::Line;
use super::Arena;
use super::reading::{Ids, READ_TRIES};

/// The size of a record: one line.
const CLASS: u32 = 0;

/// The most records of a thread. Messages of further ones go to a partner that stands for all.
const RECORDS_MAX: u32 = if cfg!(test) { 100 } else { 1 << 17 };

impl Arena {
    /// Adds a message of `bytes` bytes to the callpath at `callpath`. Owner only.
    ///
    /// # Cost
    /// A look-up in a cache, and an update of a record.
    #[inline]
    pub(crate) fn add_message(&self, callpath: Line, key: MessageKey, bytes: u64) {
        let mixed = mix(callpath, key);
        let cached = &self.hot.message_cache()[mixed as usize % self.hot.message_cache().len()];
        let known = Line::from_number(cached.load(Relaxed));
        let line = if !known.is_none() && self.is_of(known, callpath, key) {
            known
        } else {
            let Some(line) = self.find_or_insert_message(callpath, key) else {
                return self.lose_message();
            };
            cached.store(line.number(), Relaxed);
            line
        };
        let word = |word| self.segment.word(line, word);
        let sequence = word(message::SEQUENCE).load(Relaxed);
        if !sequence.is_multiple_of(2) {
            return self.lose_message();
        }
        word(message::SEQUENCE).store(sequence.wrapping_add(1), Relaxed);
        std::sync::atomic::fence(Release);
        let add = |at, value: u64| word(at).store(word(at).load(Relaxed).wrapping_add(value), Relaxed);
        add(message::COUNT, 1);
        add(message::BYTES, bytes);
        word(message::SEQUENCE).store(sequence.wrapping_add(2), Release);
    }

    fn is_of(&self, line: Line, callpath: Line, key: MessageKey) -> bool {
        let word = |word| self.segment.word(line, word).load(Relaxed);
        word(message::KEY) == key.to_bits() && low(word(message::CALLPATH)) == callpath.number()
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
        let line = self.segment.allocate(CLASS)?;
        let set = |word, value| self.segment.word(line, word).store(value, Relaxed);
        (0..message::WORDS).for_each(|word| set(word, 0));
        set(message::KEY, key.to_bits());
        set(message::CALLPATH, pack(callpath.number(), self.last_message.load(Relaxed)));
        if !self.message_lookup.insert(&self.segment, mix(callpath, key), line) {
            self.segment.release(line, CLASS);
            return None;
        }
        self.messages.fetch_add(1, Relaxed);
        self.last_message.store(line.number(), Release);
        if self.is_mapped() {
            self.header(header::LAST_MESSAGE).store(line.number().into(), Release);
        }
        Some(line)
    }

    /// Counts a message whose partner, or which itself, is not recorded. Rare.
    #[cold]
    fn lose_message(&self) {
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
            let word = |word| self.segment.word(line, word);
            let callpath = word(message::CALLPATH).load(Relaxed);
            next = Line::from_number(high(callpath));
            let key = MessageKey::from_bits(word(message::KEY).load(Relaxed));
            let callpath = ids.of(self, Line::from_number(low(callpath)));
            let traffic = (0..READ_TRIES).find_map(|_| self.try_read_traffic(line));
            Some(key.zip(traffic).map(|(key, traffic)| (callpath, key, traffic)))
        })
    }

    fn try_read_traffic(&self, line: Line) -> Option<Traffic> {
        let word = |word| self.segment.word(line, word);
        let before = word(message::SEQUENCE).load(Acquire);
        let count = word(message::COUNT).load(Relaxed);
        let bytes = word(message::BYTES).load(Relaxed);
        std::sync::atomic::fence(Acquire);
        let is_whole =
            before.is_multiple_of(2) && word(message::SEQUENCE).load(Relaxed) == before;
        is_whole.then_some(Traffic { count, bytes })
    }
}

fn mix(callpath: Line, key: MessageKey) -> u32 {
    let word = key.to_bits() ^ u64::from(callpath.number()).rotate_left(12);
    high(word.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
