//! Companions as messages of MPI's own, on twins, where ranks cannot share memory.

mod claim;
mod misses;
mod ring;
mod told;

use tinyprof_messages::companion::Companion;
use tinyprof_messages::matching::{Arrivals, Stream};

use super::causes::Causes;
use super::distance;
use super::partner::{Partner, STREAMS};
use super::telling;
use crate::communicators::{self, Twin};
use crate::library::Mpi;
use misses::Misses;
use ring::Ring;
use told::{Telling, Told};

/// Companions that wait for their receive to be asked for.
const HELD: usize = 1 << 9;
/// The most times that companions are looked for at the end: each time all that have come.
const DRAINS_MAX: u32 = 1_000;

/// The companions under way, of one thread at a time.
pub(super) struct Mail {
    ring: Ring,
    arrivals: Arrivals<STREAMS, HELD>,
    misses: Misses,
    telling: Telling,
    told: Told,
}

impl Mail {
    pub(super) fn new(mpi: &Mpi) -> Self {
        Self {
            ring: Ring::new(mpi),
            arrivals: Arrivals::new(),
            misses: Misses::default(),
            telling: Telling::new(),
            told: Told::new(),
        }
    }

    /// Sends a companion on a twin, or returns false if there is no room: all are under way. Now
    /// and then the receiver is told what this rank has done, so that it knows why it waits.
    pub(super) fn send(
        &mut self,
        mpi: &Mpi,
        companion: &Companion,
        to: &Partner,
        causes: Option<&mut Causes>,
    ) -> bool {
        let Stream { peer, tag, .. } = to.stream;
        let told = self.tell(mpi, companion.entry_ns, to, causes).unwrap_or(0);
        let to = (to.twin.handle, peer.cast_signed(), tag);
        self.ring.send(mpi, companion, &self.telling.words[..told], to)
    }

    /// Returns the number of words that a rank is told; none if nothing.
    #[inline]
    fn tell(
        &mut self,
        mpi: &Mpi,
        now_ns: u64,
        to: &Partner,
        causes: Option<&mut Causes>,
    ) -> Option<usize> {
        let (causes, relative) = (causes?, to.relative);
        if !self.telling.is_due(relative, now_ns) || !self.ring.has_long(mpi) {
            return None;
        }
        let common = telling::names(mpi, &to.twin);
        let words = causes.tell(relative, common, now_ns, &mut self.telling.words)?;
        self.telling.tell(relative, now_ns, words);
        Some(words)
    }

    /// Returns what a rank, relative to this one, has told of the moment at which it came; none if
    /// it has not.
    pub(super) fn told(&self, relative: i32, came_ns: u64) -> Option<&[u64]> {
        self.told.of(relative, came_ns, distance::uncertainty_ns())
    }

    /// Takes the companions of a communicator that is freed, and forgets its streams.
    pub(super) fn forget(&mut self, mpi: &Mpi, twin: &Twin) {
        claim::drain(&mut self.told, mpi, twin);
        self.arrivals.remove(twin.number);
    }

    /// Takes companions that nobody has asked for, so that MPI need not keep them.
    pub(super) fn end(&mut self, mpi: &Mpi) {
        for _ in 0..DRAINS_MAX {
            let taken: u64 =
                communicators::twins().map(|twin| claim::drain(&mut self.told, mpi, &twin)).sum();
            if taken == 0 && self.ring.is_idle(mpi) {
                break;
            }
        }
    }
}
