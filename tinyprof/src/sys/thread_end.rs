//! A handler for the end of threads.

use std::ffi::c_void;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};

/// The end of threads, with a handler.
///
/// It uses a key of the system, and not a destructor of Rust's thread-local variables: registering
/// such a destructor allocates, and ends the program if there is no memory. The handler runs after
/// those destructors.
#[derive(Debug)]
pub(crate) struct ThreadEnd {
    /// The key, with an extra bit that is set if there is one.
    key: AtomicU64,
}

const IS_THERE: u64 = 1 << 32;

impl ThreadEnd {
    pub(crate) const fn new() -> Self {
        Self { key: AtomicU64::new(0) }
    }

    /// Calls `handler` when a thread ends for which
    /// [`call_for_this_thread`](Self::call_for_this_thread) was called, with the argument given
    /// there. Once per process.
    pub(crate) fn handle(&self, handler: unsafe extern "C" fn(*mut c_void)) {
        let mut key = 0;
        // SAFETY: the place is valid, and the handler is a function of the program.
        if unsafe { libc::pthread_key_create(&raw mut key, Some(handler)) } == 0 {
            self.key.store(IS_THERE | u64::from(key), Release);
        }
    }

    /// Makes the handler run with `what` when this thread ends, and returns whether it will: it
    /// needs memory.
    pub(crate) fn call_for_this_thread(&self, what: &'static impl Sync) -> bool {
        // SAFETY: the key was made by `handle`.
        self.key().is_some_and(|key| unsafe {
            libc::pthread_setspecific(key, std::ptr::from_ref(what).cast()) == 0
        })
    }

    /// Returns what the handler would be called with when this thread ends. It is not called then.
    pub(crate) fn take_of_this_thread(&self) -> Option<*mut c_void> {
        let key = self.key()?;
        // SAFETY: the key was made by `handle`.
        let what = unsafe { libc::pthread_getspecific(key) };
        if what.is_null() {
            return None;
        }
        // SAFETY: the key was made by `handle`.
        unsafe { libc::pthread_setspecific(key, std::ptr::null()) };
        Some(what)
    }

    fn key(&self) -> Option<libc::pthread_key_t> {
        let key = self.key.load(Acquire);
        let number = libc::pthread_key_t::try_from(key & !IS_THERE).ok();
        number.filter(|_| key & IS_THERE != 0)
    }
}
