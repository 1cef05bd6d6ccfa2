//! The words that a thread uses in each visit, in pages that the kernel wipes in a child process.
//!
//! A child that shares its parent's files, because `clone` made it without the handlers of `fork`,
//! therefore finds no region open and no callpath known. Its first visit is then not the usual
//! case, and the code for that case notices the new process.

use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};

use crate::sys::pages;

/// The number of sites made at run time that are cached with the callpath of their last visit.
pub(super) const RUN_TIME_SITES: usize = 128;

/// The number of message records that are cached, by a hash of what they count. A power of two.
pub(super) const MESSAGES: usize = 256;

/// The number of edge records that are cached, by a hash of callpath and key. A power of two.
pub(super) const EDGES: usize = 256;

/// The number of callpaths whose ids are cached, by their lines. A power of two.
const IDS: usize = 256;

/// The number of calls of MPI that are cached, by a hash of their place. A power of two.
pub(super) const CALLS: usize = 256;

/// The number of messages that are remembered, by a hash of callpath and signature. A power of two.
const LAST_MESSAGES: usize = 128;

/// The cache entry of a site whose visits are not recorded. It is the parent of no entry, because
/// no record has that number.
pub(super) const FILTERED: u64 = i32::MAX as u64;

/// The named words, before those for each site.
#[repr(C, align(64))]
struct Named {
    /// The node of the innermost open region; 0 outside of all regions.
    current: AtomicU32,
    /// Not 0 in the process that made it.
    of_this_process: AtomicU32,
    /// Not 0 if this thread's flush points are watched.
    watched: AtomicU32,
    /// Of the wrappers of MPI's functions.
    call: AtomicUsize,
    /// The cost of the visits that were timed, in units.
    cost: AtomicU64,
    /// Room for the status of a call.
    status: [AtomicU64; 4],
    /// The memory with samples of this thread, 0 if there is none or it is in use, and its sizes.
    samples: AtomicUsize,
    sample_sizes: AtomicU64,
    run_time_cache: [AtomicU64; RUN_TIME_SITES],
    message_cache: [AtomicU32; MESSAGES],
    call_cache: [CachedCall; CALLS],
    last_messages: [LastMessage; LAST_MESSAGES],
    edge_cache: [AtomicU32; EDGES],
    ids: [CachedId; IDS],
}

/// The id of a callpath.
#[repr(C)]
pub(super) struct CachedId {
    /// The line of the callpath; 0 if the entry is empty.
    pub(super) callpath: AtomicU64,
    pub(super) id: AtomicU64,
}

/// A call of MPI from a place in the program, with the callpath of its last visit.
#[repr(C)]
pub(super) struct CachedCall {
    /// The key of function and place; 0 if the entry is empty.
    pub(super) key: AtomicU64,
    /// The parent, and the callpath.
    pub(super) callpath: AtomicU64,
}

/// A message like which another may come.
#[repr(C)]
pub(super) struct LastMessage {
    /// The callpath; 0 if the entry is empty.
    pub(super) callpath: AtomicU32,
    /// The record that it was added to; 0 if it is not counted.
    pub(super) record: AtomicU32,
    pub(super) bytes: AtomicU64,
    /// What the caller says that tells it from others.
    pub(super) signature: [AtomicU64; 4],
}

/// Memory of one arena beside its segment.
#[derive(Debug)]
pub(super) struct Hot {
    named: NonNull<Named>,
    sites: usize,
}

// SAFETY: the memory is only ever read and written through atomics, and is valid until the process
// ends.
unsafe impl Send for Hot {}
// SAFETY: the memory is only ever read and written through atomics, and is valid until the process
// ends.
unsafe impl Sync for Hot {}

impl Hot {
    /// Returns the words for `sites` sites of the executable, or `None` if the system gives no
    /// memory.
    pub(super) fn new(sites: usize) -> Option<Self> {
        let bytes = size_of::<Named>() + (sites + sites.div_ceil(64)) * size_of::<AtomicU64>();
        let hot = Self { named: pages(bytes, true)?.cast(), sites };
        hot.begin();
        Some(hot)
    }

    #[inline]
    fn named(&self) -> &Named {
        // SAFETY: `new` has made room for them, in zeroed pages that are never unmapped.
        unsafe { self.named.as_ref() }
    }

    #[inline]
    pub(super) fn current(&self) -> &AtomicU32 {
        &self.named().current
    }

    /// Returns the first word of the memory with samples; 0 if there is none, or somebody has it.
    #[inline(always)]
    pub(super) fn samples(&self) -> &AtomicUsize {
        &self.named().samples
    }

    /// Returns its second word; 0 if there is none.
    pub(super) fn sample_sizes(&self) -> &AtomicU64 {
        &self.named().sample_sizes
    }

