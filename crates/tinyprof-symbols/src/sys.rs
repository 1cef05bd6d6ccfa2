//! The calls without a safe form: mapping a file.

use std::fs::File;
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
