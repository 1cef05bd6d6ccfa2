//! Samples of a thread's instruction pointer, which the kernel writes into memory that it shares
//! with the process: no signal, and no file that stays open.

mod kernel;

use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use tinyprof_segment::words::low;

use super::sandbox;
pub(crate) use kernel::NotSampled;
use kernel::{
    Attributes, COUNTERS, EventName, INSTRUCTION, NO_GROUP, READ, READ_GROUP, clock_event, close,
    counter_event, event, keeping_errno, last_error, map_at, page_bytes,
};

/// The kinds of records: a sample, a number of records that found no room, the end of a thread, and
/// the beginning of one.
const SAMPLE: u64 = 9;
const LOST: u64 = 2;
const EXIT: u64 = 4;
const FORK: u64 = 7;

/// Where the first page has the positions of the kernel and of the reader, in bytes.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// The bytes of a sample's record, without and with counters: instruction; number, wanted, counted
/// (both in ns), samples' clock, cycles, instructions.
const SAMPLE_BYTES: u64 = 16;
const COUNTED_BYTES: u64 = 64;

/// The sizes of buffers to try, in pages of data: the system limits what is locked in memory. 16
/// pages hold the samples of 40 s at 100 per second, or 10 s with counters.
const PAGES: [usize; 4] = [16, 4, 2, 1];

/// The pages behind the data, if there are counters: two that keep their events, and our own.
const COUNTER_PAGES: usize = COUNTERS.len() + 1;

/// What the kernel tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    /// The instruction that the thread was at, and what was counted since the sample before.
    At(usize, Option<Counted>),
    /// The number of samples that found no room, or that were not taken.
    Lost(u64),
    /// The thread has made another one of this process, with this number.
    Made(u32),
    /// The thread has ended.
    Ended,
}

/// What the processor has counted for a thread, outside of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) cycles: u64,
    pub(crate) instructions: u64,
}

/// The samples of one thread. It is of this process alone: a child made by `fork` does not have
/// the memory.
///
/// ```text
/// page of positions | data, a power of two of pages | with counters: cycles  instructions  ours
/// ```
///
/// The pages of cycles and instructions keep these events open. Ours has what was read last.
#[derive(Debug)]
pub(crate) struct SampleRing {
    base: NonNull<u8>,
    page_bytes: usize,
    data_bytes: usize,
    has_counters: bool,
}

/// A bit in the words of a ring, beside the bytes of its data, which are pages.
const WITH_COUNTERS: u64 = 1;

/// Words of our own page: the time for which the group was wanted and did not count, of which no
/// sample was told yet, and what it had counted.
const MISSED_NS: usize = 0;
const MISSED_SEEN_NS: usize = 8;
const LAST_CYCLES: usize = 16;
const LAST_INSTRUCTIONS: usize = 24;
const PERIOD_NS: usize = 32;

impl SampleRing {
    /// Begins to sample the calling thread, each time it has had `period_ns` of processor time. The
    /// time in the kernel is not sampled.
    ///
    /// # Cost
    /// Six system calls, and as many for counters.
    pub(crate) fn of_this_thread(period_ns: u64) -> Result<Self, NotSampled> {
        Self::of_thread(0, period_ns)
    }

    /// Begins to sample a thread of this process; the calling one if the number is 0.
    pub(crate) fn of_thread(thread: u32, period_ns: u64) -> Result<Self, NotSampled> {
        Self::with_counters(thread, period_ns, COUNTERS)
    }

    fn with_counters(
        thread: u32,
        period_ns: u64,
        counters: [EventName; COUNTERS.len()],
    ) -> Result<Self, NotSampled> {
        if cfg!(miri) || sandbox::is_entered() {
            return Err(NotSampled::Sandboxed);
        }
        keeping_errno(|| {
            if let Some(ring) = Self::counting(thread, period_ns, counters) {
                return Ok(ring);
            }
            let file = event(thread, &clock_event(period_ns), NO_GROUP)?;
            let ring = Self::of_file(file);
            close(file);
            ring
        })
    }

