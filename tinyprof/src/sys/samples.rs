//! Samples of a thread's instruction pointer, which the kernel writes into memory that it shares
//! with the process: no signal, and no file that stays open.

use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::sandbox;

/// The system's description of an event, as its first version has it.
#[repr(C)]
#[derive(Debug, Default)]
struct Attributes {
    kind: u32,
    bytes: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    breakpoint_address: u64,
}
const _: () = assert!(size_of::<Attributes>() == 64);

const SOFTWARE: u32 = 1;
/// The thread's processor time, in ns.
const TASK_CLOCK: u64 = 1;
/// Samples consist of the instruction pointer.
const INSTRUCTION: u64 = 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// The kinds of records: a sample, and a number of records that found no room.
const SAMPLE: u64 = 9;
const LOST: u64 = 2;

/// Where the first page has the positions of the kernel and of the reader, in bytes.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// The bytes of a sample's record.
const SAMPLE_BYTES: u64 = 16;

/// The sizes of buffers to try, in pages of data: the system limits what is locked in memory. 16
/// pages hold the samples of 40 s at 100 per second.
const PAGES: [usize; 4] = [16, 4, 2, 1];

/// What the kernel tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sample {
    /// The instruction that the thread was at.
    At(usize),
    /// The number of samples that found no room.
    Lost(u64),
}

/// The reason why a thread is not sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotSampled {
    /// The system makes no event: its error.
    Event(i32),
    /// The system gives no memory that the kernel writes to: its error.
    Memory(i32),
    /// The program has entered a sandbox, in which no question is asked.
    Sandboxed,
}

impl fmt::Display for NotSampled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (error, why) = match *self {
            Self::Event(error @ (libc::EACCES | libc::EPERM)) => (
                error,
                "the system allows no samples (/proc/sys/kernel/perf_event_paranoid above 2, or a \
                 container's filter)",
            ),
            Self::Event(error @ libc::ENOSYS) => (error, "the system has no samples"),
            Self::Event(error) => (error, "the system makes no event"),
            Self::Memory(error @ libc::EPERM) => {
                (error, "samples need more locked memory than /proc/sys/kernel/perf_event_mlock_kb")
            }
            Self::Memory(error) => (error, "the system gives no memory for samples"),
            Self::Sandboxed => return f.write_str("the program is in a sandbox"),
        };
        write!(f, "{why} (error {error})")
    }
}

/// The samples of one thread. It is of this process alone: a child made by `fork` does not have
/// the memory.
#[derive(Debug)]
pub(crate) struct SampleRing {
    base: NonNull<u8>,
    page_bytes: usize,
    data_bytes: usize,
}

impl SampleRing {
    /// Begins to sample the calling thread, each time it has had `period_ns` of processor time. The
    /// time in the kernel is not sampled.
    ///
    /// # Cost
    /// Four system calls.
    pub(crate) fn of_this_thread(period_ns: u64) -> Result<Self, NotSampled> {
        if cfg!(miri) || sandbox::is_entered() {
            return Err(NotSampled::Sandboxed);
        }
        keeping_errno(|| {
            let file = event_of_this_thread(period_ns)?;
            let ring = Self::of_file(file);
            close(file);
            ring
        })
    }

    fn of_file(file: i32) -> Result<Self, NotSampled> {
        // SAFETY: takes no pointer.
        let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page_bytes = usize::try_from(page_bytes).unwrap_or(4096);
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
        base.map(|base| Self { base, page_bytes, data_bytes }).ok_or_else(last_error)
    }

    /// Returns the ring as two words, of which the first is not 0. It stays open until they are
    /// put together again, and that is dropped.
    pub(crate) fn into_words(self) -> (usize, u64) {
        let ring = std::mem::ManuallyDrop::new(self);
        let sizes = (ring.page_bytes as u64) << 32 | ring.data_bytes as u64;
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
        let data_bytes = usize::try_from(sizes & u64::from(u32::MAX)).ok()?;
        Some(Self { base, page_bytes, data_bytes })
    }

    /// Returns whether there are samples that were not taken yet.
    #[inline]
    pub(crate) fn has_more(&self) -> bool {
        self.word(HEAD).load(Relaxed) != self.word(TAIL).load(Relaxed)
    }

    /// Returns the number of samples that were not taken yet. Those that have found no room are
    /// known only when there is room again.
    pub(crate) fn waiting(&self) -> u64 {
        let head = self.word(HEAD).load(Acquire);
        head.saturating_sub(self.word(TAIL).load(Relaxed)) / SAMPLE_BYTES
    }

    /// Takes all samples, and passes each. By one thread at a time.
    pub(crate) fn take(&self, mut each: impl FnMut(Sample)) {
        let head = self.word(HEAD).load(Acquire);
        let mut tail = self.word(TAIL).load(Relaxed);
        while tail < head {
            let header = self.data(tail);
            let bytes = header >> 48;
            if bytes < 8 {
                break;
            }
            match header & u64::from(u32::MAX) {
                SAMPLE if bytes >= SAMPLE_BYTES => {
                    each(Sample::At(usize::try_from(self.data(tail + 8)).unwrap_or(0)));
                }
                // After the event's number.
                LOST if bytes >= 24 => each(Sample::Lost(self.data(tail + 16))),
                _ => {}
            }
            tail += bytes;
        }
        self.word(TAIL).store(head, Release);
    }

