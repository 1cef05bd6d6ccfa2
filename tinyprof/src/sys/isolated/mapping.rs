//! The memory of a worker.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use super::super::signals::with_all_signals_blocked;

/// The size of the inaccessible area below a stack, and the unit for laying out the parts of a
/// mapping.
const GUARD_BYTES: usize = 64 << 10;

/// A guard, a stack, and memory above it, in one mapping.
pub(super) struct Mapping {
    base: *mut c_void,
    stack_bytes: usize,
    bytes: usize,
}

impl Mapping {
    pub(super) fn new(stack_bytes: usize, bytes_above: usize) -> Option<Self> {
        let bytes = GUARD_BYTES + stack_bytes + bytes_above.next_multiple_of(GUARD_BYTES);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: asks for fresh memory at an address of the kernel's choice.
        let base = unsafe { libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: the first part of our own mapping, which nothing uses.
        unsafe { libc::mprotect(base, GUARD_BYTES, libc::PROT_NONE) };
        Some(Self { base, stack_bytes, bytes })
    }

    fn stack(&self) -> *mut c_void {
        self.base.wrapping_byte_add(GUARD_BYTES)
    }

    pub(super) fn above_stack(&self) -> *mut c_void {
        self.stack().wrapping_byte_add(self.stack_bytes)
    }

    /// Starts a thread on the stack. Returns `None` if the system refuses.
    pub(super) fn start(
        &self,
        body: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> Option<libc::pthread_t> {
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        // SAFETY: the place is valid.
        if unsafe { libc::pthread_attr_init(attributes.as_mut_ptr()) } != 0 {
            return None;
        }
        let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
        // SAFETY: the attributes were made above, and the stack is ours and unused.
        let refused = unsafe {
            libc::pthread_attr_setstack(attributes.as_mut_ptr(), self.stack(), self.stack_bytes)
        };
        let made = refused == 0
            && with_all_signals_blocked(|| {
                // SAFETY: the attributes are complete, and `argument` is what `body` expects.
                unsafe {
                    libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), body, argument)
                        == 0
                }
            });
        // SAFETY: they were made above, and are not used again.
        unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
        // SAFETY: the system has written the thread where it made one.
        made.then(|| unsafe { thread.assume_init() })
    }

    pub(super) fn unmap(self) {
        // SAFETY: our own mapping, which no thread uses any more.
        unsafe { libc::munmap(self.base, self.bytes) };
    }
}
