//! A lane: the companions from one rank to another, and the answers to them.
//!
//! Only the sender writes entries, and only the receiver marks them as taken. It takes them in the
//! order in which the program receives, which may differ from the order of sending. It may leave an
//! answer in the place of an entry that it takes; the answer stays until the sender writes that
//! entry again.
//!
//! ```text
//!  | taken | entry 0: companion or answer, stamp | entry 1 | ... |      64 bytes each
//! ```

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use tinyprof_messages::companion::Companion;
use tinyprof_messages::latency::Latency;
use tinyprof_messages::uncertainty::Uncertainty;

mod taken_back;

/// The words of a line of the cache.
const LINE_WORDS: usize = 8;
/// The place of the stamp in an entry: the tag, and in the high half how often the entry has been
/// written.
const STAMP: usize = Companion::WORDS;
/// The bit of a stamp that says that the entry has been taken and holds an answer.
const ANSWERED: u64 = 1 << 63;
/// The bit beside the uncertainty in an answer: [`Answer::is_absent`].
const ABSENT: u64 = 1 << u32::BITS;
/// In the first line, what the receiver writes: the number of entries that are free again.
const TAKEN: usize = 0;

/// Which message of all of a pair of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::companions) struct Which {
    /// The number of the communicator that all its ranks know.
    pub(in crate::companions) epoch: u32,
    pub(in crate::companions) tag: i32,
    /// The number of the message in its stream.
    pub(in crate::companions) sequence: u64,
}

/// What a receiver says to the sender of a message that may have been blocked until it was
/// received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::companions) struct Answer {
    /// When the receiver was there: when the receive was posted.
    pub(in crate::companions) posted_ns: u64,
    /// By how much the receiver was delayed then.
    pub(in crate::companions) intrusion_ns: u64,
    /// The receiver's ideal time then.
    pub(in crate::companions) ideal_ns: u64,
    /// The id of the callpath of the call that has posted it, or got the message if it
    /// [was absent](Self::is_absent).
    pub(in crate::companions) callpath: u64,
    /// By how much the receiver's delay may be wrong.
    pub(in crate::companions) uncertainty: Uncertainty,
    /// The shortest time of a message that it knows of.
    pub(in crate::companions) nearest: Latency,
    /// True if the receive was there before the message was sent, but the receiver not in MPI: the
    /// times are those at which it was there again.
    pub(in crate::companions) is_absent: bool,
}

/// What a sender hears of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::companions) enum Heard {
    /// It has not been received.
    NotYet,
    /// The receiver was there when it was sent, or has given it up.
    Nothing,
    Answer(Answer),
}

/// The memory of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    words: &'static [AtomicU64],
    /// The entries, a power of two.
    entries: u64,
    /// The logarithm of their number.
    lap_bits: u32,
}

impl Lane {
    pub(super) const ENTRY_BYTES: usize = 8 * LINE_WORDS;

    /// Returns the words of a lane of this many entries, a power of two.
    pub(super) const fn words(entries: usize) -> usize {
        (entries + 1) * LINE_WORDS
    }

    /// Returns the lane in memory of this many words, which are 0 at first.
    pub(super) fn new(words: &'static [AtomicU64]) -> Self {
        let entries = (words.len() / LINE_WORDS - 1) as u64;
        Self { words, entries, lap_bits: entries.ilog2() }
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> &'static [AtomicU64] {
        self.words
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of entries")]
    fn entry(&self, position: u64) -> &'static [AtomicU64; LINE_WORDS] {
        let number = (position & (self.entries - 1)) as usize;
        let words = &self.words[(number + 1) * LINE_WORDS..][..LINE_WORDS];
        words.try_into().expect("an entry has this many words")
    }

    /// Returns the stamp of the entry at a position, which is not that of an earlier one.
    #[inline]
    fn stamp(&self, position: u64, tag: i32) -> u64 {
        let lap = (position >> self.lap_bits) + 1;
        lap << 32 | u64::from(tag.cast_unsigned())
    }
}

/// Fetches an entry, to write to it soon if `WRITES`, so that nobody has to wait for another
/// processor. A store that waits holds up the program's message behind it.
#[inline]
fn fetch<const WRITES: bool>(entry: &[AtomicU64; LINE_WORDS]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _MM_HINT_T0, _mm_prefetch};
        let place = entry.as_ptr().cast();
        if WRITES {
            // SAFETY: it changes no memory.
            unsafe { _mm_prefetch::<_MM_HINT_ET0>(place) };
        } else {
            // SAFETY: it changes no memory.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(place) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = entry;
}

/// The sender's side of a lane.
#[derive(Debug)]
pub(in crate::companions) struct Outgoing {
    lane: Lane,
    position: u64,
    /// The entries that are known to be free again.
    taken: u64,
}

