//! The calls without a safe form: mapping a file, and the user of this process.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use memmap2::{Mmap, MmapMut, MmapOptions};

/// Maps an executable or library, or returns `None` if it cannot be read.
pub(crate) fn map(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    // SAFETY: programs and libraries are not written to while they run, but replaced. A page that
    // is missing nevertheless raises SIGBUS, which ends the thread that writes the profile alone.
    unsafe { Mmap::map(&file) }.ok()
}

/// Maps an executable or library so that it can be changed in memory alone, or returns `None` if it
/// cannot be read, or the process may have no more memory of its own.
pub(crate) fn map_copy(path: &Path) -> Option<MmapMut> {
    let file = File::open(path).ok()?;
    // SAFETY: as `map`. The file stays as it is: pages that are written are copied before.
    unsafe { MmapOptions::new().map_copy(&file) }.ok()
}

/// Opens a file that others may have put there: without following a link, and without waiting for
/// somebody who writes to it.
pub(crate) fn open_as_is(path: &Path) -> Option<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .ok()
}

/// Returns the user that this process acts as.
pub(crate) fn user() -> u32 {
    // SAFETY: always succeeds.
    unsafe { libc::geteuid() }
}
