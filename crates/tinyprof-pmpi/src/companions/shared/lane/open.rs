//! Companions whose sender writes its clock when the message is on its way.
//!
//! A rank that answers a message at once knows its own clock only when it has looked at what came.
//! So it says first that there is a message, and then by how much it was delayed. Its receiver
//! looks later, too, if it can, and finds all of it; otherwise it waits, for as long as the sender
//! takes from sending to that.

use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::Duration;
use std::{hint, thread};

use tinyprof_messages::companion::Companion;

use super::{LINE_WORDS, OPEN, Outgoing, STAMP};

/// How often a reader looks at an open entry, and how often it lets others run in between: about 20
/// us, and some hundred. If that is not enough, the sender has lost its processor.
const LOOKS: u32 = 500;
const YIELDS: u32 = 1_000;
/// How long a reader sleeps between further looks, and how often at first.
const SLEEP: Duration = Duration::from_millis(1);
const SLEEPS: u32 = 100;

/// How long a receiver waits for entries to be closed. In case that a sender cannot go on before
/// its receiver does, it waits half as long after each time in vain: 0.2 s in all.
#[derive(Debug)]
pub(super) struct Patience(Cell<u32>);

impl Default for Patience {
    fn default() -> Self {
        Self(Cell::new(SLEEPS))
    }
}

/// An entry to which the sender is yet to write its clock. Dropping it leaves the clock of before.
#[derive(Debug)]
pub(in crate::companions) struct OpenEntry(&'static [AtomicU64; LINE_WORDS]);

impl OpenEntry {
    /// Writes the companion, of which only the clock may have changed.
    #[inline]
    pub(in crate::companions) fn close(self, companion: &Companion) {
        for (place, word) in self.0[..STAMP].iter().zip(companion.to_words()) {
            place.store(word, Relaxed);
        }
    }
}

impl Drop for OpenEntry {
    #[inline]
    fn drop(&mut self) {
        let stamp = &self.0[STAMP];
        stamp.store(stamp.load(Relaxed) & !OPEN, Release);
    }
}

impl Outgoing {
    /// Puts a companion without its clock into the lane. Otherwise as [`put`](Self::put).
    #[inline]
    pub(in crate::companions) fn put_open(
        &mut self,
        companion: &Companion,
        tag: i32,
    ) -> Option<OpenEntry> {
        if !self.has_room() {
            return None;
        }
        let position = self.write(companion, tag, OPEN);
        Some(OpenEntry(self.lane.entry(position)))
    }
}

impl Patience {
    /// Waits until an entry is closed. Returns false if that takes too long.
    #[cold]
    #[inline(never)]
    pub(super) fn wait(&self, entry: &[AtomicU64; LINE_WORDS]) -> bool {
        let is_closed_after = |pause: &dyn Fn()| {
            pause();
            entry[STAMP].load(Acquire) & OPEN == 0
        };
        let sleeps = self.0.get();
        let is_closed = (0..LOOKS).any(|_| is_closed_after(&hint::spin_loop))
            || (0..YIELDS).any(|_| is_closed_after(&thread::yield_now))
            || (0..sleeps).any(|_| is_closed_after(&|| thread::sleep(SLEEP)));
        if !is_closed {
            self.0.set(sleeps / 2);
        }
        is_closed
    }
}
