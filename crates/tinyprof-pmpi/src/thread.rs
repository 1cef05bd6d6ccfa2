//! The state of one thread beside its recorder: what it need not look up again.

use std::cell::Cell;
use std::ptr;

use crate::abi::{Handle, STATUS_BYTES_MAX};

/// The number of datatypes whose sizes a thread remembers.
pub(crate) const DATATYPES: usize = 64;
/// The first size of a thread's room, in bytes. It doubles when it is too small.
const ROOM_BYTES_MIN: usize = 4096;
/// The largest, for a million requests.
const ROOM_BYTES_MAX: usize = 32 << 20;

/// The state of a thread. It needs no destructor, and so no registration.
pub(crate) struct Thread {
    /// Whether MPI is being initialised or finalised by this thread.
    pub(crate) is_steering: Cell<bool>,
    /// Sizes of datatypes, with the generation for which they are right.
    pub(crate) datatypes: [Cell<(Handle, u32, u64)>; DATATYPES],
    /// What the thread knows of messages, where threads may call MPI at the same time.
    pub(crate) state: Cell<*mut ()>,
    /// Room for the statuses of a call whose program ignores several.
    statuses: Room,
    /// Room for the requests that a call completes.
    requests: Room,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            is_steering: Cell::new(false),
            datatypes: [const { Cell::new((Handle(0), 0, 0)) }; DATATYPES],
            state: Cell::new(ptr::null_mut()),
            statuses: Room::new(),
            requests: Room::new(),
        }
    };
}

/// Returns this thread's state, for a call under way. It must not be kept.
#[inline]
pub(crate) fn current<'a>() -> &'a Thread {
    let thread = THREAD.with(ptr::from_ref);
    // SAFETY: the state is a constant without a destructor, valid until the thread ends, and no
    // call of the thread goes on after that. It is not `Sync`, so that no other thread gets it.
    unsafe { &*thread }
}

impl Thread {
    /// Returns room for `count` statuses, if there is memory for them. It is valid until the next
    /// call of this thread that asks for it.
    pub(crate) fn room_for_statuses(&self, count: usize) -> Option<usize> {
        let bytes = count.checked_mul(STATUS_BYTES_MAX)?;
        self.statuses.of(bytes).map(<*mut u8>::expose_provenance)
    }

    /// Keeps `count` requests, and returns how many there was memory for: all or none.
    pub(crate) fn keep_requests(&self, count: usize, request: impl Fn(usize) -> Kept) -> usize {
        let bytes = count.saturating_mul(size_of::<Kept>());
        let Some(room) = self.requests.of(bytes) else { return 0 };
        for index in 0..count {
            // SAFETY: the room is aligned, and has as many bytes as that many requests.
            unsafe { room.cast::<Kept>().wrapping_add(index).write(request(index)) };
        }
        count
    }

    /// Returns the handle of a request of those that this thread has kept last.
    pub(crate) fn kept_handle(&self, index: usize) -> Handle {
        self.kept(index).map_or(Handle(0), |kept| kept.handle)
    }

    /// Returns the place of a request of those that this thread has kept last, the first time.
    pub(crate) fn take_kept_place(&self, index: usize) -> Option<usize> {
        self.kept(index)?.place.take()
    }

    #[expect(clippy::mut_from_ref, reason = "the room is the thread's own, see below")]
    fn kept(&self, index: usize) -> Option<&mut Kept> {
        let bytes = (index + 1).saturating_mul(size_of::<Kept>());
        let room = self.requests.of(bytes)?.cast::<Kept>().wrapping_add(index);
        // SAFETY: `keep_requests` has written it, as the callers ask for one that was kept, and
        // neither of them holds the reference any longer when it returns.
        Some(unsafe { &mut *room })
    }
}

/// A request of a call that completes several, as it was before the call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) handle: Handle,
    /// Its place in the table of requests, if anything is known of it.
    pub(crate) place: Option<usize>,
}

/// Memory that only grows, in pages of the system and not on the heap. It is not given back when
/// the thread ends, as the thread's state has no destructor.
struct Room {
    start: Cell<*mut u8>,
    bytes: Cell<usize>,
}

impl Room {
    const fn new() -> Self {
        Self { start: Cell::new(ptr::null_mut()), bytes: Cell::new(0) }
    }

    /// Returns at least `bytes` bytes, aligned to a page. Growing keeps nothing.
    fn of(&self, bytes: usize) -> Option<*mut u8> {
        if bytes > self.bytes.get() || self.start.get().is_null() {
            self.grow(bytes)?;
        }
        Some(self.start.get())
    }

    #[cold]
    fn grow(&self, bytes: usize) -> Option<()> {
        let bytes = bytes.checked_next_power_of_two()?.max(ROOM_BYTES_MIN);
        if bytes > ROOM_BYTES_MAX {
            return None;
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: asks for fresh memory at an address of the kernel's choice.
        let new = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0) };
        if new == libc::MAP_FAILED {
            return None;
        }
        let (old, old_bytes) = (self.start.replace(new.cast()), self.bytes.replace(bytes));
        if !old.is_null() {
            // SAFETY: the old memory is this room's own, and nobody uses it: see the methods of
            // `Thread`.
            unsafe { libc::munmap(old.cast(), old_bytes) };
        }
        Some(())
    }
}
