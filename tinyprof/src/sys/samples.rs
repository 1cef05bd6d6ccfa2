//! Samples of a thread's instruction pointer, which the kernel writes into memory that it shares
//! with the process: no signal, and no file that stays open.

mod kernel;
mod opening;

use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use tinyprof_segment::words::low;

use kernel::COUNTERS;
pub(crate) use kernel::NotSampled;

/// The kinds of records: a sample, a number of records that found no room, the end of a thread, and
/// the beginning of one.
const SAMPLE: u64 = 9;
const LOST: u64 = 2;
const EXIT: u64 = 4;
const FORK: u64 = 7;

/// Where the first page has the positions of the kernel and of the reader, in bytes.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// The bits of a record's first word that say where the thread was, and their value if that was in
/// the kernel.
const MODE: u64 = 7 << 32;
const KERNEL: u64 = 1 << 32;

/// The words of what was read with a sample: the samples' clock in ns; with counters the number of
/// events, for how long they were wanted and counted (both in ns), the clock, cycles, instructions.
const CLOCK_WORDS: u64 = 1;
const GROUP_WORDS: u64 = 6;

/// What the kernel tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    /// The instruction that the thread was at, and what was counted since the sample before.
    At(usize, Option<Counted>),
    /// As [`At`](Self::At), while the thread was in the kernel.
    InKernel(usize, Option<Counted>),
    /// The number of samples that the system did not take, as the thread was in the kernel.
    Unseen(u64),
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
/// page of positions | data, a power of two of pages | with counters: cycles  instructions | ours
/// ```
///
/// The pages of cycles and instructions keep these events open. Ours has what was read last.
#[derive(Debug)]
pub(crate) struct SampleRing {
    base: NonNull<u8>,
    page_bytes: usize,
    data_bytes: usize,
    kind: Kind,
}

/// What samples consist of: with the kernel `[what was read of counters] set of registers,
/// instruction`, otherwise `instruction, what was read`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    has_counters: bool,
    has_kernel: bool,
}

/// Bits in the words of a ring, beside the bytes of its data, which are pages.
const WITH_COUNTERS: u64 = 1;
const WITH_KERNEL: u64 = 2;

/// Words of our own page: the time for which the group was wanted and did not count, of which no
/// sample was told yet, and what it had counted; the samples' clock, and the records since then
/// that found no room.
const MISSED_NS: usize = 0;
const MISSED_SEEN_NS: usize = 8;
const LAST_CYCLES: usize = 16;
const LAST_INSTRUCTIONS: usize = 24;
const PERIOD_NS: usize = 32;
const LAST_PERIODS: usize = 40;
const LOST_SINCE: usize = 48;

impl SampleRing {
    /// Returns the ring as two words, of which the first is not 0. It stays open until they are
    /// put together again, and that is dropped.
    pub(crate) fn into_words(self) -> (usize, u64) {
        let ring = std::mem::ManuallyDrop::new(self);
        let counters = if ring.kind.has_counters { WITH_COUNTERS } else { 0 };
        let kernel = if ring.kind.has_kernel { WITH_KERNEL } else { 0 };
        let sizes = (ring.page_bytes as u64) << 32 | ring.data_bytes as u64 | counters | kernel;
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
        let data = sizes & u64::from(u32::MAX) & !WITH_COUNTERS & !WITH_KERNEL;
        let data_bytes = usize::try_from(data).ok()?;
        let kind =
            Kind { has_counters: sizes & WITH_COUNTERS != 0, has_kernel: sizes & WITH_KERNEL != 0 };
        Some(Self { base, page_bytes, data_bytes, kind })
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
            SAMPLE => self.take_sample(position, bytes, &mut each),
            // After the event's number.
            LOST if bytes >= 24 => {
                let number = self.data(position + 16);
                self.own(LOST_SINCE).fetch_add(number, Relaxed);
                each(Sample::Lost(number));
            }
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
        let Kind { has_counters, has_kernel } = self.kind;
        let word = |index: u64| self.data(position + 8 * (1 + index));
        let is_whole = |words: u64| bytes >= 8 * (1 + words);
        // Registers are missing of a thread that has no memory any more.
        let (instruction, read) = match (has_kernel, has_counters) {
            (true, true) => (GROUP_WORDS + 1, 0),
            (true, false) => (1, 2),
            (false, _) => (0, 1),
        };
        let instruction = if is_whole(instruction + 1) { word(instruction) } else { 0 };
        let instruction = usize::try_from(instruction).unwrap_or(0);
        let counted = (has_counters && is_whole(read + GROUP_WORDS)).then(|| {
            self.tell_missed(word(read + 1).saturating_sub(word(read + 2)), each);
            Counted {
                cycles: self.since(LAST_CYCLES, word(read + 4)),
                instructions: self.since(LAST_INSTRUCTIONS, word(read + 5)),
            }
        });
        let clock = if has_counters { read + GROUP_WORDS / 2 } else { read };
        if !has_kernel && is_whole(clock + CLOCK_WORDS) {
            self.tell_unseen(word(clock), each);
        }
        let is_in_kernel = self.data(position) & MODE == KERNEL;
        let sample = if is_in_kernel { Sample::InKernel } else { Sample::At };
        each(sample(instruction, counted));
    }

    /// Returns what is new of a number that only grows.
    fn since(&self, last: usize, now: u64) -> u64 {
        now.saturating_sub(self.own(last).swap(now, Relaxed))
    }

    /// Tells of samples that were not taken while others had the processor's counters: then the
    /// group rests.
    fn tell_missed(&self, missed_ns: u64, each: &mut impl FnMut(Sample)) {
        let period_ns = self.period_ns();
        let missed_ns = self.since(MISSED_SEEN_NS, missed_ns) + self.own(MISSED_NS).load(Relaxed);
        self.own(MISSED_NS).store(missed_ns % period_ns, Relaxed);
        if missed_ns >= period_ns {
            each(Sample::Lost(missed_ns / period_ns));
        }
    }

    /// Tells of samples that were due before this one and were not taken, though the clock went on:
    /// the thread was in the kernel then. Those that found no room are told already.
    fn tell_unseen(&self, clock_ns: u64, each: &mut impl FnMut(Sample)) {
        let told = self.own(LOST_SINCE).swap(0, Relaxed) + 1;
        let periods = self.since(LAST_PERIODS, clock_ns / self.period_ns());
        if periods > told {
            each(Sample::Unseen(periods - told));
        }
    }

    fn period_ns(&self) -> u64 {
        self.own(PERIOD_NS).load(Relaxed).max(1)
    }

    /// Returns the word at a position that only grows: a record may go on at the beginning.
    fn data(&self, position: u64) -> u64 {
        let offset = usize::try_from(position).unwrap_or(0) & (self.data_bytes - 1);
        self.word(self.page_bytes + offset).load(Relaxed)
    }

    /// Returns a word of our own page.
    fn own(&self, offset: usize) -> &AtomicU64 {
        self.word(self.bytes() - self.page_bytes + offset)
    }

    const fn bytes(&self) -> usize {
        let counters = if self.kind.has_counters { COUNTERS.len() } else { 0 };
        self.data_bytes + (counters + 2) * self.page_bytes
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
