//! What a signal handler must not do a second time while its thread is doing it already.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, compiler_fence};

/// Says whether the thread that owns it is in the middle of a change. It keeps out signal handlers
/// of the same thread, who cannot wait, not other threads.
#[derive(Debug)]
pub(super) struct Alone {
    changing: AtomicBool,
}

impl Alone {
    pub(super) const fn new() -> Self {
        Self { changing: AtomicBool::new(false) }
    }

    /// Makes the change; none if one is being made.
    pub(super) fn change<T>(&self, change: impl FnOnce() -> T) -> Option<T> {
        if self.changing.load(Relaxed) {
            return None;
        }
        self.changing.store(true, Relaxed);
        // What a signal handler of this thread sees is in the order of the program.
        compiler_fence(SeqCst);
        let done = change();
        compiler_fence(SeqCst);
        self.changing.store(false, Relaxed);
        Some(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_inside_of_a_change_is_not_made() {
        let alone = Alone::new();
        assert_eq!(alone.change(|| alone.change(|| 1)), Some(None));
        assert_eq!(alone.change(|| 2), Some(2));
    }
}
