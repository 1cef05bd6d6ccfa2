//! An allocator that reports the requested bytes to the recorder.

use std::alloc::{GlobalAlloc, Layout, System};

use super::{Site, thread};

/// The bytes allocated in a region; each value is one call.
#[used]
#[cfg_attr(all(target_os = "linux", feature = "enable"), unsafe(link_section = "tinyprof_sites"))]
static ALLOC_BYTES: Site = Site::metric("alloc_bytes");

/// A global allocator that records the allocations of each callpath: see [`crate::alloc`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting<A = System> {
    inner: A,
}

impl Counting {
    /// Returns the system's allocator, counted.
    #[must_use]
    pub const fn new() -> Self {
        Self::around(System)
    }
}

impl<A> Counting<A> {
    /// Returns another allocator, counted.
    #[must_use]
    pub const fn around(inner: A) -> Self {
        Self { inner }
    }
}

/// Adds a call to the innermost open region. Outside of all regions it is not recorded.
#[inline]
fn count(bytes: usize) {
    if let Some(arena) = thread::arena().filter(|_| cfg!(feature = "enable")) {
        arena.record_if_inside(&ALLOC_BYTES, bytes);
    }
}

// SAFETY: every call goes to `inner` with the same arguments, and its result is returned; the
// recorder neither allocates nor unwinds.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.inner.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.inner.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_bytes: usize) -> *mut u8 {
        if let Some(more) = new_bytes.checked_sub(layout.size()) {
            count(more);
        }
        // SAFETY: as the caller promises.
        unsafe { self.inner.realloc(pointer, layout, new_bytes) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { self.inner.dealloc(pointer, layout) }
    }
}
