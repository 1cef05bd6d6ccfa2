//! Memory that a program shares with processes that read it after its death.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr;
use std::sync::atomic::AtomicU64;

/// Maps a file as words that all its users share. The mapping stays until [`unmap`].
///
/// # Errors
/// When the file cannot be opened or mapped.
pub fn shared_words(path: &Path) -> io::Result<&'static [AtomicU64]> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let words =
        usize::try_from(file.metadata()?.len()).map_err(io::Error::other)? / size_of::<AtomicU64>();
    let bytes = words * size_of::<AtomicU64>();
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: maps the file at an address of the system's choice.
    let place = unsafe {
        libc::mmap(ptr::null_mut(), bytes, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    if place == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping is as long as this, page-aligned, and all access to it is atomic.
    Ok(unsafe { std::slice::from_raw_parts(place.cast(), words) })
}

/// Removes a mapping of [`shared_words`]. The caller must not use any copy of it afterwards.
pub fn unmap(words: &'static [AtomicU64]) {
    // SAFETY: this is a whole mapping that `shared_words` made.
    unsafe { libc::munmap(words.as_ptr().cast_mut().cast(), size_of_val(words)) };
}
