//! Requests of the program whose message is counted later: when a receive completes, and when a
//! persistent request is started.
//!
//! The table is fixed, so that 100,000 requests can be open without memory growing further. It
//! takes no lock: a slot belongs to whoever has claimed its key, and a request belongs to one
//! thread at a time (MPI 4.0, section 11.6.2). A request that finds no slot is counted.

use std::ptr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

use tinyprof::__calls::{self as calls, Callpath};

use crate::abi::Handle;
use crate::communicators::Communicator;

/// Slots in the table, a power of two.
pub(crate) const SLOTS: usize = 1 << 18;
/// The slots that are searched for a request: two cache lines of keys.
const PROBES: usize = 16;
/// The key of a slot that is being filled.
const CLAIMED: usize = usize::MAX;

/// What is counted for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pending {
    /// A receive: the message is counted when it has come, for the callpath that posted it.
    Receive,
    /// A read of a file.
    Read,
    /// A send that is not persistent. Kept at level `messages` alone.
    Sent,
    /// A persistent send, of this many bytes to a partner relative to the caller.
    Send { partner: i32, bytes: u64 },
    /// A persistent receive. It is counted for the callpath that starts it.
    ReceiveAtStart,
    /// A persistent collective operation: bytes out and in, and the size of the communicator.
    Collective { ranks: i32, out: u64, into: u64 },
    /// A collective operation that is counted already, and waited for when it completes.
    Started,
}

/// An entry of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) callpath: Callpath,
    /// The communicator that it was made with, which the program may have freed since. `None` if it
    /// has none, or nothing is known of it.
    pub(crate) communicator: Option<&'static Communicator>,
    pub(crate) pending: Pending,
}

static KEYS: [AtomicUsize; SLOTS] = [const { AtomicUsize::new(0) }; SLOTS];
static VALUES: [Slot; SLOTS] = [const { Slot::new() }; SLOTS];
/// Set when the program has cancelled a request.
static CANCELLED: AtomicBool = AtomicBool::new(false);

struct Slot {
    callpath: AtomicU64,
    communicator: AtomicPtr<Communicator>,
    kind: AtomicU32,
    partner: AtomicU32,
    out: AtomicU64,
    into: AtomicU64,
}

impl Slot {
    const fn new() -> Self {
        Self {
            callpath: AtomicU64::new(0),
            communicator: AtomicPtr::new(ptr::null_mut()),
            kind: AtomicU32::new(0),
            partner: AtomicU32::new(0),
            out: AtomicU64::new(0),
            into: AtomicU64::new(0),
        }
    }

    fn write(&self, request: &Request) {
        let (kind, partner, out, into) = match request.pending {
            Pending::Receive => (0, 0, 0, 0),
            Pending::Read => (1, 0, 0, 0),
            Pending::Send { partner, bytes } => (2, partner, bytes, 0),
            Pending::ReceiveAtStart => (3, 0, 0, 0),
            Pending::Collective { ranks, out, into } => (4, ranks, out, into),
            Pending::Sent => (5, 0, 0, 0),
            Pending::Started => (6, 0, 0, 0),
        };
        self.callpath.store(request.callpath.to_bits(), Relaxed);
        let communicator = request.communicator.map_or(ptr::null(), ptr::from_ref);
        self.communicator.store(communicator.cast_mut(), Relaxed);
        self.kind.store(kind, Relaxed);
        self.partner.store(partner.cast_unsigned(), Relaxed);
        self.out.store(out, Relaxed);
        self.into.store(into, Relaxed);
    }

    fn read(&self) -> Request {
        let partner = self.partner.load(Relaxed).cast_signed();
        let (out, into) = (self.out.load(Relaxed), self.into.load(Relaxed));
        let pending = match self.kind.load(Relaxed) {
            0 => Pending::Receive,
            1 => Pending::Read,
            2 => Pending::Send { partner, bytes: out },
            3 => Pending::ReceiveAtStart,
            5 => Pending::Sent,
            6 => Pending::Started,
            _ => Pending::Collective { ranks: partner, out, into },
        };
        Request {
            callpath: Callpath::from_bits(self.callpath.load(Relaxed)),
            // SAFETY: it was a reference when it was written. What is known of a communicator stays
            // as long as a slot that is not empty refers to it, see `communicators`.
            communicator: unsafe { self.communicator.load(Relaxed).as_ref() },
            pending,
        }
    }
}

/// Returns the indices of the slots for a request.
#[inline]
fn places(request: Handle) -> impl Iterator<Item = usize> {
    let first = (request.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) & (SLOTS - 1) & !7;
    (first..first + PROBES).map(|at| at & (SLOTS - 1))
}

/// Remembers a request that the program has just made, and returns its place in the table, if there
/// is one. It takes the place of one with the same handle, if any: MPI has a single one for all
/// receives from `MPI_PROC_NULL`.
pub(crate) fn insert(handle: Handle, request: &Request) -> Option<usize> {
    for at in places(handle) {
        match KEYS[at].compare_exchange(0, CLAIMED, AcqRel, Relaxed) {
            Ok(_) => {
                VALUES[at].write(request);
                KEYS[at].store(handle.0, Release);
                return Some(at);
            }
            Err(known) if known == handle.0 => {
                VALUES[at].write(request);
                return Some(at);
            }
            Err(_) => {}
        }
    }
    calls::lose_message();
    None
}

