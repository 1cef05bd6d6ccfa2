//! Companions as messages of MPI's own, on twins, where ranks cannot share memory.

mod claim;
mod misses;
mod ring;

use tinyprof_messages::companion::Companion;
use tinyprof_messages::matching::{Arrivals, Stream};

use super::partner::{Partner, STREAMS};
use crate::communicators::{self, Twin};
use crate::library::Mpi;
use misses::Misses;
use ring::Ring;

/// Companions that wait for their receive to be asked for.
const HELD: usize = 1 << 9;
/// The most times that companions are looked for at the end: each time all that have come.
const DRAINS_MAX: u32 = 1_000;

/// The companions under way, of one thread at a time.
pub(super) struct Mail {
    ring: Ring,
    arrivals: Arrivals<STREAMS, HELD>,
    misses: Misses,
}

impl Mail {
    pub(super) fn new(mpi: &Mpi) -> Self {
        Self { ring: Ring::new(mpi), arrivals: Arrivals::new(), misses: Misses::default() }
    }

    /// Sends a companion on a twin, or returns false if there is no room: all are under way.
    pub(super) fn send(&mut self, mpi: &Mpi, companion: &Companion, to: &Partner) -> bool {
        let Stream { peer, tag, .. } = to.stream;
        self.ring.send(mpi, companion, to.twin.handle, peer.cast_signed(), tag)
    }

    /// Takes the companions of a communicator that is freed, and forgets its streams.
    pub(super) fn forget(&mut self, mpi: &Mpi, twin: &Twin) {
        claim::drain(mpi, twin);
        self.arrivals.remove(twin.number);
    }

    /// Takes companions that nobody has asked for, so that MPI need not keep them.
    pub(super) fn end(&mut self, mpi: &Mpi) {
        for _ in 0..DRAINS_MAX {
            let taken: u64 = communicators::twins().map(|twin| claim::drain(mpi, &twin)).sum();
            if taken == 0 && self.ring.is_idle(mpi) {
                break;
            }
        }
    }
}
