//! The end of the process.

/// Calls `handler` after `main` has returned or `exit` was called. The handler must not unwind.
///
/// If there is no room for it, the handler is not called, and nothing else changes.
pub(crate) fn at_exit(handler: extern "C" fn()) {
    // SAFETY: a function of the program lives as long as the program, and this one takes nothing.
    unsafe { libc::atexit(handler) };
}

/// Calls `handler` in each child that `fork` makes from now on, before the child continues. The
/// handler may only call what a signal handler may.
pub(crate) fn in_forked_child(handler: unsafe extern "C" fn()) {
    // SAFETY: a function of the program lives as long as the program, and this one takes nothing.
    unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}
