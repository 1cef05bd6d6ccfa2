//! Memory of the system's, not of the heap: making it allocates nothing that a program could
//! notice, and fails without ending anything.

use std::ptr::NonNull;

/// Zeroed memory, until it is given to [`unmap`].
///
/// With `wiped_in_children` a child of this process, made by `fork` or by `clone` without shared
/// memory, finds zeros there, where the kernel can do that (Linux 4.14). None where there is no
/// memory.
///
/// # Cost
/// A system call or two, and whole pages.
pub(crate) fn pages(bytes: usize, wiped_in_children: bool) -> Option<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: asks for fresh memory at an address of the kernel's choice.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes.max(1), access, flags, -1, 0) };
    if base == libc::MAP_FAILED {
        return None;
    }
    if wiped_in_children && !cfg!(miri) {
        // An older kernel refuses: then only children of `fork` are noticed, by a handler.
        // SAFETY: our own mapping.
        unsafe { libc::madvise(base, bytes, libc::MADV_WIPEONFORK) };
    }
    NonNull::new(base.cast())
}

/// Memory for a value that stays as long as the process.
#[derive(Debug)]
pub(crate) struct Room<T>(NonNull<T>);

impl<T: Sync> Room<T> {
    /// None where there is no memory.
    pub(crate) fn new() -> Option<Self> {
        // Pages begin at addresses that suit every type of ours.
        const { assert!(align_of::<T>() <= 4096) };
        pages(size_of::<T>(), false).map(|place| Self(place.cast()))
    }

    /// Puts the value there.
    pub(crate) fn fill(self, value: T) -> &'static T {
        // SAFETY: fresh memory, large enough and aligned.
        unsafe { self.0.write(value) };
        // SAFETY: just written, and never unmapped.
        unsafe { self.0.as_ref() }
    }
}

/// Gives back what [`pages`] has given.
pub(crate) fn unmap(base: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller has it from `pages` and does not use it any more.
    unsafe { libc::munmap(base.as_ptr().cast(), bytes.max(1)) };
}
