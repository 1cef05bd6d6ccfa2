//! The companion of a message that has been received.

use std::ffi::c_int;

use tinyprof::__calls::Recorder;
use tinyprof_messages::companion::Companion;
use tinyprof_messages::matching::Claim;

use super::super::common_clock::now_ns;
use super::super::partner::Partner;
use super::Mail;
use super::told::Told;
use crate::abi::Status;
use crate::communicators::Twin;
use crate::library::Mpi;

/// The longest time that a companion is waited for when its message has come. It was sent before
/// the message, so it is nearly always there.
const PATIENCE_NS: u64 = 20_000;

impl Mail {
    /// Returns the companion of message `number` of a stream, if it comes in time.
    ///
    /// Only companions of the stream are taken, in the order in which they were sent. The others
    /// stay with MPI as their messages do, so that nobody has to look through many of them.
    pub(in crate::companions) fn claim(
        &mut self,
        mpi: &Mpi,
        recorder: Recorder,
        from: &Partner,
        number: u64,
    ) -> Option<Companion> {
        let Partner { twin, relative, stream } = *from;
        if self.arrivals.held() > 0 {
            match self.arrivals.claim(stream, number) {
                Claim::Found(companion) => return Some(companion),
                Claim::Dropped => return None,
                Claim::NotYet => {}
            }
        }
        if !self.misses.looks(stream) {
            return None;
        }
        let source = stream.peer.cast_signed();
        let mut give_up_ns = None;
        loop {
            if let Some(companion) = self.told.take(mpi, &twin, source, stream.tag) {
                self.told.keep(relative, companion.entry_ns);
                self.misses.clear(stream);
                if companion.twin != twin.epoch {
                    continue;
                }
                if companion.sequence == number {
                    return Some(companion);
                }
                self.arrivals.arrived(stream, companion);
                if companion.sequence > number {
                    return None;
                }
                continue;
            }
            let now_ns = now_ns(recorder);
            let give_up_ns = *give_up_ns.get_or_insert(now_ns + PATIENCE_NS);
            if now_ns >= give_up_ns || !self.misses.are_few(stream) {
                self.misses.add(stream);
                return None;
            }
        }
    }
}

/// Takes all companions on a twin that have come, and forgets them. Returns how many.
pub(super) fn drain(told: &mut Told, mpi: &Mpi, twin: &Twin) -> u64 {
    let mut drained = 0;
    while told.take(mpi, twin, mpi.abi.any_source, mpi.abi.any_tag).is_some() {
        drained += 1;
    }
    drained
}

impl Told {
    /// Returns the first companion that has come from `source` with `tag`, if there is one. The
    /// buffer has the whole message.
    #[inline]
    fn take(&mut self, mpi: &Mpi, twin: &Twin, source: c_int, tag: c_int) -> Option<Companion> {
        let mut flag: c_int = 0;
        let mut status = Status::default();
        let place = (&raw mut status).cast();
        // SAFETY: the twin is live, and the places are valid.
        let code = unsafe { mpi.iprobe(source, tag, twin.handle, &raw mut flag, place) };
        if code != 0 || flag == 0 {
            return None;
        }
        let (source, tag) = (status.source(&mpi.abi), status.tag(&mpi.abi));
        self.clear();
        let length = c_int::try_from(self.buffer.len()).ok()?;
        let ignored = std::ptr::with_exposed_provenance_mut(mpi.abi.status_ignore);
        let place = self.buffer.as_mut_ptr().cast();
        // SAFETY: the message is there, has been sent by this crate, and so is no longer than the
        // buffer.
        let code =
            unsafe { mpi.recv(place, length, mpi.abi.byte, source, tag, twin.handle, ignored) };
        if code == 0 { self.companion() } else { None }
    }
}
