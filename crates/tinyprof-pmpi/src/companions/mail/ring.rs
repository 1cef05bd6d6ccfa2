//! Companions under way: a fixed number of sends, so that none ever blocks the program, and a
//! window for each receiver, so that they do not pile up where nobody takes them.

use std::ffi::c_int;
use std::ptr;

use tinyprof_messages::companion::Companion;

use crate::abi::Handle;
use crate::library::Mpi;

/// The companions that may be under way at a time.
const SLOTS: usize = 256;

/// Every 1,024th companion to a receiver is sent synchronously, so that at most twice as many wait
/// for it.
const WINDOW: u32 = 1024;
/// The receivers that are told apart, by a hash. A power of two.
const RECEIVERS: usize = 512;

/// The companions that this rank has sent and MPI may still read.
pub(super) struct Ring {
    slots: Box<[Slot; SLOTS]>,
    next: usize,
    windows: Box<[Window; RECEIVERS]>,
}

/// The companions to one receiver.
struct Window {
    /// The twin, and the rank in it.
    receiver: (Handle, c_int),
    sent: u32,
    /// The companion that ends the window before.
    last: Slot,
}

struct Slot {
    bytes: [u8; Companion::LENGTH],
    request: Handle,
}

impl Ring {
    pub(super) fn new(mpi: &Mpi) -> Self {
        let slot = || Slot { bytes: [0; Companion::LENGTH], request: mpi.abi.request_null };
        let window = || Window { receiver: (mpi.abi.comm_null, 0), sent: 0, last: slot() };
        Self {
            slots: Box::new(std::array::from_fn(|_| slot())),
            next: 0,
            windows: Box::new(std::array::from_fn(|_| window())),
        }
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
        let receiver = twin.0 ^ to.cast_unsigned() as usize;
        let mixed = receiver.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let window = &mut self.windows[mixed % RECEIVERS];
        if window.receiver != (twin, to) && window.last.is_done(mpi) {
            (window.receiver, window.sent) = ((twin, to), 0);
        }
        let is_last = window.receiver == (twin, to) && window.sent + 1 == WINDOW;
        let slot = if is_last { &mut window.last } else { &mut self.slots[self.next] };
        if !slot.is_done(mpi) {
            return false;
        }
        window.sent = if is_last { 0 } else { window.sent + 1 };
        if !is_last {
            self.next = (self.next + 1) % SLOTS;
        }
        slot.bytes = companion.to_bytes();
        let place = &raw mut slot.request;
        let buffer = slot.bytes.as_ptr().cast();
        let (byte, length) = (mpi.abi.byte, LENGTH);
        let code = if is_last {
            // SAFETY: the twin is live, and the slot lives as long as MPI, unchanged until its
            // request is done.
            unsafe { mpi.issend(buffer, length, byte, to, tag, twin, place) }
        } else {
            // SAFETY: the twin is live, and the slot lives as long as MPI, unchanged until its
            // request is done.
            unsafe { mpi.isend(buffer, length, byte, to, tag, twin, place) }
        };
        code == 0
    }

    /// Returns whether all companions have left.
    pub(super) fn is_idle(&mut self, mpi: &Mpi) -> bool {
        let windows = self.windows.iter_mut().map(|window| &mut window.last);
        self.slots.iter_mut().chain(windows).all(|slot| slot.is_done(mpi))
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
