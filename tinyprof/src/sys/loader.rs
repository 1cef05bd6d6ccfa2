//! Whether the dynamic loader has called this thread's code, and may hold its lock meanwhile.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use super::loaded::LoadedObject;

/// The number of frames that are looked at: constructors and destructors are close to what they
/// call.
const FRAMES: usize = 256;

/// The frames of this thread, as far as they were looked at.
struct Walk {
    /// Where the loader is in memory.
    loader: usize,
    frames: usize,
    is_found: bool,
}

/// Returns whether this thread runs a constructor or destructor of a library.
///
/// `dlopen` and `dlclose` hold the loader's lock while these run. A thread that waits there for
/// another one, which needs the lock (as each does that has thread-local variables with
/// destructors), waits for ever.
pub(super) fn has_called() -> bool {
    // SAFETY: takes a number. Where there is no loader, it returns zero.
    let loader = usize::try_from(unsafe { libc::getauxval(libc::AT_BASE) }).unwrap_or(0);
    if loader == 0 {
        return false;
    }
    let mut walk = Walk { loader, frames: 0, is_found: false };
    // SAFETY: the callback matches the signature, and the walk outlives the call.
    unsafe { _Unwind_Backtrace(look, (&raw mut walk).cast()) };
    walk.is_found
}

/// Returns the bytes that are left of this thread's stack, 0 if that is not known.
pub(super) fn stack_left_bytes() -> usize {
    let here = 0_u8;
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: takes nothing, and cannot fail.
    let this_thread = unsafe { libc::pthread_self() };
    // SAFETY: the place is valid, and a thread may ask for itself.
    if unsafe { libc::pthread_getattr_np(this_thread, attributes.as_mut_ptr()) } != 0 {
        return 0;
    }
    let (mut lowest, mut bytes) = (ptr::null_mut(), 0);
    // SAFETY: the attributes were made above, and the places are valid.
    let refused = unsafe {
        libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut lowest, &raw mut bytes)
    };
    // SAFETY: the attributes were made above, and are not used any more.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    if refused == 0 { ptr::from_ref(&here).addr().saturating_sub(lowest.addr()) } else { 0 }
}

unsafe extern "C" {
    /// Calls `look` for each frame of this thread, from the innermost on, until it returns another
    /// code than zero. Provided by the library by which Rust unwinds.
    fn _Unwind_Backtrace(
        look: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        walk: *mut c_void,
    ) -> c_int;
    /// Returns where a frame goes on.
    fn _Unwind_GetIP(frame: *mut c_void) -> usize;
}

/// Checks one frame; stops the walk when there is no need for more.
unsafe extern "C" fn look(frame: *mut c_void, walk: *mut c_void) -> c_int {
    /// The code for the end of a stack, one of those that stop the walk.
    const END_OF_STACK: c_int = 5;
    // SAFETY: `has_called` passes its walk, which nobody else uses meanwhile.
    let walk = unsafe { &mut *walk.cast::<Walk>() };
    // SAFETY: the unwinder passes a frame.
    let address = unsafe { _Unwind_GetIP(frame) };
    walk.frames += 1;
    walk.is_found =
        LoadedObject::of(address).is_some_and(|object| object.is_loaded_at(walk.loader));
    if walk.is_found || walk.frames == FRAMES { END_OF_STACK } else { 0 }
}
