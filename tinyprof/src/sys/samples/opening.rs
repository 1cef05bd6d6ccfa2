//! How samples of a thread begin: events, and the memory that they and we write to.

use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;

use super::kernel::{
    Attributes, COUNTERS, EventName, NO_GROUP, NotSampled, READ, READ_GROUP, clock_event,
    clock_with_kernel, close, counter_event, event, keeping_errno, last_error, map_at, page_bytes,
};
use super::{Kind, PERIOD_NS, SampleRing};
use crate::sys::sandbox;

/// The sizes of buffers to try, in pages of data: the system limits what is locked in memory. 16
/// pages hold the samples of 27 s at 100 per second, or 9 s with counters.
const PAGES: [usize; 4] = [16, 4, 2, 1];

impl SampleRing {
    /// Begins to sample the calling thread, each time it has had `period_ns` of processor time:
    /// where the system allows it, in the kernel, too.
    ///
    /// # Cost
    /// Nine system calls, and two more if the kernel is not to be seen.
    pub(crate) fn of_this_thread(period_ns: u64) -> Result<Self, NotSampled> {
        Self::of_thread(0, period_ns)
    }

    /// Begins to sample a thread of this process; the calling one if the number is 0.
    pub(crate) fn of_thread(thread: u32, period_ns: u64) -> Result<Self, NotSampled> {
        Self::with_counters(thread, period_ns, COUNTERS)
    }

    pub(super) fn with_counters(
        thread: u32,
        period_ns: u64,
        counters: [EventName; COUNTERS.len()],
    ) -> Result<Self, NotSampled> {
        if cfg!(miri) || sandbox::is_entered() {
            return Err(NotSampled::Sandboxed);
        }
        let with = |clock| Self::with_clock(thread, clock, counters);
        keeping_errno(|| {
            let ring = clock_with_kernel(period_ns).and_then(|clock| with(clock).ok());
            ring.map_or_else(|| with(clock_event(period_ns)), Ok)
        })
    }

    /// Begins to sample by a clock, with counters if there are some, and memory for them.
    pub(super) fn with_clock(
        thread: u32,
        clock: Attributes,
        counters: [EventName; COUNTERS.len()],
    ) -> Result<Self, NotSampled> {
        let sample_type = clock.sample_type | READ;
        let group = Attributes { sample_type, read_format: READ_GROUP, ..clock };
        if let Ok(leader) = event(thread, &group, NO_GROUP) {
            let files =
                counters.map(|name| event(thread, &counter_event(name), leader).unwrap_or(-1));
            let ring = if files.iter().all(|file| *file >= 0) {
                Self::of_files(leader, &files, &group).ok()
            } else {
                None
            };
            files.into_iter().chain([leader]).filter(|file| *file >= 0).for_each(close);
            if let Some(ring) = ring {
                return Ok(ring);
            }
        }
        let file = event(thread, &clock, NO_GROUP)?;
        let ring = Self::of_files(file, &[], &clock);
        close(file);
        ring
    }

    /// Maps a clock and its counters into one piece of memory.
    fn of_files(leader: i32, counters: &[i32], clock: &Attributes) -> Result<Self, NotSampled> {
        let page_bytes = page_bytes();
        let has_kernel = clock.sees_kernel();
        let kind = Kind { has_counters: !counters.is_empty(), has_kernel };
        let mut error = 0;
        for pages in PAGES {
            let data_bytes = pages * page_bytes;
            let ring = Self::blank(page_bytes, data_bytes, kind).map_err(NotSampled::Memory)?;
            match ring.map_events(leader, counters) {
                Ok(()) => {
                    ring.own(PERIOD_NS).store(clock.period, Relaxed);
                    return Ok(ring);
                }
                Err(code) => error = code,
            }
        }
        Err(NotSampled::Memory(error))
    }

    fn map_events(&self, leader: i32, counters: &[i32]) -> Result<(), i32> {
        let page_bytes = self.page_bytes;
        let of_leader = page_bytes + self.data_bytes;
        let behind = (0..).map(|page| (of_leader + page * page_bytes, page_bytes));
        let places = [(0, of_leader)].into_iter().chain(behind);
        for (&file, (offset, bytes)) in [leader].iter().chain(counters).zip(places) {
            if !map_at(file, self.base.as_ptr().wrapping_add(offset), bytes) {
                return Err(last_error());
            }
        }
        Ok(())
    }

    /// Returns memory without an event, or the system's error.
    pub(super) fn blank(page_bytes: usize, data_bytes: usize, kind: Kind) -> Result<Self, i32> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let sharing = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let ring = Self { base: NonNull::dangling(), page_bytes, data_bytes, kind };
        let ring = std::mem::ManuallyDrop::new(ring);
        let (nowhere, bytes) = (std::ptr::null_mut(), ring.bytes());
        // SAFETY: asks for memory at an address of the kernel's choice.
        let base = unsafe { libc::mmap(nowhere, bytes, access, sharing, -1, 0) };
        let base = if base == libc::MAP_FAILED { None } else { NonNull::new(base.cast()) };
        base.map(|base| Self { base, ..*ring }).ok_or_else(last_error)
    }
}
