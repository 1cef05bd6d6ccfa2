//! The state of one thread: whether it is inside of a call, and what it need not look up again.

use std::cell::Cell;
use std::ptr;

use crate::abi::{Handle, STATUS_BYTES_MAX};

/// The number of datatypes whose sizes a thread remembers.
const DATATYPES: usize = 64;
/// The first size of a thread's room, in bytes. It doubles when it is too small.
const ROOM_BYTES_MIN: usize = 4096;
/// The largest, for a million requests.
const ROOM_BYTES_MAX: usize = 32 << 20;

/// The state of a thread. It needs no destructor, and so no registration.
pub(crate) struct Thread {
    /// The number of wrapped functions that are open on this thread.
    pub(crate) depth: Cell<u32>,
    /// The place of a Fortran call that is about to call the function of C; 0 if there is none.
    pub(crate) fortran_address: Cell<usize>,
    /// Sizes of datatypes, with the generation in which they were asked for.
    pub(crate) datatypes: [Cell<(Handle, u32, u64)>; DATATYPES],
    /// Room for the statuses that the program ignores.
    statuses: Room,
    /// Room for the handles of the requests that a call completes.
    handles: Room,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            depth: Cell::new(0),
            fortran_address: Cell::new(0),
            datatypes: [const { Cell::new((Handle(0), 0, 0)) }; DATATYPES],
            statuses: Room::new(),
            handles: Room::new(),
        }
    };
}

/// Runs `work` with this thread's state.
#[inline]
pub(crate) fn with<T>(work: impl FnOnce(&Thread) -> T) -> T {
    THREAD.with(work)
}

impl Thread {
    /// Returns room for `count` statuses, if there is memory for them. It is valid until the next
    /// call of this thread that asks for it.
    pub(crate) fn room_for_statuses(&self, count: usize) -> Option<usize> {
        let bytes = count.checked_mul(STATUS_BYTES_MAX)?;
        self.statuses.of(bytes).map(<*mut u8>::expose_provenance)
    }

    /// Keeps `count` handles, and returns how many there was memory for: all or none.
    pub(crate) fn keep_handles(&self, count: usize, handle: impl Fn(usize) -> Handle) -> usize {
        let bytes = count.saturating_mul(size_of::<Handle>());
        let Some(room) = self.handles.of(bytes) else { return 0 };
        for index in 0..count {
            // SAFETY: the room is aligned, and has as many bytes as that many handles.
            unsafe { room.cast::<Handle>().wrapping_add(index).write(handle(index)) };
        }
        count
    }

    /// Returns a handle of those that this thread has kept last.
    pub(crate) fn kept_handle(&self, index: usize) -> Handle {
        let bytes = (index + 1).saturating_mul(size_of::<Handle>());
        let Some(room) = self.handles.of(bytes) else { return Handle(0) };
        // SAFETY: `keep_handles` has written it, as the caller asks for one that was kept.
        unsafe { room.cast::<Handle>().wrapping_add(index).read() }
    }

    /// Counts this thread into a wrapped function, until the result is dropped.
    #[inline]
    pub(crate) fn enter(&self) -> Inside<'_> {
        self.depth.set(self.depth.get() + 1);
        Inside(&self.depth)
    }
}

/// A wrapped function that is open. Dropping it leaves the function, also when an exception of the
/// program's language passes through.
pub(crate) struct Inside<'a>(&'a Cell<u32>);

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
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