    #[inline]
    pub(super) fn watched(&self) -> &AtomicU32 {
        &self.named().watched
    }

    /// Returns the cost of all visits that were timed, in units of which a usual one takes
    /// [`VISIT_UNITS`](super::VISIT_UNITS). The thread alone counts them.
    #[inline(always)]
    pub(super) fn cost(&self) -> &AtomicU64 {
        &self.named().cost
    }

    /// Returns the word that the wrappers of MPI's functions keep; at first 0.
    #[inline]
    pub(super) fn call(&self) -> &AtomicUsize {
        &self.named().call
    }

    /// Returns the address of 32 bytes for the status of a call.
    #[inline]
    pub(super) fn status(&self) -> usize {
        self.named().status.as_ptr().expose_provenance()
    }

    /// Returns the last (parent, child) for each of the first sites made at run time.
    pub(super) fn run_time_cache(&self) -> &[AtomicU64] {
        &self.named().run_time_cache
    }

    /// Returns the entry for calls with this key.
    #[inline]
    pub(super) fn cached_call(&self, key: u64) -> &CachedCall {
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        &self.named().call_cache[mixed as usize % CALLS]
    }

    /// Returns the lines of message records that were changed lately.
    #[inline]
    pub(super) fn message_cache(&self) -> &[AtomicU32; MESSAGES] {
        &self.named().message_cache
    }

    /// Returns the entry for messages of a callpath with this signature.
    #[inline]
    pub(super) fn last_message(&self, callpath: u32, signature: &[u64; 4]) -> &LastMessage {
        let word = u64::from(callpath) ^ signature[1] ^ signature[2];
        let mixed = word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        &self.named().last_messages[mixed as usize % LAST_MESSAGES]
    }

    /// Returns the lines of edge records that were changed lately.
    #[inline]
    pub(super) fn edge_cache(&self) -> &[AtomicU32; EDGES] {
        &self.named().edge_cache
    }

    /// Returns the entry for the id of the callpath at this line. Nodes are two lines apart.
    #[inline]
    pub(super) fn cached_id(&self, callpath: u32) -> &CachedId {
        &self.named().ids[callpath as usize / 2 % IDS]
    }

    /// Returns the last (parent, child) for each site of the executable, which answers all but the
    /// first look-ups.
    #[inline]
    pub(super) fn cache(&self) -> &[AtomicU64] {
        self.words(0, self.sites)
    }

    /// Returns the cache entry of the site with this index, or 0 if there is none.
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

    /// Returns one bit for each site of the executable, set if the segment describes it.
    pub(super) fn described(&self) -> &[AtomicU64] {
        self.words(self.sites, self.sites.div_ceil(64))
    }

    #[inline]
    fn words(&self, first: usize, count: usize) -> &[AtomicU64] {
        let place = self.named.as_ptr().wrapping_add(1).cast::<AtomicU64>().wrapping_add(first);
        // SAFETY: they follow the named words, `new` has made room for all of them, and zeros are
        // values of atomics.
        unsafe { std::slice::from_raw_parts(place, count) }
    }

    /// Returns whether the kernel has wiped the words, because this is a child of the process that
    /// made them.
    pub(super) fn is_of_a_child(&self) -> bool {
        self.named().of_this_process.load(Relaxed) == 0
    }

    /// Marks the words as those of this process.
    pub(super) fn begin(&self) {
        self.named().of_this_process.store(1, Relaxed);
    }

    /// Forgets under which callpath regions and calls were found.
    pub(super) fn forget_callpaths(&self) {
        let words = self.run_time_cache().iter().chain(self.cache());
        words.for_each(|word| word.store(0, Relaxed));
        self.named().call_cache.iter().for_each(|call| call.key.store(0, Relaxed));
    }

    /// Clears everything but the flag for watched flush points.
    pub(super) fn clear(&self) {
        // The memory is the parent's.
        self.samples().store(0, Relaxed);
        self.sample_sizes().store(0, Relaxed);
        self.current().store(0, Relaxed);
        let words = self.run_time_cache().iter().chain(self.cache()).chain(self.described());
        words.for_each(|word| word.store(0, Relaxed));
        self.message_cache().iter().for_each(|word| word.store(0, Relaxed));
        self.named().call_cache.iter().for_each(|call| call.key.store(0, Relaxed));
        self.named().last_messages.iter().for_each(|last| last.callpath.store(0, Relaxed));
        self.edge_cache().iter().for_each(|word| word.store(0, Relaxed));
        self.named().ids.iter().for_each(|cached| cached.callpath.store(0, Relaxed));
    }
}

impl Drop for Hot {
    fn drop(&mut self) {
        let bytes =
            size_of::<Named>() + (self.sites + self.sites.div_ceil(64)) * size_of::<AtomicU64>();
        crate::sys::unmap(self.named.cast(), bytes);
    }
}
