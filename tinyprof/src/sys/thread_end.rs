//! A handler for the end of threads.

use std::ffi::c_void;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The key, with an extra bit that is set if there is one.
static KEY: AtomicU64 = AtomicU64::new(0);
const IS_THERE: u64 = 1 << 32;

/// Calls `handler` when a thread ends for which [`at_thread_end`] was called, with the argument
/// given there. Once per process.
///
/// It uses a key of the system, and not a destructor of Rust's thread-local variables: registering
/// such a destructor allocates, and ends the program if there is no memory. The handler runs after
/// those destructors.
pub(crate) fn handle_thread_ends(handler: unsafe extern "C" fn(*mut c_void)) {
    let mut key = 0;
    // SAFETY: the place is valid, and the handler is a function of the program.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(handler)) } == 0 {
        KEY.store(IS_THERE | u64::from(key), Release);
    }
}

/// Makes the handler run with `what` when this thread ends. Without memory for that, it does not
/// run.
pub(crate) fn at_thread_end(what: &'static impl Sync) {
    let key = KEY.load(Acquire);
    if key & IS_THERE != 0 {
        let key = libc::pthread_key_t::try_from(key & !IS_THERE).unwrap_or_default();
        // SAFETY: the key was made by `handle_thread_ends`.
        unsafe { libc::pthread_setspecific(key, std::ptr::from_ref(what).cast()) };
    }
}
