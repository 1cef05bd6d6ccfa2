//! The words of a file that another process has mapped and writes to.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::AtomicU64;

use super::bus_error::Guarded;

/// The words of a file that another process has mapped and writes to.
///
/// The recorder makes such files longer, and removes them, which leaves the memory in place. But
/// any process of the user may shorten one: what is beyond its new end then reads as 0.
///
/// Small reads would be safe without a guard. But a system call takes longer than many visits, so
/// that a record of a busy region would have changed whenever its counter is read again.
#[derive(Debug)]
pub(crate) struct SharedWords {
    start: ptr::NonNull<AtomicU64>,
    words: usize,
    guarded: Guarded,
}

impl SharedWords {
    /// Maps the whole words of `file` at its current length. Waits until no other thread has such a
    /// mapping.
    ///
    /// # Errors
    /// If it is empty, or the system cannot map it.
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        Self::mapped(file, usize::MAX, libc::PROT_READ)
    }

    /// Maps the first words of `file`, at most `words`, also for writing; `file` must be open for
    /// that. Waits until no other thread has such a mapping.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub(crate) fn to_write(file: &File, words: usize) -> io::Result<Self> {
        Self::mapped(file, words, libc::PROT_READ | libc::PROT_WRITE)
    }

    fn mapped(file: &File, words_max: usize, access: libc::c_int) -> io::Result<Self> {
        let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let words = (bytes / size_of::<AtomicU64>()).min(words_max);
        if words == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // SAFETY: maps the open file at an address of the system's choice.
        let place = unsafe {
            libc::mmap(ptr::null_mut(), words * 8, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if place == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start: ptr::NonNull<AtomicU64> =
            ptr::NonNull::new(place.cast()).ok_or(io::ErrorKind::InvalidData)?;
        let guarded = Guarded::new(start.addr().get(), words * 8);
        Ok(Self { start, words, guarded })
    }

    /// Returns the words. Of those that were mapped for reading, only loads are allowed.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has this length, is aligned to a page, and is unmapped with `self`;
        // all access is atomic. Pages beyond the end of the file are replaced when they are read.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }

    /// Returns `true` if words were read that are beyond the end of the file.
    pub(crate) fn has_shrunk(&self) -> bool {
        self.guarded.has_faulted()
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this start and length, and no reference to it is left.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.words * 8) };
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn words_beyond_the_end_of_a_file_that_was_shortened_read_as_0() {
        let mut file = tempfile::tempfile().expect("a temporary file");
        let word = 7_u64.to_ne_bytes();
        file.write_all(&word.repeat(1 << 16)).expect("it is written");
        let shared = SharedWords::of(&file).expect("it is mapped");
        let sum = || shared.words().iter().map(|word| word.load(Relaxed)).sum::<u64>();
        assert_eq!((sum(), shared.has_shrunk()), (7 << 16, false));
        let page = super::super::bus_error::page_bytes() as u64;
        file.set_len(page).expect("it is ours");
        assert_eq!((sum(), shared.has_shrunk()), (7 * page / 8, true));
        // The next file has a guard of its own.
        drop(shared);
        let next = SharedWords::of(&file).expect("it is mapped");
        assert!(!next.has_shrunk());
        file.set_len(0).expect("it is ours");
        assert_eq!((next.words()[0].load(Relaxed), next.has_shrunk()), (0, true));
        assert!(SharedWords::of(&file).is_err(), "it is empty");
    }
}
