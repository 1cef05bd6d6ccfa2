//! The last additions to a clock, so that a reader can take back those that came after a moment.
//!
//! ```text
//!  | additions so far | time, activity, ns | time, activity, ns | ...
//! ```

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::primitive::AtomicU64;

use super::list::{self, Word};

/// The additions that are kept, a power of two.
const KEPT: u64 = 64;
const ADDITION: usize = 3;

/// The words of a log.
#[expect(clippy::cast_possible_truncation, reason = "a small constant")]
pub(super) const WORDS: usize = 1 + KEPT as usize * ADDITION;

/// Notes an addition that ended at a time. Owner only, within a change.
#[inline]
pub(super) fn note(log: &[AtomicU64], now_ns: u64, activity: u64, ns: u64) {
    let count = log[0].load(Relaxed);
    let at = place(count);
    for (word, value) in log[at..at + ADDITION].iter().zip([now_ns, activity, ns]) {
        word.store(value, Relaxed);
    }
    log[0].store(count.wrapping_add(1), Relaxed);
}

/// Takes additions that ended after a time back from a copy of the clock. Returns false if there
/// are more than the log has kept.
pub(super) fn take_back(log: &[AtomicU64], until_ns: u64, clock: &mut [u64]) -> bool {
    let count = log[0].get();
    for number in (count.saturating_sub(KEPT)..count).rev() {
        let at = place(number);
        if log[at].get() <= until_ns {
            return true;
        }
        list::subtract(clock, log[at + 1].get(), log[at + 2].get());
    }
    count <= KEPT
}

#[inline(always)]
const fn place(number: u64) -> usize {
    1 + (number & (KEPT - 1)) as usize * ADDITION
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delay::list::{List, Owned};

    fn check(adds: u64, until_ns: u64, expected_ns: u64, is_whole: bool) {
        let shared = |words| -> Vec<AtomicU64> { (0..words).map(|_| AtomicU64::new(0)).collect() };
        let (log, clock, mut owned) = (shared(WORDS), shared(list::words(4)), Owned::new(4));
        for number in 1..=adds {
            owned.add(&clock, number % 3, 10);
            note(&log, 10 * number, number % 3, 10);
        }
        let mut copy = vec![0; clock.len()];
        List::new(&clock).copy_to(&mut copy);
        assert_eq!(take_back(&log, until_ns, &mut copy), is_whole);
        assert_eq!(List::new(&copy[..]).total_ns(), expected_ns);
        assert_eq!(List::new(&copy[..]).rest_ns(), 0);
    }

    #[test]
    fn what_came_after_a_moment_is_taken_back() {
        check(9, 90, 90, true);
        check(9, 55, 50, true);
        check(9, 0, 0, true);
        check(100, 400, 400, true);
        check(100, 100, 360, false);
    }
}
