//! The end of the process.

/// Has `handler` called when `main` has returned or `exit` was called. It must not unwind.
///
/// If there is no room for it the handler is not called, and nothing else changes.
pub(crate) fn at_exit(handler: extern "C" fn()) {
    // SAFETY: a function of the program lives as long as the program, and this one takes nothing.
    unsafe { libc::atexit(handler) };
}

/// Has `handler` called in each child that `fork` makes from now on, before the child goes on. It
/// may only call what a signal handler may.
pub(crate) fn in_forked_child(handler: unsafe extern "C" fn()) {
    // SAFETY: a function of the program lives as long as the program, and this one takes nothing.
    unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}