    /// Begins with counters; none if there are none, or no memory.
    fn counting(thread: u32, period_ns: u64, counters: [EventName; 2]) -> Option<Self> {
        let clock = clock_event(period_ns);
        let clock =
            Attributes { sample_type: INSTRUCTION | READ, read_format: READ_GROUP, ..clock };
        let leader = event(thread, &clock, NO_GROUP).ok()?;
        let files = counters.map(|name| event(thread, &counter_event(name), leader).unwrap_or(-1));
        let ring = if files.iter().all(|file| *file >= 0) {
            Self::of_group(leader, files, period_ns)
        } else {
            None
        };
        files.into_iter().chain([leader]).filter(|file| *file >= 0).for_each(close);
        ring
    }

    fn of_group(leader: i32, files: [i32; 2], period_ns: u64) -> Option<Self> {
        let page_bytes = page_bytes();
        let of_pages =
            |pages: usize| Self::map_group(leader, files, page_bytes, pages * page_bytes);
        let ring = PAGES.into_iter().find_map(of_pages)?;
        ring.own(PERIOD_NS).store(period_ns, Relaxed);
        Some(ring)
    }

    /// Maps a group into one piece of memory.
    fn map_group(
        leader: i32,
        files: [i32; 2],
        page_bytes: usize,
        data_bytes: usize,
    ) -> Option<Self> {
        let bytes = page_bytes + data_bytes;
        let all = Self::map(-1, page_bytes, data_bytes + COUNTER_PAGES * page_bytes).ok()?;
        // What is dropped unmaps all of it.
        let ring = Self { data_bytes, has_counters: true, ..*std::mem::ManuallyDrop::new(all) };
        let places = [(leader, 0, bytes), (files[0], bytes, page_bytes)];
        let places = places.into_iter().chain([(files[1], bytes + page_bytes, page_bytes)]);
        let mut is_whole = true;
        for (file, offset, bytes) in places {
            is_whole = is_whole && map_at(file, ring.base.as_ptr().wrapping_add(offset), bytes);
        }
        is_whole.then_some(ring)
    }

    fn of_file(file: i32) -> Result<Self, NotSampled> {
        let page_bytes = page_bytes();
        let mut error = NotSampled::Memory(0);
        for pages in PAGES {
            match Self::map(file, page_bytes, pages * page_bytes) {
                Ok(ring) => return Ok(ring),
                Err(code) => error = NotSampled::Memory(code),
            }
        }
        Err(error)
    }

