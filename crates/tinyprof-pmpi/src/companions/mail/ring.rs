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
/// The companions under way that come with what the rank tells of itself.
const LONG_SLOTS: usize = 16;
/// As many companions is one of these, in a window.
const LONG_WEIGHT: u32 = 16;
/// The receivers that are told apart, by a hash. A power of two.
const RECEIVERS: usize = 512;

/// The companions that this rank has sent and MPI may still read.
pub(super) struct Ring {
    slots: Box<[Slot; SLOTS]>,
    next: usize,
    long: Box<[Long; LONG_SLOTS]>,
    next_long: usize,
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

/// A companion, and behind it what the rank tells of itself.
struct Long {
    bytes: Vec<u8>,
    request: Handle,
}

impl Ring {
    pub(super) fn new(mpi: &Mpi) -> Self {
        let slot = || Slot { bytes: [0; Companion::LENGTH], request: mpi.abi.request_null };
        let window = || Window { receiver: (mpi.abi.comm_null, 0), sent: 0, last: slot() };
        let long = || Long { bytes: Vec::new(), request: mpi.abi.request_null };
        Self {
            slots: Box::new(std::array::from_fn(|_| slot())),
            next: 0,
            long: Box::new(std::array::from_fn(|_| long())),
            next_long: 0,
            windows: Box::new(std::array::from_fn(|_| window())),
        }
    }

    /// Returns whether there is room for one with what the rank tells of itself.
    pub(super) fn has_long(&mut self, mpi: &Mpi) -> bool {
        is_done(mpi, &mut self.long[self.next_long].request)
    }

    /// Sends a companion on a twin, or returns false if there is no room: all are under way. What
    /// the rank tells of itself goes with it if it is not empty, and [`has_long`](Self::has_long).
    #[inline]
    pub(super) fn send(
        &mut self,
        mpi: &Mpi,
        companion: &Companion,
        told: &[u64],
        (twin, to, tag): (Handle, c_int, c_int),
    ) -> bool {
        let receiver = twin.0 ^ to.cast_unsigned() as usize;
        let mixed = receiver.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let window = &mut self.windows[mixed % RECEIVERS];
        if window.receiver != (twin, to) && window.last.is_done(mpi) {
            (window.receiver, window.sent) = ((twin, to), 0);
        }
        let is_last = window.receiver == (twin, to) && window.sent + 1 >= WINDOW;
        if !is_last && !told.is_empty() {
            window.sent = (window.sent + LONG_WEIGHT).min(WINDOW - 1);
            let long = &mut self.long[self.next_long];
            self.next_long = (self.next_long + 1) % LONG_SLOTS;
            long.bytes.clear();
            long.bytes.extend(companion.to_bytes());
            long.bytes.extend((told.len() as u64).to_le_bytes());
            long.bytes.extend(told.iter().flat_map(|word| word.to_le_bytes()));
            let Ok(length) = c_int::try_from(long.bytes.len()) else { return false };
            let (buffer, place) = (long.bytes.as_ptr().cast(), &raw mut long.request);
            // SAFETY: the twin is live, and the slot lives as long as MPI, unchanged until its
            // request is done.
            return unsafe { mpi.isend(buffer, length, mpi.abi.byte, to, tag, twin, place) } == 0;
        }
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
            && self.long.iter_mut().all(|long| is_done(mpi, &mut long.request))
    }
}

/// The length of a companion, as MPI counts.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "56")]
pub(super) const LENGTH: c_int = Companion::LENGTH as c_int;

impl Slot {
    #[inline]
    fn is_done(&mut self, mpi: &Mpi) -> bool {
        is_done(mpi, &mut self.request)
    }
}

/// Returns whether MPI needs the buffer of a request of ours no more.
#[inline]
fn is_done(mpi: &Mpi, request: &mut Handle) -> bool {
    if *request == mpi.abi.request_null {
        return true;
    }
    let mut flag: c_int = 0;
    let ignored = ptr::with_exposed_provenance_mut(mpi.abi.status_ignore);
    let place: *mut Handle = request;
    // SAFETY: the request is ours and live, and the places are valid.
    let code = unsafe { mpi.test(place, &raw mut flag, ignored) };
    *request = mpi.abi.handle(request.0);
    code == 0 && flag != 0
}
