//! A reentrancy guard against signal handlers on the same thread.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, compiler_fence};

/// A flag that is set while the owning thread makes a change. It keeps out signal handlers of the
/// same thread, which cannot wait; it does not keep out other threads.
#[derive(Debug)]
pub(super) struct ReentrancyGuard {
    changing: AtomicBool,
}

impl ReentrancyGuard {
    pub(super) const fn new() -> Self {
        Self { changing: AtomicBool::new(false) }
    }

    /// Makes the change, or returns `None` if another one is in progress.
    pub(super) fn change<T>(&self, change: impl FnOnce() -> T) -> Option<T> {
        if self.changing.load(Relaxed) {
            return None;
        }
        self.changing.store(true, Relaxed);
        // A signal handler of this thread sees the stores in program order.
        compiler_fence(SeqCst);
        let done = change();
        compiler_fence(SeqCst);
        self.changing.store(false, Relaxed);
        Some(done)
    }

    /// Returns `true` inside of a change, thus to a signal handler that has interrupted one.
    pub(super) fn is_held(&self) -> bool {
        self.changing.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_inside_of_a_change_is_not_made() {
        let alone = ReentrancyGuard::new();
        assert_eq!(alone.change(|| alone.change(|| 1)), Some(None));
        assert_eq!(alone.change(|| 2), Some(2));
    }
}
