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

mod incoming;
mod open;
mod taken_back;

pub(crate) use incoming::Expected;
pub(in crate::companions) use incoming::Incoming;
pub(in crate::companions) use open::OpenEntry;

/// The words of a line of the cache.
const LINE_WORDS: usize = 8;
/// The place of the stamp in an entry: the tag, and in the high half how often the entry has been
/// written.
const STAMP: usize = Companion::WORDS;
/// The bit of a stamp that says that the entry has been taken and holds an answer.
const ANSWERED: u64 = 1 << 63;
/// The bit of a stamp that says that the sender is yet to write its clock.
const OPEN: u64 = 1 << 62;
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
        self.has_room().then(|| self.write(companion, tag, 0))
    }

    /// Returns whether there is room for one more companion.
    #[inline]
    pub(in crate::companions) fn has_room(&mut self) -> bool {
        let Self { lane, position, .. } = *self;
        if position - self.taken == lane.entries {
            // The receiver has read what it has taken.
            self.taken = lane.words[TAKEN].load(Acquire);
        }
        position - self.taken < lane.entries
    }

    /// Writes the next entry, for which there is room, with a bit beside its stamp. Returns its
    /// place.
    #[inline]
    fn write(&mut self, companion: &Companion, tag: i32, bit: u64) -> u64 {
        let Self { lane, position, .. } = *self;
        let entry = lane.entry(position);
        for (place, word) in entry.iter().zip(companion.to_words()) {
            place.store(word, Relaxed);
        }
        entry[STAMP].store(lane.stamp(position, tag) | bit, Release);
        self.position = position + 1;
        fetch::<true>(lane.entry(self.position));
        position
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

#[cfg(test)]
mod tests;
