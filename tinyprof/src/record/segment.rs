//! The memory of one thread's arena: reserved once, committed as it fills, never moved.
//!
//! Everything in it is 64-bit words that are read and written as relaxed atomics, addressed by the number of
//! their 64-byte line. It is not heap memory: growing it allocates nothing that a program could notice.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Bytes of a line, the unit of addressing.
const LINE_BYTES: usize = 64;
/// Words of a line.
pub(super) const LINE_WORDS: usize = LINE_BYTES / 8;
/// Address space of one arena. Reserving costs nothing; it bounds what a thread can ever use. Where address space
/// is limited (`ulimit -v`) it is halved until it fits.
const RESERVED_BYTES_MAX: usize = 256 << 20;
const RESERVED_BYTES_MIN: usize = 1 << 20;
/// What the first growth commits; each further one doubles the whole, to at most [`STEP_BYTES_MAX`] more.
const STEP_BYTES_MIN: usize = 256 << 10;
const STEP_BYTES_MAX: usize = 16 << 20;
/// Blocks have 2^class lines.
const CLASSES: usize = 20;

/// The number of a 64-byte line of a [`Segment`]. Line 0 is never handed out: it stands for "none".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Line(u32);

impl Line {
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn from_number(number: u32) -> Self {
        Self(number)
    }

    pub(super) const fn number(self) -> u32 {
        self.0
    }

    pub(super) fn is_none(self) -> bool {
        self == Self::NONE
    }
}

/// One thread's memory.
#[derive(Debug)]
pub(super) struct Segment {
    base: NonNull<AtomicU64>,
    reserved_bytes: usize,
    committed_bytes: AtomicUsize,
    next_line: AtomicU32,
    /// Blocks that were given back, by class, linked through their first word.
    free: [AtomicU32; CLASSES],
}

// SAFETY: the memory is only ever read and written through atomics, and belongs to the segment until it is
// dropped; the bookkeeping is atomic too and changed by the owning thread alone.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// Reserves address space; none where the system refuses.
    pub(super) fn reserve() -> Option<Self> {
        let sizes = std::iter::successors(Some(RESERVED_BYTES_MAX), |bytes| Some(bytes / 2));
        sizes.take_while(|&bytes| bytes >= RESERVED_BYTES_MIN).find_map(Self::reserve_bytes)
    }

    fn reserve_bytes(reserved_bytes: usize) -> Option<Self> {
        // SAFETY: asks for fresh memory at an address of the kernel's choice; touches nothing that exists.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                reserved_bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let segment = Self {
            base: NonNull::new(base.cast())?,
            reserved_bytes,
            committed_bytes: AtomicUsize::new(0),
            next_line: AtomicU32::new(1),
            free: [const { AtomicU32::new(0) }; CLASSES],
        };
        segment.commit(LINE_BYTES).then_some(segment)
    }

    /// Word `word` counted from the start of `line`.
    ///
    /// The word must lie in a block that [`allocate`](Self::allocate) handed out; who keeps lines keeps this:
    /// nodes and logs store only lines that came from there.
    #[inline]
    pub(super) fn word(&self, line: Line, word: usize) -> &AtomicU64 {
        let index = line.0 as usize * LINE_WORDS + word;
        debug_assert!(!line.is_none() && index * 8 < self.committed_bytes.load(Relaxed));
        // SAFETY: lines come from `allocate`, which hands out committed memory only, and committed memory is
        // never unmapped nor protected again while the segment lives.
        let place = unsafe { self.base.add(index) };
        // SAFETY: the place is aligned (the base is a page, words are 8 bytes), readable, writable and zeroed
        // at first; every access in all threads is atomic.
        unsafe { place.as_ref() }
    }

    /// Whether `words` words from `line` on are memory that can be read: for readers that do not own the arena.
    pub(super) fn contains(&self, line: Line, words: usize) -> bool {
        let end = (line.0 as usize).checked_mul(LINE_WORDS).and_then(|first| first.checked_add(words));
        !line.is_none() && end.is_some_and(|end| end * 8 <= self.committed_bytes.load(Relaxed))
    }

    /// A block of 2^class lines with undefined contents; none where memory has run out. Cold.
    #[cold]
    pub(super) fn allocate(&self, class: u32) -> Option<Line> {
        let list = self.free.get(class as usize)?;
        let head = Line(list.load(Relaxed));
        if !head.is_none() {
            #[expect(clippy::cast_possible_truncation, reason = "`release` stored a line number")]
            list.store(self.word(head, 0).load(Relaxed) as u32, Relaxed);
            return Some(head);
        }
        let line = self.next_line.load(Relaxed);
        let end = line.checked_add(1 << class)?;
        if !self.commit(end as usize * LINE_BYTES) {
            return None;
        }
        self.next_line.store(end, Relaxed);
        Some(Line(line))
    }

    /// Takes back a block of 2^class lines, for the next block of the same size.
    pub(super) fn release(&self, line: Line, class: u32) {
        if let Some(list) = self.free.get(class as usize) {
            self.word(line, 0).store(u64::from(list.load(Relaxed)), Relaxed);
            list.store(line.0, Relaxed);
        }
    }

    /// Makes the first `bytes` bytes usable.
    fn commit(&self, bytes: usize) -> bool {
        let committed = self.committed_bytes.load(Relaxed);
        if bytes <= committed {
            return true;
        }
        let step = committed.clamp(STEP_BYTES_MIN, STEP_BYTES_MAX);
        let wanted = bytes.max(committed + step).next_multiple_of(STEP_BYTES_MIN);
        if wanted > self.reserved_bytes {
            return bytes <= self.reserved_bytes && self.commit_to(self.reserved_bytes);
        }
        self.commit_to(wanted)
    }

    fn commit_to(&self, bytes: usize) -> bool {
        // SAFETY: the range is the start of our own reservation; making it accessible takes nothing from anyone.
        let failed = unsafe {
            libc::mprotect(self.base.as_ptr().cast(), bytes, libc::PROT_READ | libc::PROT_WRITE) != 0
        };
        if !failed {
            self.committed_bytes.store(bytes, Relaxed);
        }
        !failed
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly what `reserve` mapped; no reference into it outlives the segment.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.reserved_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_do_not_overlap_and_come_back() {
        let segment = Segment::reserve().unwrap();
        let a = segment.allocate(0).unwrap();
        let b = segment.allocate(3).unwrap();
        assert_eq!(b.number(), a.number() + 1);
        for word in 0..8 * LINE_WORDS {
            segment.word(b, word).store(7, Relaxed);
        }
        assert_eq!(segment.word(a, 0).load(Relaxed), 0);
        segment.release(b, 3);
        assert_ne!(segment.allocate(2).unwrap(), b);
        assert_eq!(segment.allocate(3).unwrap(), b);
    }

    #[test]
    fn memory_runs_out_without_a_crash() {
        let segment = Segment::reserve_bytes(RESERVED_BYTES_MAX / 2).unwrap();
        let blocks = std::iter::from_fn(|| segment.allocate(19)).count();
        assert!((1..=RESERVED_BYTES_MAX >> 26).contains(&blocks), "{blocks}");
        assert!(segment.allocate(40).is_none());
        assert!(segment.contains(Line(1), 8) && !segment.contains(Line(u32::MAX), 8));
    }
}
