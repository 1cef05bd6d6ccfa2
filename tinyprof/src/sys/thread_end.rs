//! What happens when a thread ends.

use std::ffi::c_void;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The key, and a bit beside it that says that there is one.
static KEY: AtomicU64 = AtomicU64::new(0);
const IS_THERE: u64 = 1 << 32;

/// Has `handler` called when a thread ends for which [`at_thread_end`] was, with what was given
/// there. Once a process.
///
/// A key of the system's is used, and not a destructor of Rust's thread-local variables:
/// registering one of those allocates, and ends the program where there is no memory. It runs after
/// them.
pub(crate) fn handle_thread_ends(handler: unsafe extern "C" fn(*mut c_void)) {
    let mut key = 0;
    // SAFETY: the place is valid, and the handler is a function of the program.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(handler)) } == 0 {
        KEY.store(IS_THERE | u64::from(key), Release);
    }
}

/// Has the handler called with `what` when this thread ends. Without memory for that, it is not
/// called.
pub(crate) fn at_thread_end(what: &'static impl Sync) {
    let key = KEY.load(Acquire);
    if key & IS_THERE != 0 {
        let key = libc::pthread_key_t::try_from(key & !IS_THERE).unwrap_or_default();
        // SAFETY: the key was made by `handle_thread_ends`.
        unsafe { libc::pthread_setspecific(key, std::ptr::from_ref(what).cast()) };
    }
}