/// Returns what is known of a request, and its place in the table.
#[inline]
pub(crate) fn find(handle: Handle) -> Option<(usize, Request)> {
    place_of(handle).map(|place| (place, VALUES[place].read()))
}

/// Returns whether anything is known of a request.
#[inline]
pub(crate) fn is_known(handle: Handle) -> bool {
    place_of(handle).is_some()
}

#[inline]
fn place_of(handle: Handle) -> Option<usize> {
    places(handle).find(|&at| KEYS[at].load(Acquire) == handle.0)
}

/// Changes the callpath of a persistent request: it has been started from there.
pub(crate) fn start(place: usize, callpath: Callpath) {
    VALUES[place].callpath.store(callpath.to_bits(), Relaxed);
}

/// Takes a request out of the table before it is completed, and returns its place. Once MPI has
/// completed it, another thread may get the same handle, before this one has looked at the table.
pub(crate) fn take(handle: Handle) -> Option<usize> {
    let place = place_of(handle)?;
    KEYS[place].store(CLAIMED, Release);
    Some(place)
}

/// Returns what is known of a request that has been taken out.
pub(crate) fn taken(place: usize) -> Request {
    VALUES[place].read()
}

/// Returns a request that has been taken out: to the table under `handle`, if the program still has
/// one.
pub(crate) fn give_back(place: usize, handle: Option<Handle>) {
    KEYS[place].store(handle.map_or(0, |handle| handle.0), Release);
}

/// Forgets the request at a place that [`find`] has returned.
pub(crate) fn forget(place: usize) {
    KEYS[place].store(0, Release);
}

/// Returns the communicators that requests refer to, some of them more than once. Those that are
/// written meanwhile may be missing.
pub(crate) fn communicators() -> impl Iterator<Item = *const Communicator> {
    let is_there = |at: &usize| KEYS[*at].load(Acquire) != 0;
    (0..SLOTS).filter(is_there).map(|at| VALUES[at].communicator.load(Relaxed).cast_const())
}

/// Expects that completed requests may be cancelled ones, from now on.
pub(crate) fn expect_cancelled() {
    CANCELLED.store(true, Relaxed);
}

/// Returns whether the program has ever cancelled a request.
pub(crate) fn may_be_cancelled() -> bool {
    CANCELLED.load(Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request that is told apart by its bytes.
    fn request(bytes: usize) -> Request {
        let pending = Pending::Send { partner: 0, bytes: bytes as u64 };
        Request { callpath: Callpath::NONE, communicator: None, pending }
    }

    fn bytes_of(request: &Request) -> Option<usize> {
        let Pending::Send { bytes, .. } = request.pending else { return None };
        usize::try_from(bytes).ok()
    }

    fn bytes_at(handle: Handle) -> Option<usize> {
        find(handle).and_then(|(_, request)| bytes_of(&request))
    }

    #[test]
    fn a_hundred_thousand_open_requests_are_told_apart() {
        // Handles of MPICH are numbers in a row, those of Open MPI addresses, some hundred bytes
        // apart.
        for (first, step) in [(0x2c00_0100_usize, 1), (0x5581_0000_0000, 416)] {
            let handles = || (0..100_000).map(|nth| Handle(first + nth * step));
            for handle in handles() {
                insert(handle, &request(handle.0)).expect("room");
            }
            let known = handles().filter(|&handle| bytes_at(handle) == Some(handle.0));
            assert_eq!(known.count(), 100_000);
            for handle in handles() {
                forget(find(handle).expect("just found").0);
            }
            assert!(handles().all(|handle| find(handle).is_none()));
        }
    }

    #[test]
    fn a_handle_that_many_requests_share_fills_one_slot() {
        let shared = Handle(0x7fff_0000_1230);
        for nth in 0..1000 {
            insert(shared, &request(nth)).expect("room");
        }
        assert_eq!(bytes_at(shared), Some(999));
        let slots = places(shared).filter(|&at| KEYS[at].load(Relaxed) == shared.0);
        assert_eq!(slots.count(), 1);
    }

    #[test]
    fn a_request_that_is_taken_is_not_found_under_its_handle() {
        let handle = Handle(0x7fff_0000_4560);
        insert(handle, &request(1)).expect("room");
        let place = take(handle).expect("just inserted");
        // Another thread has got the same handle meanwhile.
        insert(handle, &request(2)).expect("room");
        assert_eq!(bytes_at(handle), Some(2));
        assert_eq!(bytes_of(&taken(place)), Some(1));
        give_back(place, None);
        assert_eq!(bytes_at(handle), Some(2));
        let place = take(handle).expect("still there");
        give_back(place, Some(handle));
        assert_eq!(bytes_at(handle), Some(2));
    }
}
