//! The system's allocator with injected failures: one allocation fails, or all from one on.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64};

/// A `#[global_allocator]` that counts the allocations of all threads once it is armed.
#[derive(Debug)]
pub struct FailingAllocator {
    /// The counter of allocations; null until the allocator is armed.
    counter: AtomicPtr<AtomicU64>,
    fail_at: AtomicU64,
    for_good: AtomicBool,
}

impl FailingAllocator {
    /// Creates an allocator that does not fail yet.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it is for statics, and `default` is not const")]
    pub const fn new() -> Self {
        Self {
            counter: AtomicPtr::new(ptr::null_mut()),
            fail_at: AtomicU64::new(0),
            for_good: AtomicBool::new(false),
        }
    }

    /// Starts to count in `counter`. The allocation `fail_at` (1-based) gets no memory, and neither
    /// does any later one if `for_good`. With 0, none fails.
    pub fn arm(&self, fail_at: u64, for_good: bool, counter: &'static AtomicU64) {
        self.fail_at.store(fail_at, SeqCst);
        self.for_good.store(for_good, SeqCst);
        self.counter.store(ptr::from_ref(counter).cast_mut(), SeqCst);
    }

    fn refuses(&self) -> bool {
        // SAFETY: the pointer is null or the one that `arm` was given, which lives as long as the
        // program.
        let Some(counter) = (unsafe { self.counter.load(SeqCst).as_ref() }) else { return false };
        let number = counter.fetch_add(1, SeqCst) + 1;
        let fail_at = self.fail_at.load(SeqCst);
        number == fail_at || (fail_at > 0 && number > fail_at && self.for_good.load(SeqCst))
    }
}

// SAFETY: every call that is not refused goes to the system allocator, and a null pointer is how an
// allocation fails.
unsafe impl GlobalAlloc for FailingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.refuses() {
            return ptr::null_mut();
        }
        // SAFETY: the caller keeps the allocator's contract, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if self.refuses() {
            return ptr::null_mut();
        }
        // SAFETY: the caller keeps the allocator's contract, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // An allocator may refuse to shrink, too.
        if self.refuses() {
            return ptr::null_mut();
        }
        // SAFETY: the caller keeps the allocator's contract, which is the same.
        unsafe { System.realloc(place, layout, bytes) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the allocator's contract, which is the same.
        unsafe { System.dealloc(place, layout) }
    }
}
