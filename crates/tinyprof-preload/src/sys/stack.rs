//! Room for the profiler on the stacks of the program's threads.
//!
//! A thread that calls MPI on a stack of 16 KiB leaves no room for what is recorded around the
//! call, nor for the handler of a sample. Such a stack is made larger; the memory is only used if
//! it is needed.

use std::mem::MaybeUninit;
use std::ptr;

/// The room that is added to a small stack, in bytes: several times what was measured.
const ROOM_BYTES: usize = 256 << 10;
/// Stacks of this size, in bytes, are not made larger: programs that choose no size have more.
const ENOUGH_BYTES: usize = 1 << 20;

/// Returns the attributes of a thread with more room on its stack; `None` if it needs no more, or
/// the program has the memory for it.
///
/// They are not to be destroyed: they share sets with those of the program.
///
/// # Safety
/// * `attributes` are valid, or null for those of threads for which nothing is chosen.
pub(super) unsafe fn with_room(
    attributes: *const libc::pthread_attr_t,
) -> Option<libc::pthread_attr_t> {
    let mut own = MaybeUninit::<libc::pthread_attr_t>::uninit();
    if attributes.is_null() {
        // SAFETY: the place is valid.
        if unsafe { libc::pthread_attr_init(own.as_mut_ptr()) } != 0 {
            return None;
        }
    } else {
        // SAFETY: as the caller says. `pthread_create` reads attributes, and changes none.
        own.write(unsafe { attributes.read() });
    }
    // SAFETY: written above.
    let mut own = unsafe { own.assume_init() };
    let (mut lowest, mut bytes) = (ptr::null_mut(), 0);
    // SAFETY: the attributes and both places are valid.
    let refused =
        unsafe { libc::pthread_attr_getstack(&raw const own, &raw mut lowest, &raw mut bytes) };
    // Where none is chosen, the stack ends at 0, or there is no answer.
    if refused == 0 && lowest.addr().wrapping_add(bytes) != 0 {
        return None;
    }
    // SAFETY: the attributes and the place are valid.
    let refused = unsafe { libc::pthread_attr_getstacksize(&raw const own, &raw mut bytes) };
    if refused != 0 || bytes >= ENOUGH_BYTES {
        return None;
    }
    // SAFETY: the attributes are valid.
    let refused = unsafe { libc::pthread_attr_setstacksize(&raw mut own, bytes + ROOM_BYTES) };
    (refused == 0).then_some(own)
}
