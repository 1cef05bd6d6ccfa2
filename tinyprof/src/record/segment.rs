//! The memory of one thread's arena: reserved once, committed as it fills, never moved.
//!
//! It is mapped from a file, so that it survives the process, or is anonymous if no file can be
//! made.
//!
//! All of it is 64-bit words, read and written as relaxed atomics and addressed by the number of
//! their 64-byte line. It is not heap memory: growing it makes no allocation that a program could
//! notice.

use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use tinyprof_segment::layout::{HEADER_LINES, LINE_BYTES, LINE_WORDS, SEGMENT_BYTES_MAX, header};
use tinyprof_segment::words::{Line, low};
use tinyprof_settings::EVENTS_BYTES_MAX;

use super::reentrancy::ReentrancyGuard;
use crate::sys::{SegmentFile, address_space_bytes, has_mpi, refuse_segment, sandbox, undisturbed};

/// The address space of one arena. Reserving costs nothing; the size bounds what a thread can ever
/// use. If address space is limited (`ulimit -v`), it is a part of that, as the program needs the
/// rest, and is halved until it fits.
///
/// Miri cannot commit memory later: it gets little, and all of it at once.
const RESERVED_BYTES_MAX: usize = if cfg!(miri) { 4 << 20 } else { 256 << 20 };
const RESERVED_BYTES_MIN: usize = 1 << 20;
/// Of the limit, each segment gets one of these parts; the first one in a file, of a program
/// without MPI, which itself needs much, one of the others.
const PARTS_OF_LIMIT: u64 = 64;
const PARTS_OF_LIMIT_ALONE: u64 = 2;
const RESERVED_ACCESS: libc::c_int =
    if cfg!(miri) { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
const RESERVED_FLAGS: libc::c_int = if cfg!(miri) { 0 } else { libc::MAP_NORESERVE };
const _: () = assert!(RESERVED_BYTES_MAX as u64 <= SEGMENT_BYTES_MAX);
/// The size of the first commit. Each further one doubles the total, by at most [`STEP_BYTES_MAX`].
const STEP_BYTES_MIN: usize = 256 << 10;
const STEP_BYTES_MAX: usize = 16 << 20;
/// The number of block sizes: blocks have 2^class lines. The largest is for events.
const CLASSES: usize = 22;
const _: () = assert!((LINE_BYTES as u64) << (CLASSES - 1) >= EVENTS_BYTES_MAX);

/// One thread's memory.
#[derive(Debug)]
pub(super) struct Segment {
    base: NonNull<AtomicU64>,
    reserved_bytes: usize,
    committed_bytes: AtomicUsize,
    next_line: AtomicU32,
    /// Released blocks, by class, linked through their first word.
    free: [AtomicU32; CLASSES],
    file: Option<SegmentFile>,
    /// Guards the changes of the allocator.
    reentrancy: ReentrancyGuard,
    /// Set while all committed memory is in the file.
    mapped: AtomicBool,
}

// SAFETY: the memory is only ever read and written through atomics, and belongs to the segment
// until it is dropped; the bookkeeping is atomic too and changed by the owning thread alone.
unsafe impl Send for Segment {}
// SAFETY: the memory is only ever read and written through atomics, and belongs to the segment
// until it is dropped; the bookkeeping is atomic too and changed by the owning thread alone.
unsafe impl Sync for Segment {}

impl Segment {
    /// Reserves address space, or returns `None` if the system refuses.
    pub(super) fn reserve() -> Option<Self> {
        let segment = Self::reserve_what_fits(PARTS_OF_LIMIT)?;
        segment.commit(HEADER_LINES as usize * LINE_BYTES).then_some(segment)
    }

    /// Reserves address space for the contents of the new and empty `file`, or returns `None` if
    /// there is none.
    pub(super) fn reserve_in(file: SegmentFile) -> Option<Self> {
        static IS_FIRST: AtomicBool = AtomicBool::new(true);
        let is_alone = IS_FIRST.swap(false, Relaxed) && !has_mpi();
        let parts = if is_alone { PARTS_OF_LIMIT_ALONE } else { PARTS_OF_LIMIT };
        let Some(mut segment) = Self::reserve_what_fits(parts) else {
            file.remove();
            return None;
        };
        segment.file = Some(file);
        segment.mapped.store(true, Relaxed);
        if segment.map_to(STEP_BYTES_MIN) {
            return Some(segment);
        }
        segment.remove_file();
        None
    }

    /// Reserves as much as fits, and at most one of these parts of the limit. A loop and not an
    /// iterator, which would move segments over a stack that may be small.
    fn reserve_what_fits(parts_of_limit: u64) -> Option<Self> {
        let part = usize::try_from(address_space_bytes() / parts_of_limit).unwrap_or(usize::MAX);
        let mut bytes = RESERVED_BYTES_MAX;
        while bytes > part && bytes > RESERVED_BYTES_MIN {
            bytes /= 2;
        }
        while bytes >= RESERVED_BYTES_MIN {
            if let Some(segment) = Self::reserve_bytes(bytes) {
                return Some(segment);
            }
            bytes /= 2;
        }
        None
    }

    fn reserve_bytes(reserved_bytes: usize) -> Option<Self> {
        // SAFETY: asks for fresh memory at an address of the kernel's choice; touches nothing that
        // exists.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                reserved_bytes,
                RESERVED_ACCESS,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | RESERVED_FLAGS,
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
            next_line: AtomicU32::new(HEADER_LINES),
            free: [const { AtomicU32::new(0) }; CLASSES],
            file: None,
            reentrancy: ReentrancyGuard::new(),
            mapped: AtomicBool::new(false),
        };
        Some(segment)
    }

    /// Returns word `word` of the header.
    pub(super) fn header(&self, word: usize) -> &AtomicU64 {
        &self.header_words()[word]
    }

    /// Returns the words of the header.
    pub(super) fn header_words(&self) -> &[AtomicU64; header::WORDS] {
        // SAFETY: the header's lines are the first, and were committed when the segment was made;
        // every access in all threads is atomic.
        unsafe { self.base.cast().as_ref() }
    }

    /// Returns `true` to a signal handler that has interrupted an allocation of its thread.
    pub(super) fn is_being_changed(&self) -> bool {
        self.reentrancy.is_held()
    }

    /// Returns whether all of it is in a file.
    pub(super) fn is_mapped(&self) -> bool {
        self.mapped.load(Relaxed)
    }

    /// Returns word `word`, counted from the start of `line`. Any thread.
    ///
    /// # Safety
    /// * The word must be in a block that [`allocate`](Self::allocate) of this segment handed out.
    #[inline]
    pub(super) unsafe fn word(&self, line: Line, word: usize) -> &AtomicU64 {
        let index = line.first_word() + word;
        debug_assert!(!line.is_none() && index * 8 < self.committed_bytes.load(Relaxed));
        // SAFETY: `allocate` hands out committed memory only, and committed memory is never
        // unmapped nor protected again while the segment lives.
        let place = unsafe { self.base.add(index) };
        // SAFETY: the place is aligned (the base is a page, words are 8 bytes), readable, writable
        // and zeroed at first; every access in all threads is atomic.
        unsafe { place.as_ref() }
    }

    /// Returns the record of `N` words that begins at word `word`, counted from the start of
    /// `line`. Any thread.
    ///
    /// A record is looked up once and not word by word: otherwise the compiler would have to reload
    /// the base between two stores, because a store might have changed it.
    ///
    /// # Safety
    /// * All of its words must be in a block that [`allocate`](Self::allocate) of this segment
    ///   handed out.
    #[inline]
    pub(super) unsafe fn record<const N: usize>(&self, line: Line, word: usize) -> &[AtomicU64; N] {
        let index = line.first_word() + word;
        debug_assert!(!line.is_none() && (index + N) * 8 <= self.committed_bytes.load(Relaxed));
        // SAFETY: as in `word`: the record lies in a block that `allocate` handed out.
        let place = unsafe { self.base.add(index) };
        // SAFETY: as in `word`, for each of the words.
        unsafe { place.cast().as_ref() }
    }

    /// Returns the line that contains `word`.
    pub(super) fn line_of(&self, word: &AtomicU64) -> Line {
        let bytes = std::ptr::from_ref(word).addr() - self.base.addr().get();
        // A segment never has more lines than a `u32` can count.
        Line::from_number(u32::try_from(bytes / LINE_BYTES).unwrap_or(0))
    }

    /// Returns `count` words that begin at word `word` of `line`. Any thread.
    ///
    /// # Safety
    /// * All of them must be in a block that [`allocate`](Self::allocate) of this segment handed
    ///   out.
    #[inline]
    pub(super) unsafe fn words(&self, line: Line, word: usize, count: usize) -> &[AtomicU64] {
        let index = line.first_word() + word;
        debug_assert!(!line.is_none() && (index + count) * 8 <= self.committed_bytes.load(Relaxed));
        // SAFETY: as in `word`: the record lies in a block that `allocate` handed out.
        let place = unsafe { self.base.add(index) };
        // SAFETY: as in `word`, for each of the words.
        unsafe { std::slice::from_raw_parts(place.as_ptr(), count) }
    }

    /// Returns whether `words` words from `line` on are readable memory, for readers that do not
    /// own the arena.
    pub(super) fn contains(&self, line: Line, words: usize) -> bool {
        let end = line.first_word().saturating_add(words);
        !line.is_none() && end <= self.committed_bytes.load(Relaxed) / 8
    }

    /// Returns a block of 2^class lines with undefined contents. Returns `None` if memory has run
    /// out, or if a signal handler asks while its thread is in this function. Cold.
    #[cold]
    pub(super) fn allocate(&self, class: u32) -> Option<Line> {
        self.reentrancy.change(|| self.take(class))?
    }

    /// Returns a block like [`allocate`](Self::allocate), and its words, which are zero.
    pub(super) fn allocate_zeroed(&self, class: u32) -> Option<(Line, &[AtomicU64])> {
        let line = self.allocate(class)?;
        // SAFETY: `allocate` has just handed out the block, which has that many words.
        let words = unsafe { self.words(line, 0, LINE_WORDS << class) };
        words.iter().for_each(|word| word.store(0, Relaxed));
        Some((line, words))
    }

    fn take(&self, class: u32) -> Option<Line> {
        let list = self.free.get(class as usize)?;
        let head = Line::from_number(list.load(Relaxed));
        if !head.is_none() {
            // SAFETY: the lines in the list are those of blocks that came back.
            let next = unsafe { self.word(head, 0) };
            list.store(low(next.load(Relaxed)), Relaxed);
            return Some(head);
        }
        let line = self.next_line.load(Relaxed);
        let end = line.checked_add(1 << class)?;
        if !self.commit(end as usize * LINE_BYTES) {
            return None;
        }
        self.next_line.store(end, Relaxed);
        Some(Line::from_number(line))
    }

    /// Takes back a block of 2^class lines, for the next block of the same size. A block that a
    /// signal handler releases while its thread is changing the allocator is never used again.
    ///
    /// # Safety
    /// * [`allocate`](Self::allocate) of this segment must have handed out the block, for the same
    ///   class.
    /// * It must not come back twice.
    pub(super) unsafe fn release(&self, line: Line, class: u32) {
        self.reentrancy.change(|| {
            if let Some(list) = self.free.get(class as usize) {
                // SAFETY: the caller has the block from `allocate`.
                let first = unsafe { self.word(line, 0) };
                first.store(u64::from(list.load(Relaxed)), Relaxed);
                list.store(line.number(), Relaxed);
            }
        });
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
        if sandbox::is_entered() {
            // No system call of ours is worth the risk that it ends the program.
            return false;
        }
        if self.mapped.load(Relaxed) {
            if undisturbed(|| self.map_to(bytes)) {
                return true;
            }
            // The file has no room. From here on memory is anonymous, and its contents die with the
            // process.
            self.mapped.store(false, Relaxed);
            self.header(header::NOT_MAPPED).fetch_add(1, Relaxed);
        }
        // SAFETY: the range is the start of our own reservation; making it accessible takes nothing
        // from anyone.
        let failed = !cfg!(miri)
            && unsafe {
                libc::mprotect(self.base.as_ptr().cast(), bytes, libc::PROT_READ | libc::PROT_WRITE)
                    != 0
            };
        if !failed {
            self.committed_bytes.store(bytes, Relaxed);
        }
        !failed
    }

    /// Extends the file to `bytes` bytes, and maps the new part.
    fn map_to(&self, bytes: usize) -> bool {
        let committed = self.committed_bytes.load(Relaxed);
        // The file itself keeps the reason if it cannot.
        let grown = self.file.as_ref().and_then(|file| file.grow(committed, bytes).ok());
        let (Some(file), Ok(offset)) = (grown, libc::off_t::try_from(committed)) else {
            return false;
        };
        // SAFETY: the new range begins where the committed memory ends, inside of our own
        // reservation.
        let place = unsafe { self.base.byte_add(committed) };
        // SAFETY: replaces a part of our own reservation that nothing has accessed yet. The file
        // has its blocks, so that no access can fail for want of room.
        let mapped = unsafe {
            libc::mmap(
                place.as_ptr().cast(),
                bytes - committed,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_FIXED,
                file.as_raw_fd(),
                offset,
            )
        };
        if mapped == libc::MAP_FAILED {
            refuse_segment((&io::Error::last_os_error()).into());
            return false;
        }
        self.committed_bytes.store(bytes, Relaxed);
        true
    }

    /// Detaches from the file without changing it, in a child made by `fork`. From then on the
    /// memory is the child's own, and zero. Calls nothing that a child of a multi-threaded program
    /// may not call.
    pub(super) fn part_from_file(&self) {
        if self.file.is_none() {
            return;
        }
        self.mapped.store(false, Relaxed);
        // SAFETY: replaces our own reservation; references into it stay valid, as it stays readable
        // below.
        let place = unsafe {
            libc::mmap(
                self.base.as_ptr().cast(),
                self.reserved_bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED,
                -1,
                0,
            )
        };
        if place != libc::MAP_FAILED {
            self.commit_to(self.committed_bytes.load(Relaxed));
            self.free.iter().for_each(|list| list.store(0, Relaxed));
        }
    }

    /// Removes the file but keeps the memory.
    pub(super) fn remove_file(&self) {
        if let Some(file) = &self.file {
            file.remove();
        }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly what `reserve` mapped; no reference into it outlives the segment.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.reserved_bytes) };
    }
}

#[cfg(test)]
mod tests;
