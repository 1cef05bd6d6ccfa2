//! Companions that have come, until a receive asks for them.

use super::{Stream, Streams};
use crate::companion::Companion;

/// Companions that have come before a receive has asked for them: at most `HELD`, of which the
/// oldest gives way. `STREAMS` is the number of streams, a power of two.
///
/// The companions of a stream come in the order in which they were sent, but some may be missing:
/// the sender drops a companion rather than wait.
///
/// ```
/// use tinyprof_messages::companion::Companion;
/// use tinyprof_messages::matching::{Arrivals, Claim, Stream};
///
/// let stream = Stream { communicator: 0, peer: 3, tag: 7 };
/// let companion = Companion { sequence: 1, bytes: 8, ..Companion::default() };
/// let mut arrivals = Arrivals::<64, 16>::new();
/// assert_eq!(arrivals.claim(stream, 0), Claim::NotYet);
/// arrivals.arrived(stream, companion);
/// assert_eq!(arrivals.claim(stream, 0), Claim::Dropped, "a later one is here");
/// assert_eq!(arrivals.claim(stream, 1), Claim::Found(companion));
/// ```
///
/// # Cost
///
/// A pass over the companions that are held, usually none.
#[derive(Clone, Debug)]
pub struct Arrivals<const STREAMS: usize, const HELD: usize> {
    held: [(Stream, Companion); HELD],
    used: usize,
    /// For each stream one more than the highest sequence number that has come.
    expected: Streams<STREAMS>,
    displaced: u64,
}

/// The answer to a receive that asks for its companion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The companion, which is handed over.
    Found(Companion),
    /// It may still come.
    NotYet,
    /// It will never come: a later one has.
    Dropped,
}

impl<const STREAMS: usize, const HELD: usize> Arrivals<STREAMS, HELD> {
    /// Returns an empty store.
    #[must_use]
    pub fn new() -> Self {
        const { assert!(HELD > 0, "room for one companion") };
        let stream = Stream { communicator: 0, peer: 0, tag: 0 };
        let nobody = Companion {
            callpath: 0,
            twin: 0,
            flags: 0,
            sequence: 0,
            entry_ns: 0,
            intrusion_ns: 0,
            ideal_ns: 0,
            bytes: 0,
        };
        Self { held: [(stream, nobody); HELD], used: 0, expected: Streams::new(), displaced: 0 }
    }

    /// Takes a companion that has come. The oldest one is dropped if there is no room.
    pub fn arrived(&mut self, stream: Stream, companion: Companion) {
        if let Some(expected) = self.expected.number_mut(stream) {
            *expected = (*expected).max(companion.sequence.saturating_add(1));
        }
        if self.used == HELD {
            self.take(0);
            self.displaced += 1;
        }
        self.held[self.used] = (stream, companion);
        self.used += 1;
    }

    /// Hands over the companion of a message by its number in the stream.
    #[inline]
    pub fn claim(&mut self, stream: Stream, number: u64) -> Claim {
        let mut held = self.held[..self.used].iter();
        let found = held.position(|(of, companion)| companion.sequence == number && *of == stream);
        match found {
            Some(at) => Claim::Found(self.take(at)),
            None if self.expected.number(stream).is_some_and(|next| number < next) => {
                Claim::Dropped
            }
            None => Claim::NotYet,
        }
    }

    /// Forgets the companions of a communicator that is freed. Returns how many there were.
    pub fn remove(&mut self, communicator: u32) -> u64 {
        self.expected.remove(communicator);
        let (mut at, mut removed) = (0, 0);
        while at < self.used {
            if self.held[at].0.communicator == communicator {
                self.take(at);
                removed += 1;
            } else {
                at += 1;
            }
        }
        removed
    }

    /// Returns how many companions are held.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.used
    }

    /// Returns how many companions had to give way.
    #[must_use]
    pub const fn displaced(&self) -> u64 {
        self.displaced
    }

    /// Takes one out; the others stay in the order in which they came.
    fn take(&mut self, at: usize) -> Companion {
        let (_, companion) = self.held[at];
        self.held.copy_within(at + 1..self.used, at);
        self.used -= 1;
        companion
    }
}

impl<const STREAMS: usize, const HELD: usize> Default for Arrivals<STREAMS, HELD> {
    fn default() -> Self {
        Self::new()
    }
}
