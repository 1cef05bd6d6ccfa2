//! The words that a thread looks at in each visit, in pages that the kernel wipes in a child
//! process.
//!
//! So a child that shares the files of its parent, because `clone` made it without the handlers of
//! `fork`, finds no region open and no callpath known: whatever it does first is not the usual
//! case, and there it is noticed.

use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::super::node::{high, low, pack};
use crate::sys::pages;

/// How many sites that were made while the program runs are remembered with the callpath of their
/// last visit.
pub(super) const LATE_SITES: usize = 128;

/// A bit that no record has in the word of its execution.
const IRREGULAR: u32 = 1 << 31;

/// In the cache in place of a callpath: visits of this site are not recorded. No record has that
/// number, so that this is the parent of none.
pub(super) const FILTERED: u64 = i32::MAX as u64;

/// The words that have names.
#[repr(C, align(64))]
struct Named {
    /// The node of the innermost open region; none outside of all.
    current: AtomicU32,
    /// Not 0 in the process that has made it.
    of_this_process: AtomicU32,
    /// The execution of the root region that was entered last; high half: 0 where records may take
    /// the shortest path.
    execution: AtomicU64,
    /// Not 0 if somebody wants to know of this thread's boundaries.
    watched: AtomicU32,
    late_cache: [AtomicU64; LATE_SITES],
}

/// Memory of one arena beside its segment.
#[derive(Debug)]
pub(super) struct Hot {
    named: NonNull<Named>,
    sites: usize,
}

// SAFETY: the memory is only ever read and written through atomics, and stays as long as the
// process.
unsafe impl Send for Hot {}
// SAFETY: as above.
unsafe impl Sync for Hot {}

impl Hot {
    /// Words for so many sites of the executable; none where the system gives no memory.
    pub(super) fn new(sites: usize) -> Option<Self> {
        let bytes = size_of::<Named>() + (sites + sites.div_ceil(64)) * size_of::<AtomicU64>();
        let hot = Self { named: pages(bytes, true)?.cast(), sites };
        hot.begin();
        Some(hot)
    }

    #[inline]
    fn named(&self) -> &Named {
        // SAFETY: `new` has made room for them, in zeroed pages that stay.
        unsafe { self.named.as_ref() }
    }

    #[inline]
    pub(super) fn current(&self) -> &AtomicU32 {
        &self.named().current
    }

    /// The execution of the root region that was entered last.
    #[inline]
    pub(super) fn execution(&self) -> u32 {
        low(self.regular_execution())
    }

    /// The word of a record whose live numbers belong to that execution, and which may take the
    /// shortest path.
    #[inline]
    pub(super) fn regular_execution(&self) -> u64 {
        self.named().execution.load(Relaxed)
    }

    #[inline]
    pub(super) fn set_execution(&self, execution: u32) {
        let word = &self.named().execution;
        word.store(pack(execution, high(word.load(Relaxed))), Relaxed);
    }

    /// Says that no record may take the shortest path: this thread has another clock than the
    /// processor's counter.
    pub(super) fn take_no_shortest_path(&self) {
        self.named().execution.store(pack(0, IRREGULAR), Relaxed);
    }

    #[inline]
    pub(super) fn watched(&self) -> &AtomicU32 {
        &self.named().watched
    }

    /// For the first sites that were made while the program runs their last (parent, child).
    pub(super) fn late_cache(&self) -> &[AtomicU64] {
        &self.named().late_cache
    }

    /// For each site of the executable its last (parent, child): answers all but the first
    /// look-ups.
    #[inline]
    pub(super) fn cache(&self) -> &[AtomicU64] {
        self.words(0, self.sites)
    }

    /// The entry of the cache for the site with this index; 0 if there is none.
    #[inline(always)]
    pub(super) fn cached(&self, index: usize) -> u64 {
        if index >= self.sites {
            return 0;
        }
        let place = self.named.as_ptr().wrapping_add(1).cast::<AtomicU64>().wrapping_add(index);
        // SAFETY: the entry is one of those that `new` has made room for, as the index is below
        // their number; no slice of them is made here, whose pointer the compiler would compare
        // with null.
        unsafe { &*place }.load(Relaxed)
    }

    /// For each site of the executable whether the segment describes it, one bit each.
    pub(super) fn described(&self) -> &[AtomicU64] {
        self.words(self.sites, self.sites.div_ceil(64))
    }

    #[inline]
    fn words(&self, first: usize, count: usize) -> &[AtomicU64] {
        let place = self.named.as_ptr().wrapping_add(1).cast::<AtomicU64>().wrapping_add(first);
        // SAFETY: they follow those that have names, `new` has made room for all of them, and zeros
        // are values of atomics.
        unsafe { std::slice::from_raw_parts(place, count) }
    }

    /// Whether the kernel has wiped the words, because this is a child of the process that has made
    /// them.
    pub(super) fn is_of_a_child(&self) -> bool {
        self.named().of_this_process.load(Relaxed) == 0
    }

    /// Says that the words are those of this process.
    pub(super) fn begin(&self) {
        self.named().of_this_process.store(1, Relaxed);
    }

    /// Forgets everything but whether boundaries are watched.
    pub(super) fn clear(&self) {
        self.current().store(0, Relaxed);
        self.set_execution(0);
        let words = self.late_cache().iter().chain(self.cache()).chain(self.described());
        words.for_each(|word| word.store(0, Relaxed));
    }
}

impl Drop for Hot {
    fn drop(&mut self) {
        let bytes =
            size_of::<Named>() + (self.sites + self.sites.div_ceil(64)) * size_of::<AtomicU64>();
        crate::sys::unmap(self.named.cast(), bytes);
    }
}
