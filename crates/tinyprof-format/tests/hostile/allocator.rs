//! An allocator that counts the bytes that a thread holds now, and held at most.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static NOW_BYTES: Cell<usize> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<usize> = const { Cell::new(0) };
}

fn took(bytes: usize) {
    NOW_BYTES.set(NOW_BYTES.get() + bytes);
    PEAK_BYTES.set(PEAK_BYTES.get().max(NOW_BYTES.get()));
}

fn gave(bytes: usize) {
    NOW_BYTES.set(NOW_BYTES.get().saturating_sub(bytes));
}

// SAFETY: passes every request unchanged to the system's allocator; counting does not touch the
// heap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        gave(layout.size());
        // SAFETY: the caller upholds the contract of `dealloc`; all places come from `System`.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new block may exist at the same time.
        took(size);
        gave(layout.size());
        // SAFETY: the caller upholds the contract of `realloc`; all places come from `System`.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns the result of `what`, and the most bytes that this thread held at a time during it,
/// beyond those that it held before.
pub(crate) fn peak_bytes<T>(what: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW_BYTES.get();
    PEAK_BYTES.set(before);
    let result = what();
    (result, PEAK_BYTES.get() - before)
}
