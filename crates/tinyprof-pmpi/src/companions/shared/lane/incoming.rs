//! The receiver's side of a lane.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use tinyprof_messages::companion::Companion;

use super::open::Patience;
use super::{ABSENT, ANSWERED, Answer, LINE_WORDS, Lane, OPEN, STAMP, TAKEN, Which, fetch};

/// An entry that is probably taken next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected(&'static [AtomicU64; LINE_WORDS]);

impl Expected {
    /// Fetches it: its message has come.
    #[inline(always)]
    pub(crate) fn fetch(self) {
        fetch::<false>(self.0);
    }
}

/// The receiver's side of a lane.
#[derive(Debug)]
pub(in crate::companions) struct Incoming {
    pub(super) lane: Lane,
    /// The first entry that has not been taken.
    pub(super) begin: u64,
    /// The entry that is looked at first: the one after that taken last.
    next: u64,
    /// The entries from `begin` on that have been taken, a bit for each of the lane.
    taken: Box<[u64]>,
    /// How many bits are set.
    marked: u64,
    /// How many were taken while the first was not.
    passed: u64,
    patience: Patience,
}

impl Incoming {
    pub(in crate::companions::shared) fn new(lane: Lane) -> Self {
        let taken = vec![0; (lane.words.len() / LINE_WORDS - 1).div_ceil(64)];
        Self {
            lane,
            begin: 0,
            next: 0,
            taken: taken.into_boxed_slice(),
            marked: 0,
            passed: 0,
            patience: Patience::default(),
        }
    }

    /// Returns the entry that is probably taken next.
    #[inline]
    pub(in crate::companions) fn expected(&self) -> Expected {
        Expected(self.lane.entry(self.next))
    }

    /// Takes the companion of a message. `answer` returns what is to be said to its sender.
    ///
    /// # Cost
    /// That of reading one entry if the program receives in the order of sending, otherwise a look
    /// at all that have come.
    #[inline]
    pub(in crate::companions) fn take(
        &mut self,
        which: &Which,
        answer: impl FnOnce(&Companion) -> Option<Answer>,
    ) -> Option<Companion> {
        let next = self.next;
        let position = if self.is(next, which) { next } else { self.find_elsewhere(which)? };
        Some(self.take_at(position, answer))
    }

    /// Returns the companion of a message that has come, which stays.
    pub(in crate::companions) fn peek(&self, which: &Which) -> Option<Companion> {
        let is = |position: &u64| self.is(*position, which);
        let position = Some(self.next).filter(is).or_else(|| self.come().find(is))?;
        Some(self.read(position))
    }

    /// Returns the first companion that has come and not been taken of those that `accepts` says,
    /// with its tag.
    pub(in crate::companions) fn first(
        &self,
        accepts: impl Fn(&Companion, i32) -> bool,
    ) -> Option<(Companion, i32)> {
        let waiting = self.waiting();
        let mut waiting = waiting.map(|position| (self.read(position), self.tag_at(position)));
        waiting.find(|(companion, tag)| accepts(companion, *tag))
    }

    /// Returns how many companions have come and not been taken.
    pub(in crate::companions::shared) fn left(&self) -> u64 {
        self.waiting().count() as u64
    }

    /// Returns the positions of companions that have come and not been taken.
    fn waiting(&self) -> impl Iterator<Item = u64> {
        let is_there = |position: &u64| !self.is_taken(*position) && !self.is_taken_back(*position);
        self.come().filter(is_there)
    }

    #[inline(never)]
    fn find_elsewhere(&mut self, which: &Which) -> Option<u64> {
        self.skip_taken_back();
        let mut come = 0;
        for position in self.come() {
            if self.is(position, which) {
                return Some(position);
            }
            come += 1;
        }
        if come == self.lane.entries {
            // The sender has had no room for it: what waits for long gives way.
            self.drop_before(self.begin + self.lane.entries / 2);
        }
        None
    }

    /// Drops the companions of a communicator that is freed.
    pub(in crate::companions::shared) fn forget(&mut self, epoch: u32) {
        let of_it = |at: &u64| self.epoch_at(*at) == epoch && !self.is_taken(*at);
        let positions: Vec<u64> = self.come().filter(of_it).collect();
        for position in positions {
            self.mark(position);
        }
        self.drop_before(self.begin);
    }

