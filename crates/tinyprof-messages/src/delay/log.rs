//! The last additions to a clock, so that a reader can take back those that came after a moment.
//!
//! ```text
//!  | additions so far | time, activity, ns | time, activity, ns | ...
//! ```
//!
//! One bit of the activity says that it is the gap between two calls: others see when a rank came
//! back to MPI.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::primitive::AtomicU64;

use super::list::{self, Word};

/// The additions that are kept, a power of two.
const KEPT: u64 = 64;
const ADDITION: usize = 3;
/// The bit of an activity that is a gap.
const GAP: u64 = 1 << 63;

/// The words of a log.
#[expect(clippy::cast_possible_truncation, reason = "a small constant")]
pub(super) const WORDS: usize = 1 + KEPT as usize * ADDITION;

/// Notes an addition that ended at a time. Owner only, within a change.
#[inline]
pub(super) fn note(log: &[AtomicU64], now_ns: u64, activity: u64, ns: u64) {
    note_word(log, now_ns, activity, ns);
}

/// Notes an addition of a gap between two calls, as [`note`] does.
#[inline]
pub(super) fn note_gap(log: &[AtomicU64], now_ns: u64, activity: u64, ns: u64) {
    note_word(log, now_ns, activity | GAP, ns);
}

#[inline(always)]
fn note_word(log: &[AtomicU64], now_ns: u64, activity: u64, ns: u64) {
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
        list::subtract(clock, log[at + 1].get() & !GAP, log[at + 2].get());
    }
    count <= KEPT
}

/// Returns when the last gap of at least `ns_min` ended, if that was in this time.
pub(super) fn gap_end(
    log: &[AtomicU64],
    [since_ns, until_ns]: [u64; 2],
    ns_min: u64,
) -> Option<u64> {
    let count = log[0].get();
    let kept = (count.saturating_sub(KEPT)..count).rev().map(place);
    let of_time = kept.take_while(|at| log[*at].get() > since_ns);
    let is_gap = |at: &usize| log[at + 1].get() & GAP != 0 && log[at + 2].get() >= ns_min;
    of_time.filter(is_gap).map(|at| log[at].get()).find(|end_ns| *end_ns <= until_ns)
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

    #[test]
    fn the_last_long_gap_of_a_time_is_found() {
        let log: Vec<_> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let found = |since_ns, until_ns| gap_end(&log, [since_ns, until_ns], 50);
        assert_eq!(found(0, u64::MAX), None);
        for (end_ns, ns) in [(100, 90), (200, 60), (300, 10), (400, 80)] {
            note(&log, end_ns, 7, 500);
            note_gap(&log, end_ns, 7, ns);
        }
        assert_eq!(found(0, 399), Some(200), "the next one is short");
        assert_eq!((found(0, 400), found(200, 399)), (Some(400), None));
        (0..KEPT).for_each(|number| note(&log, 500 + number, 7, 500));
        assert_eq!(found(0, u64::MAX), None, "it is forgotten");
    }
}
