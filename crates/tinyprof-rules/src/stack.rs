//! A stack that is large enough for parsing expressions, which is recursive.

use std::thread;

/// The bytes of the stack. What is not used takes no memory.
const STACK_BYTES: usize = 64 << 20;

/// Calls `work` on such a stack.
///
/// # Errors
/// If there is no thread for it, or the work panics.
pub(crate) fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    thread::scope(|threads| {
        let working = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(threads, work);
        let working = working.map_err(|error| format!("cannot be parsed: {error}"))?;
        working.join().map_err(|_| "cannot be parsed".to_owned())
    })
}