    /// Returns the positions of entries that have come, from the first that was not taken on.
    pub(super) fn come(&self) -> impl Iterator<Item = u64> + use<> {
        let (lane, begin) = (self.lane, self.begin);
        let all = begin..begin + lane.entries;
        all.take_while(move |position| {
            let stamp = lane.entry(*position)[STAMP].load(Acquire) & !(ANSWERED | OPEN);
            stamp >> 32 == lane.stamp(*position, 0) >> 32
        })
    }

    /// Returns whether the entry at a position has come, and is that of a message.
    #[inline(always)]
    fn is(&self, position: u64, which: &Which) -> bool {
        let entry = self.lane.entry(position);
        entry[STAMP].load(Acquire) & !OPEN == self.lane.stamp(position, which.tag)
            && entry[Companion::SEQUENCE].load(Relaxed) == which.sequence
            && self.epoch_at(position) == which.epoch
            && !self.is_taken(position)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low half of a word")]
    fn epoch_at(&self, position: u64) -> u32 {
        self.lane.entry(position)[Companion::TWIN].load(Relaxed) as u32
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low half of a word")]
    fn tag_at(&self, position: u64) -> i32 {
        (self.lane.entry(position)[STAMP].load(Relaxed) as u32).cast_signed()
    }

    /// Returns the entry at a position, which has come. Where its sender does not write its clock,
    /// it is that of an unknown sender.
    #[inline]
    fn read(&self, position: u64) -> Companion {
        let entry = self.lane.entry(position);
        let is_closed = entry[STAMP].load(Acquire) & OPEN == 0 || self.patience.wait(entry);
        let read = Companion::from_words(std::array::from_fn(|at| entry[at].load(Relaxed)));
        let unknown = if is_closed { 0 } else { Companion::SHARED };
        Companion { flags: read.flags | unknown, ..read }
    }

    #[inline]
    fn is_taken(&self, position: u64) -> bool {
        self.marked > 0 && self.is_marked(position)
    }

    fn is_marked(&self, position: u64) -> bool {
        let (word, bit) = self.bit(position);
        self.taken[word] & bit != 0
    }

    #[inline]
    fn bit(&self, position: u64) -> (usize, u64) {
        let number = position & (self.lane.entries - 1);
        ((number / 64) as usize, 1 << (number % 64))
    }

    /// Takes the entry at a position, which has come.
    #[inline]
    fn take_at(
        &mut self,
        position: u64,
        answer: impl FnOnce(&Companion) -> Option<Answer>,
    ) -> Companion {
        let companion = self.read(position);
        if let Some(answer) = answer(&companion) {
            self.answer(position, &answer);
        }
        if position == self.begin {
            self.drop_before(self.begin + 1);
        } else {
            self.mark(position);
            self.passed += 1;
            let half = self.lane.entries / 2;
            if self.passed == half {
                // Messages that are never received would fill the lane.
                self.drop_before((position + 1).saturating_sub(half));
            }
        }
        self.next = self.begin.max(position + 1);
        companion
    }

    #[inline]
    fn mark(&mut self, position: u64) {
        let (word, bit) = self.bit(position);
        self.marked += u64::from(self.taken[word] & bit == 0);
        self.taken[word] |= bit;
    }

    /// Gives the entries before a position back to the sender, and those behind it that have been
    /// taken.
    #[inline]
    pub(super) fn drop_before(&mut self, position: u64) {
        while self.begin < position || self.is_taken(self.begin) {
            if self.is_taken(self.begin) {
                self.clear(self.begin);
            }
            self.begin += 1;
        }
        self.next = self.next.max(self.begin);
        self.passed = 0;
        self.lane.words[TAKEN].store(self.begin, Release);
    }

    /// Clears the bit of an entry, which is set.
    fn clear(&mut self, position: u64) {
        let (word, bit) = self.bit(position);
        self.taken[word] &= !bit;
        self.marked -= 1;
    }

    /// Answers the sender of a message, in the place of its companion.
    #[inline]
    fn answer(&self, position: u64, answer: &Answer) {
        let entry = self.lane.entry(position);
        let Answer { posted_ns, intrusion_ns, ideal_ns, callpath, .. } = *answer;
        let unsure = u64::from(answer.uncertainty.to_bits())
            | u64::from(answer.nearest.to_bits()) << u16::BITS
            | if answer.is_absent { ABSENT } else { 0 };
        let words = [posted_ns, intrusion_ns, ideal_ns, callpath, unsure];
        for (place, word) in entry.iter().zip(words) {
            place.store(word, Relaxed);
        }
        entry[STAMP].store(entry[STAMP].load(Relaxed) | ANSWERED, Release);
    }
}
