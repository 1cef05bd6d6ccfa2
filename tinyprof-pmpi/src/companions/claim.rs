//! The companion of a message that has been received.

use std::ffi::c_int;

use tinyprof::__calls::Recorder;
use tinyprof_messages::companion::Companion;
use tinyprof_messages::matching::{Claim, Stream};

use super::common_clock::now_ns;
use super::ring::LENGTH;
use super::state::State;
use crate::abi::{Handle, Status};
use crate::communicators::Twin;
use crate::library::Mpi;

/// The longest time that a companion is waited for when its message has come. It was sent before
/// the message, so it is nearly always there.
const PATIENCE_NS: u64 = 20_000;
/// A rank whose companions were missing so many times in a row is not waited for any more, until
/// one comes: it has ceased to send them.
const MISSES_MAX: u8 = 8;
/// The ranks whose misses are counted, by a hash. A power of two.
const RANKS: usize = 1024;

/// How many companions of each rank were missing in a row.
pub(super) struct Misses([u8; RANKS]);

impl Default for Misses {
    fn default() -> Self {
        Self([0; RANKS])
    }
}

impl Misses {
    fn of(&mut self, stream: Stream) -> &mut u8 {
        &mut self.0[(stream.communicator.wrapping_mul(61) ^ stream.peer) as usize % RANKS]
    }
}

impl State {
    /// Returns the companion of message `number` of a stream, if it comes in time.
    pub(super) fn claim(
        &mut self,
        mpi: &Mpi,
        recorder: Recorder,
        twin: &Twin,
        stream: Stream,
        number: u64,
    ) -> Option<Companion> {
        let source = stream.peer.cast_signed();
        if self.arrivals.held() == 0
            && let Some((tag, companion)) = take(mpi, twin, source)
        {
            // The usual case: the first that has come is the one.
            if tag == stream.tag && companion.sequence == number && companion.twin == twin.epoch {
                *self.misses.of(stream) = 0;
                return Some(companion);
            }
            self.arrived(twin, source, tag, companion);
        }
        let mut give_up_ns = None;
        loop {
            self.take_all(mpi, twin, source);
            match self.arrivals.claim(stream, number) {
                Claim::Found(companion) => {
                    *self.misses.of(stream) = 0;
                    return Some(companion);
                }
                Claim::Dropped => return None,
                Claim::NotYet => {}
            }
            let misses = self.misses.of(stream);
            let now_ns = now_ns(recorder);
            if *misses >= MISSES_MAX || now_ns >= *give_up_ns.get_or_insert(now_ns + PATIENCE_NS) {
                *misses = misses.saturating_add(1);
                return None;
            }
        }
    }

    fn arrived(&mut self, twin: &Twin, source: c_int, tag: c_int, companion: Companion) {
        if companion.twin == twin.epoch {
            let peer = source.cast_unsigned();
            let stream = Stream { communicator: twin.number, peer, tag };
            self.arrivals.arrived(stream, companion);
        }
    }

    /// Takes all companions of a rank that have come.
    fn take_all(&mut self, mpi: &Mpi, twin: &Twin, source: c_int) {
        while let Some((tag, companion)) = take(mpi, twin, source) {
            self.arrived(twin, source, tag, companion);
        }
    }

    /// Takes all companions on a twin that have come, and forgets them. Returns how many.
    pub(super) fn drain(&mut self, mpi: &Mpi, twin: &Twin) -> u64 {
        let mut drained = 0;
        while let Some((source, ..)) = waiting(mpi, twin.handle, mpi.abi.any_source) {
            if take(mpi, twin, source).is_none() {
                break;
            }
            drained += 1;
        }
        drained
    }
}

/// Returns source and tag of the first companion that has come from `source`, if there is one.
#[inline]
fn waiting(mpi: &Mpi, twin: Handle, source: c_int) -> Option<(c_int, c_int)> {
    let mut flag: c_int = 0;
    let mut status = Status::default();
    let place = (&raw mut status).cast();
    // SAFETY: the twin is live, and the places are valid.
    let code = unsafe { mpi.iprobe(source, mpi.abi.any_tag, twin, &raw mut flag, place) };
    (code == 0 && flag != 0).then(|| (status.source(&mpi.abi), status.tag(&mpi.abi)))
}

/// Returns the first companion that has come from `source`, with its tag, if there is one.
#[inline]
fn take(mpi: &Mpi, twin: &Twin, source: c_int) -> Option<(c_int, Companion)> {
    let (source, tag) = waiting(mpi, twin.handle, source)?;
    let mut bytes = [0_u8; Companion::LENGTH];
    let ignored = std::ptr::with_exposed_provenance_mut(mpi.abi.status_ignore);
    let place = bytes.as_mut_ptr().cast();
    // SAFETY: the message is there, has been sent by this crate, and so is as long as the buffer.
    let code = unsafe { mpi.recv(place, LENGTH, mpi.abi.byte, source, tag, twin.handle, ignored) };
    if code != 0 {
        return None;
    }
    Companion::from_bytes(&bytes).map(|companion| (tag, companion))
}
