//! Numbers in a file that several processes have mapped.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

/// The first numbers of a file, shared with all processes that have it mapped. The mapping outlives
/// the file's name.
#[derive(Debug)]
pub(crate) struct SharedWords {
    start: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: the mapping is of the whole process, and only this value unmaps it.
unsafe impl Send for SharedWords {}
// SAFETY: its numbers are atomic.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// Maps the first `words` numbers. Those that the file does not have yet are zero.
    ///
    /// # Errors
    /// If there is no room for them, on the disk or in memory.
    pub(crate) fn map(file: &File, words: usize) -> io::Result<Self> {
        let bytes = words * size_of::<AtomicU64>();
        let length = libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::FileTooLarge)?;
        // Without this, touching a hole of the file on a full disk would raise SIGBUS. SAFETY: the
        // file is open.
        let refused = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) };
        if refused != 0 {
            return Err(io::Error::from_raw_os_error(refused));
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of an open file, at an address that the system chooses, replaces
        // nothing.
        let start = unsafe {
            libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, words })
    }
}

impl Deref for SharedWords {
    type Target = [AtomicU64];

    fn deref(&self) -> &[AtomicU64] {
        // SAFETY: the mapping starts at a page, has this length, and lives as long as this value.
        // Zero is a value of the type, and all processes that have the file change its numbers as
        // atomics.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.words) }
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing borrows from it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.words * size_of::<AtomicU64>()) };
    }
}
