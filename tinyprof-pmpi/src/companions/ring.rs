//! Companions under way: a fixed number of sends, so that none ever blocks the program.

use std::ffi::c_int;
use std::ptr;

use tinyprof_messages::companion::Companion;

use crate::abi::Handle;
use crate::library::Mpi;

/// The companions that may be under way at a time.
const SLOTS: usize = 256;

/// The companions that this rank has sent and MPI may still read.
pub(super) struct Ring {
    slots: Box<[Slot; SLOTS]>,
    next: usize,
}

struct Slot {
    bytes: [u8; Companion::LENGTH],
    request: Handle,
}

impl Ring {
    pub(super) fn new(mpi: &Mpi) -> Self {
        let slot = || Slot { bytes: [0; Companion::LENGTH], request: mpi.abi.request_null };
        Self { slots: Box::new(std::array::from_fn(|_| slot())), next: 0 }
    }

    /// Sends a companion on a twin, or returns false if there is no room: all are under way.
    #[inline]
    pub(super) fn send(
        &mut self,
        mpi: &Mpi,
        companion: &Companion,
        twin: Handle,
        to: c_int,
        tag: c_int,
    ) -> bool {
        let slot = &mut self.slots[self.next];
        if !slot.is_done(mpi) {
            return false;
        }
        slot.bytes = companion.to_bytes();
        self.next = (self.next + 1) % SLOTS;
        let place = &raw mut slot.request;
        let buffer = slot.bytes.as_ptr().cast();
        // SAFETY: the twin is live, and the slot lives as long as MPI, unchanged until its request
        // is done.
        let code = unsafe { mpi.isend(buffer, LENGTH, mpi.abi.byte, to, tag, twin, place) };
        code == 0
    }

    /// Returns whether all companions have left.
    pub(super) fn is_idle(&mut self, mpi: &Mpi) -> bool {
        self.slots.iter_mut().all(|slot| slot.is_done(mpi))
    }
}

/// The length of a companion, as MPI counts.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "56")]
pub(super) const LENGTH: c_int = Companion::LENGTH as c_int;

impl Slot {
    #[inline]
    fn is_done(&mut self, mpi: &Mpi) -> bool {
        if self.request == mpi.abi.request_null {
            return true;
        }
        let mut flag: c_int = 0;
        let ignored = ptr::with_exposed_provenance_mut(mpi.abi.status_ignore);
        // SAFETY: the request is ours and live, and the places are valid.
        let code = unsafe { mpi.test(&raw mut self.request, &raw mut flag, ignored) };
        self.request = mpi.abi.handle(self.request.0);
        code == 0 && flag != 0
    }
}
