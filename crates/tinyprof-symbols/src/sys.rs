//! The one call without a safe form: mapping a file.

use std::fs::File;
use std::path::Path;

use memmap2::Mmap;

/// Maps an executable or library, or returns `None` if it cannot be read.
pub(crate) fn map(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    // SAFETY: programs and libraries are not written to while they run, but replaced. A page that
    // is missing nevertheless raises SIGBUS, which ends the thread that writes the profile alone.
    unsafe { Mmap::map(&file) }.ok()
}