    fn map(file: i32, page_bytes: usize, data_bytes: usize) -> Result<Self, i32> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = if file < 0 { libc::MAP_SHARED | libc::MAP_ANONYMOUS } else { libc::MAP_SHARED };
        let (nowhere, bytes) = (std::ptr::null_mut(), page_bytes + data_bytes);
        // SAFETY: asks for memory at an address of the kernel's choice.
        let base = unsafe { libc::mmap(nowhere, bytes, access, kind, file, 0) };
        let base = if base == libc::MAP_FAILED { None } else { NonNull::new(base.cast()) };
        let has_counters = false;
        base.map(|base| Self { base, page_bytes, data_bytes, has_counters }).ok_or_else(last_error)
    }

    /// Returns the ring as two words, of which the first is not 0. It stays open until they are
    /// put together again, and that is dropped.
    pub(crate) fn into_words(self) -> (usize, u64) {
        let ring = std::mem::ManuallyDrop::new(self);
        let counters = if ring.has_counters { WITH_COUNTERS } else { 0 };
        let sizes = (ring.page_bytes as u64) << 32 | ring.data_bytes as u64 | counters;
        (ring.base.as_ptr().expose_provenance(), sizes)
    }

    /// Returns the ring of these words; none if the first is 0.
    ///
    /// # Safety
    /// They are those of [`into_words`](Self::into_words), in the same process, and of no other
    /// ring that is going to be dropped.
    pub(crate) unsafe fn from_words(base: usize, sizes: u64) -> Option<Self> {
        let base = NonNull::new(std::ptr::with_exposed_provenance_mut(base))?;
        let page_bytes = usize::try_from(sizes >> 32).ok()?;
        let data_bytes = usize::try_from(sizes & u64::from(u32::MAX) & !WITH_COUNTERS).ok()?;
        let has_counters = sizes & WITH_COUNTERS != 0;
        Some(Self { base, page_bytes, data_bytes, has_counters })
    }

    /// Returns whether there are samples that were not taken yet.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        self.word(HEAD).load(Relaxed) != self.word(TAIL).load(Relaxed)
    }

    /// Returns the number of samples that were not taken yet. Those that have found no room are
    /// known only when there is room again.
    pub(crate) fn waiting(&self) -> u64 {
        let mut samples = 0;
        self.each_record(|kind, _, _| samples += u64::from(kind == SAMPLE));
        samples
    }

    /// Returns whether the thread has ended, as far as that was not taken yet.
    pub(crate) fn has_ended(&self) -> bool {
        let mut has_ended = false;
        self.each_record(|kind, _, _| has_ended |= kind == EXIT);
        has_ended
    }

    /// Takes all samples, and passes each. By one thread at a time.
    pub(crate) fn take(&self, mut each: impl FnMut(Sample)) {
        let head = self.each_record(|kind, position, bytes| match kind {
            SAMPLE if bytes >= SAMPLE_BYTES => self.take_sample(position, bytes, &mut each),
            // After the event's number.
            LOST if bytes >= 24 => each(Sample::Lost(self.data(position + 16))),
            FORK if bytes >= 24 => {
                // Process and its parent, then thread and the one that has made it.
                let (process, thread) =
                    (low(self.data(position + 8)), low(self.data(position + 16)));
                if process == std::process::id() {
                    each(Sample::Made(thread));
                }
            }
            EXIT => each(Sample::Ended),
            _ => {}
        });
        self.word(TAIL).store(head, Release);
    }

    /// Passes the records that were not taken: kind, position and bytes. Returns the position
    /// behind them.
    fn each_record(&self, mut each: impl FnMut(u64, u64, u64)) -> u64 {
        let head = self.word(HEAD).load(Acquire);
        let mut at = self.word(TAIL).load(Relaxed);
        while at < head {
            let header = self.data(at);
            let bytes = header >> 48;
            if bytes < 8 {
                break;
            }
            each(header & u64::from(u32::MAX), at, bytes);
            at += bytes;
        }
        head
    }

    fn take_sample(&self, position: u64, bytes: u64, each: &mut impl FnMut(Sample)) {
        let instruction = usize::try_from(self.data(position + 8)).unwrap_or(0);
        if !self.has_counters || bytes < COUNTED_BYTES {
            return each(Sample::At(instruction, None));
        }
        let read = |word: u64| self.data(position + 16 + 8 * word);
        let (wanted_ns, counted_ns, cycles, instructions) = (read(1), read(2), read(4), read(5));
        let since = |last: usize, now: u64| now.saturating_sub(self.own(last).swap(now, Relaxed));
        let counted = Counted {
            cycles: since(LAST_CYCLES, cycles),
            instructions: since(LAST_INSTRUCTIONS, instructions),
        };
        // While others have the processor's counters, the group rests, and so do the samples.
        let missed_ns = since(MISSED_SEEN_NS, wanted_ns.saturating_sub(counted_ns));
        let missed_ns = missed_ns + self.own(MISSED_NS).load(Relaxed);
        let period_ns = self.own(PERIOD_NS).load(Relaxed).max(1);
        self.own(MISSED_NS).store(missed_ns % period_ns, Relaxed);
        if missed_ns >= period_ns {
            each(Sample::Lost(missed_ns / period_ns));
        }
        each(Sample::At(instruction, Some(counted)));
    }

    /// Returns the word at a position that only grows: a record may go on at the beginning.
    fn data(&self, position: u64) -> u64 {
        let offset = usize::try_from(position).unwrap_or(0) & (self.data_bytes - 1);
        self.word(self.page_bytes + offset).load(Relaxed)
    }

    /// Returns a word of our own page, which is there if there are counters.
    fn own(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(self.has_counters);
        self.word(self.bytes() - self.page_bytes + offset)
    }

    const fn bytes(&self) -> usize {
        let counters = if self.has_counters { COUNTER_PAGES * self.page_bytes } else { 0 };
        self.page_bytes + self.data_bytes + counters
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset < self.bytes());
        let place = self.base.as_ptr().wrapping_add(offset).cast::<AtomicU64>();
        // SAFETY: inside of the mapping, which is unmapped only when this is dropped.
        unsafe { &*place }
    }
}

impl Drop for SampleRing {
    fn drop(&mut self) {
        // SAFETY: our own mapping. The event ends with it, as its file was closed.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.bytes()) };
    }
}

#[cfg(test)]
mod tests;