impl Outgoing {
    pub(super) fn new(lane: Lane) -> Self {
        Self { lane, position: 0, taken: 0 }
    }

    /// Puts a companion into the lane, for the receiver of a message with this tag. Returns its
    /// place; `None` if the lane is full: the receiver has taken none for long.
    #[inline]
    pub(in crate::companions) fn put(&mut self, companion: &Companion, tag: i32) -> Option<u64> {
        let Self { lane, position, .. } = *self;
        if position - self.taken == lane.entries {
            // The receiver has read what it has taken.
            self.taken = lane.words[TAKEN].load(Acquire);
            if position - self.taken == lane.entries {
                return None;
            }
        }
        let entry = lane.entry(position);
        for (place, word) in entry.iter().zip(companion.to_words()) {
            place.store(word, Relaxed);
        }
        entry[STAMP].store(lane.stamp(position, tag), Release);
        self.position = position + 1;
        fetch::<true>(lane.entry(self.position));
        Some(position)
    }

    /// Returns whether the receiver has taken all.
    pub(in crate::companions) fn is_empty(&self) -> bool {
        self.lane.words[TAKEN].load(Acquire) == self.position
    }

    /// Returns what the receiver says of the message whose companion was put at a place.
    #[inline]
    pub(in crate::companions) fn heard(&self, position: u64) -> Heard {
        let lane = self.lane;
        if self.position - position > lane.entries {
            return Heard::Nothing;
        }
        let entry = lane.entry(position);
        let is_answered = || entry[STAMP].load(Acquire) & ANSWERED != 0;
        if !is_answered() {
            if lane.words[TAKEN].load(Acquire) <= position {
                return Heard::NotYet;
            }
            // It is answered before it is given back.
            if !is_answered() {
                return Heard::Nothing;
            }
        }
        let [posted_ns, intrusion_ns, ideal_ns, callpath, unsure] =
            std::array::from_fn(|at| entry[at].load(Relaxed));
        #[expect(clippy::cast_possible_truncation, reason = "16 bits, and 16 more")]
        let [uncertainty, nearest] = [unsure as u16, (unsure >> u16::BITS) as u16];
        Heard::Answer(Answer {
            posted_ns,
            intrusion_ns,
            ideal_ns,
            callpath,
            uncertainty: Uncertainty::from_bits(uncertainty),
            nearest: Latency::from_bits(nearest),
            is_absent: unsure & ABSENT != 0,
        })
    }
}

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
    lane: Lane,
    /// The first entry that has not been taken.
    begin: u64,
    /// The entry that is looked at first: the one after that taken last.
    next: u64,
    /// The entries from `begin` on that have been taken, a bit for each of the lane.
    taken: Box<[u64]>,
    /// How many bits are set.
    marked: u64,
    /// How many were taken while the first was not.
    passed: u64,
}

impl Incoming {
    pub(super) fn new(lane: Lane) -> Self {
        let taken = vec![0; (lane.words.len() / LINE_WORDS - 1).div_ceil(64)];
        Self { lane, begin: 0, next: 0, taken: taken.into_boxed_slice(), marked: 0, passed: 0 }
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
    pub(super) fn left(&self) -> u64 {
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
    pub(super) fn forget(&mut self, epoch: u32) {
        let of_it = |at: &u64| self.epoch_at(*at) == epoch && !self.is_taken(*at);
        let positions: Vec<u64> = self.come().filter(of_it).collect();
        for position in positions {
            self.mark(position);
        }
        self.drop_before(self.begin);
    }

    /// Returns the positions of entries that have come, from the first that was not taken on.
    fn come(&self) -> impl Iterator<Item = u64> + use<> {
        let (lane, begin) = (self.lane, self.begin);
        let all = begin..begin + lane.entries;
        all.take_while(move |position| {
            let stamp = lane.entry(*position)[STAMP].load(Acquire) & !ANSWERED;
            stamp >> 32 == lane.stamp(*position, 0) >> 32
        })
    }

    /// Returns whether the entry at a position has come, and is that of a message.
    #[inline(always)]
    fn is(&self, position: u64, which: &Which) -> bool {
        let entry = self.lane.entry(position);
        entry[STAMP].load(Acquire) == self.lane.stamp(position, which.tag)
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

    /// Returns the entry at a position, which has come.
    #[inline]
    fn read(&self, position: u64) -> Companion {
        let entry = self.lane.entry(position);
        Companion::from_words(std::array::from_fn(|at| entry[at].load(Relaxed)))
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
    fn drop_before(&mut self, position: u64) {
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

#[cfg(test)]
mod tests;
