//! Work of the profiler that must not take down the program.

use std::time::Duration;

use crate::record::thread;
use crate::sys::{self, NotDone};

/// Runs `work` on a thread of its own and returns its result, waiting for at most `patience`.
///
/// The thread has a 4 MiB stack of its own. If the work aborts there (as a failed allocation does),
/// faults or hangs, the caller continues. Regions that it enters, for example in a global
/// allocator, are not recorded. Any thread may call this, even while the process ends.
///
/// A constructor or destructor of a library may hold a lock that another thread would need. There
/// the work runs on the caller's thread: a failure of it is one of the program, and nothing is
/// late.
///
/// # Errors
/// If there is no result. The work may then be partly done. Work that was [late](NotDone::Late) is
/// still running. Work that [died](NotDone::Died) leaves its locks locked.
///
/// # Cost
/// About 50 us for the thread.
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use tinyprof::__mpi::{NotDone, isolated};
///
/// let patience = Duration::from_secs(60);
/// assert_eq!(isolated(patience, || 6 * 7), Ok(42));
/// assert_eq!(isolated::<()>(patience, || std::process::abort()), Err(NotDone::Died));
/// ```
pub fn isolated<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    // The work may have to run on this thread, which comes back to the program.
    thread::while_away(|| {
        sys::isolated(patience, move || {
            thread::stay_away();
            work()
        })
    })
}
