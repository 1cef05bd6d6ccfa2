//! The end of the process.

use std::ffi::{c_int, c_void};
use std::ptr;

/// Calls `handler` after `main` has returned or `exit` was called. The handler must not unwind.
///
/// If there is no room for it, the handler is not called, and nothing else changes.
pub(crate) fn at_exit(handler: extern "C" fn()) {
    // SAFETY: a function of the program lives as long as the program, and this one takes nothing.
    unsafe { libc::atexit(handler) };
}

/// Calls `handler` after `main` has returned or `exit` was called, and, if this is called before the
/// program begins, after the destructors of all libraries. The handler must not unwind.
///
/// If there is no room for it, the handler is not called, and nothing else changes.
///
/// # Safety
/// * The code of this crate stays in memory until the process ends: it is not in a library that the
///   program may close.
pub(crate) unsafe fn after_all(handler: unsafe extern "C" fn(*mut c_void)) {
    // SAFETY: the caller says that the handler stays. No library is named as its owner, as the
    // loader would call it when that one is destroyed, before others.
    unsafe { __cxa_atexit(handler, ptr::null_mut(), ptr::null_mut()) };
}

unsafe extern "C" {
    /// Registers a handler with its argument, and the library at whose end it is called, if any.
    fn __cxa_atexit(
        handler: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
        library: *mut c_void,
    ) -> c_int;
}

/// Calls `handler` in each child that `fork` makes from now on, before the child continues. The
/// handler may only call what a signal handler may.
pub(crate) fn in_forked_child(handler: unsafe extern "C" fn()) {
    // SAFETY: a function of the program lives as long as the program, and this one takes nothing.
    unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}