    /// Returns the word at a position that only grows: a record may go on at the beginning.
    fn data(&self, position: u64) -> u64 {
        let offset = usize::try_from(position).unwrap_or(0) & (self.data_bytes - 1);
        self.word(self.page_bytes + offset).load(Relaxed)
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        debug_assert!(offset.is_multiple_of(8) && offset < self.page_bytes + self.data_bytes);
        let place = self.base.as_ptr().wrapping_add(offset).cast::<AtomicU64>();
        // SAFETY: inside of the mapping, which is unmapped only when this is dropped.
        unsafe { &*place }
    }
}

impl Drop for SampleRing {
    fn drop(&mut self) {
        let bytes = self.page_bytes + self.data_bytes;
        // SAFETY: our own mapping. The event ends with it, as its file was closed.
        unsafe { libc::munmap(self.base.as_ptr().cast(), bytes) };
    }
}

/// Calls `work`, and has `errno` of the program's thread be what it was.
#[cfg(target_os = "linux")]
fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: takes nothing.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: the place is that of this thread.
    let before = unsafe { *place };
    let done = work();
    // SAFETY: the place is that of this thread.
    unsafe { *place = before };
    done
}

#[cfg(not(target_os = "linux"))]
fn keeping_errno<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Closes the event's file: the memory keeps the event. Not by the library, whose function may end
/// the thread.
#[cfg(target_os = "linux")]
fn close(file: i32) {
    // SAFETY: opened by the caller, and nobody else knows it.
    unsafe { libc::syscall(libc::SYS_close, file) };
}

#[cfg(not(target_os = "linux"))]
fn close(_: i32) {}

#[cfg(not(target_os = "linux"))]
fn event_of_this_thread(_: u64) -> Result<i32, NotSampled> {
    Err(NotSampled::Event(libc::ENOSYS))
}

#[cfg(target_os = "linux")]
fn event_of_this_thread(period_ns: u64) -> Result<i32, NotSampled> {
    let attributes = Attributes {
        kind: SOFTWARE,
        bytes: 64,
        config: TASK_CLOCK,
        period: period_ns,
        sample_type: INSTRUCTION,
        flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR,
        ..Attributes::default()
    };
    let (this_thread, any_processor, no_group) = (0_i32, -1_i32, -1_i32);
    // SAFETY: the attributes have the length that they tell.
    let file = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            this_thread,
            any_processor,
            no_group,
            CLOSE_ON_EXEC,
        )
    };
    let file = i32::try_from(file).unwrap_or(-1);
    if file < 0 { Err(NotSampled::Event(last_error())) } else { Ok(file) }
}

fn last_error() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

#[cfg(test)]
impl SampleRing {
    /// Returns a ring in which no kernel writes, with these records from a position on.
    pub(crate) fn filled(data_bytes: usize, from: u64, records: &[&[u64]]) -> Self {
        let ring = Self::map(-1, 4096, data_bytes).expect("there is memory");
        let mut head = from;
        for word in records.iter().copied().flatten() {
            let offset = usize::try_from(head).expect("64 bits") & (data_bytes - 1);
            ring.word(4096 + offset).store(*word, Relaxed);
            head += 8;
        }
        ring.word(TAIL).store(from, Relaxed);
        ring.word(HEAD).store(head, Relaxed);
        ring
    }

    /// Returns the record of a sample.
    pub(crate) fn sample_at(instruction: usize) -> [u64; 2] {
        [SAMPLE_BYTES << 48 | SAMPLE, instruction as u64]
    }

    /// Returns the record of samples without room.
    pub(crate) fn lost(number: u64) -> [u64; 3] {
        [24 << 48 | LOST, 1, number]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_is_sampled_where_it_works() {
        let errno = last_error();
        let ring = match SampleRing::of_this_thread(100_000) {
            Ok(ring) => ring,
            Err(why) => return eprintln!("not tested: {why}"),
        };
        assert!(SampleRing::of_this_thread(1 << 63).is_err(), "no such period");
        assert_eq!(last_error(), errno, "it is the program's");
        let (base, sizes) = ring.into_words();
        // SAFETY: they are those of the ring.
        let ring = unsafe { SampleRing::from_words(base, sizes) }.unwrap();
        let mut count = 0;
        while count < 10 {
            for number in 0..100_000_u64 {
                std::hint::black_box(number);
            }
            ring.take(|sample| {
                assert_ne!(sample, Sample::At(0));
                count += 1;
            });
        }
        assert!(ring.waiting() < 10);
    }

    fn taken(ring: &SampleRing) -> Vec<Sample> {
        let mut found = Vec::new();
        ring.take(|sample| found.push(sample));
        found
    }

    #[test]
    fn records_may_go_on_at_the_beginning_and_those_without_room_are_counted() {
        let (at, next) = (SampleRing::sample_at(11), SampleRing::sample_at(12));
        let (lost, unknown) = (SampleRing::lost(5), [16 << 48 | 99, 7]);
        for from in [0, 40, 48, 56, 1 << 40 | 56] {
            let ring = SampleRing::filled(64, from, &[&at, &lost, &unknown]);
            assert!(ring.has_more());
            assert_eq!(taken(&ring), [Sample::At(11), Sample::Lost(5)], "from {from}");
            assert!(!ring.has_more() && taken(&ring).is_empty());
            let ring = SampleRing::filled(64, from, &[&at, &next, &lost]);
            assert_eq!(ring.waiting(), 3, "by their bytes");
            assert_eq!(taken(&ring), [Sample::At(11), Sample::At(12), Sample::Lost(5)]);
        }
    }

    #[test]
    fn a_record_without_length_ends_what_is_taken() {
        let ring = SampleRing::filled(64, 0, &[&[SAMPLE, 1], &SampleRing::sample_at(2)]);
        assert_eq!(taken(&ring), []);
        assert!(!ring.has_more());
    }
}
