//! Memory from the system, not from the heap: getting it makes no allocation that a program could
//! notice, and a failure does not end the program.

use std::ptr::NonNull;

use super::sandbox;

/// Returns zeroed memory, which is valid until it is passed to [`unmap`], or `None` if there is no
/// memory.
///
/// With `wiped_in_children`, a child of this process made by `fork`, or by `clone` without shared
/// memory, finds zeros there, if the kernel can do that (Linux 4.14). In a sandbox there is no
/// memory.
///
/// # Cost
/// A system call or two, and whole pages.
pub(crate) fn pages(bytes: usize, wiped_in_children: bool) -> Option<NonNull<u8>> {
    if sandbox::is_entered() {
        return None;
    }
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: asks for fresh memory at an address of the kernel's choice.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes.max(1), access, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return None;
    }
    if wiped_in_children && !cfg!(miri) {
        // An older kernel refuses. Then only children of `fork` are noticed, by a handler.
        // SAFETY: our own mapping.
        unsafe { libc::madvise(base, bytes, libc::MADV_WIPEONFORK) };
    }
    NonNull::new(base.cast())
}

/// Memory for a value that is valid until the process ends.
#[derive(Debug)]
pub(crate) struct Room<T>(NonNull<T>);

impl<T: Sync> Room<T> {
    /// Returns the memory, or `None` if there is none.
    pub(crate) fn new() -> Option<Self> {
        // Pages begin at addresses that are aligned for all of our types.
        const { assert!(align_of::<T>() <= 4096) };
        pages(size_of::<T>(), false).map(|place| Self(place.cast()))
    }

    /// Writes the value there.
    pub(crate) fn fill(self, value: T) -> &'static T {
        // SAFETY: fresh memory, large enough and aligned.
        unsafe { self.0.write(value) };
        // SAFETY: just written, and never unmapped.
        unsafe { self.0.as_ref() }
    }
}

/// Releases memory from [`pages`].
pub(crate) fn unmap(base: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller has it from `pages` and does not use it any more.
    unsafe { libc::munmap(base.as_ptr().cast(), bytes.max(1)) };
}
