//! The time that this process spends on the profiler beside visits and the flush.

use std::cell::Cell;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::clock::monotonic_ns;

use crate::sys::undisturbed;

static STARTING_NS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static IS_COUNTED: Cell<bool> = const { Cell::new(false) };
}

/// Does what a recording needs before it can go on: beginning it, agreeing with other ranks,
/// finding out who calls. Its time is told with the profile; that of work inside of it counts once.
pub fn starting<T>(work: impl FnOnce() -> T) -> T {
    if IS_COUNTED.replace(true) {
        return work();
    }
    let begin_ns = monotonic_ns();
    let done = undisturbed(work);
    STARTING_NS.fetch_add(monotonic_ns().saturating_sub(begin_ns), Relaxed);
    IS_COUNTED.set(false);
    done
}

/// Returns the time of all [`starting`] in this process so far, in nanoseconds.
pub(super) fn starting_ns() -> u64 {
    STARTING_NS.load(Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_inside_of_work_counts_once() {
        let before = starting_ns();
        let begin_ns = monotonic_ns();
        let done = starting(|| {
            let inside = starting(|| 3);
            assert_eq!(starting_ns(), before, "only the outer work counts");
            inside
        });
        let (took_ns, counted_ns) = (monotonic_ns() - begin_ns, starting_ns() - before);
        assert!(done == 3 && 0 < counted_ns && counted_ns <= took_ns, "{counted_ns} {took_ns}");
    }
}
