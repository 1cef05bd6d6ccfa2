//! Work of the profiler that must not take the program down with it.

use std::time::Duration;

use crate::record::thread;
use crate::sys::{self, NotDone};

/// Runs `work` on a thread of its own and returns its result, waiting for at most `patience`.
///
/// The thread has a stack of its own, 4 MiB, and the work may abort there, as a failed allocation
/// does, fault or hang: the caller goes on. Regions that it enters, for example in a global
/// allocator, are not recorded. Any thread may call this, also while the process ends.
///
/// # Errors
/// When there is no result. The work may then have been done in part; where it was
/// [late](NotDone::Late) it still goes on, and where it [died](NotDone::Died) its locks stay
/// locked.
///
/// # Cost
/// About 50 us for the thread.
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use tinyprof::collect::{NotDone, isolated};
///
/// let patience = Duration::from_secs(60);
/// assert_eq!(isolated(patience, || 6 * 7), Ok(42));
/// assert_eq!(isolated::<()>(patience, || std::process::abort()), Err(NotDone::Died));
/// ```
pub fn isolated<T: Send + 'static>(
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDone> {
    sys::isolated(patience, move || {
        thread::stay_away();
        work()
    })
}
