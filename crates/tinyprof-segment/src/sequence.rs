//! The protocol between the owner of a record and its readers: a sequence counter, a word of the
//! record that is odd while the owner changes the others.
//!
//! ```text
//! owner    begin_update   counter = n + 1, odd   |  fence: the counter before the words
//!                         words                  |  relaxed
//!          end_update     counter = n + 2        |  release: the words before the counter
//!
//! reader                  counter even?          |  acquire: the counter before the words
//!          try_read       words                  |  relaxed
//!                         counter unchanged?     |  fence: the words before the counter
//! ```
//!
//! The owner never waits. A signal handler that interrupts it finds the counter odd, and leaves the
//! record alone. A reader may see a mixture of old and new words, but it notices that, and tries
//! again.
//!
//! All words are atomics, and the owner is the only one to write them.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::primitive::{AtomicU64, fence, yield_now};

/// The number of attempts to read a record that keeps changing.
pub const READ_TRIES: u32 = 10_000;

/// The number of attempts before a reader yields the processor. The owner may have lost its own in
/// the middle of a change.
const SPINS: u32 = 100;

/// Begins a change of the record with this counter. Owner only.
///
/// Returns false, with nothing done, if the owner is already changing the record: a signal handler
/// has interrupted.
#[inline(always)]
#[must_use]
pub fn begin_update(sequence: &AtomicU64) -> bool {
    let before = sequence.load(Relaxed);
    if !before.is_multiple_of(2) {
        return false;
    }
    sequence.store(before.wrapping_add(1), Relaxed);
    fence(Release);
    true
}

/// Ends the change that [`begin_update`] began. Owner only.
///
/// It loads the counter again, which saves a register during the change.
#[inline(always)]
pub fn end_update(sequence: &AtomicU64) {
    sequence.store(sequence.load(Relaxed).wrapping_add(1), Release);
}

/// Returns the result of `read` from between two changes, or `None` if the owner changed the record
/// meanwhile. Any thread.
///
/// `read` may see a mixture of old and new words before that is detected, so it must not trust
/// them.
#[inline]
pub fn try_read<T>(sequence: &AtomicU64, read: impl FnOnce() -> T) -> Option<T> {
    let before = sequence.load(Acquire);
    let value = read();
    fence(Acquire);
    (before.is_multiple_of(2) && sequence.load(Relaxed) == before).then_some(value)
}

/// Returns the first result of `attempt`, or `None` if the record changed in each of
/// [`READ_TRIES`] attempts.
pub fn retry<T>(mut attempt: impl FnMut() -> Option<T>) -> Option<T> {
    (1..=READ_TRIES).find_map(|tried| {
        let found = attempt();
        if found.is_none() && tried.is_multiple_of(SPINS) {
            yield_now();
        }
        found
    })
}

/// Makes all earlier writes visible to a reader that finds `value` in `word`, also in the file of a
/// thread that was killed.
#[inline(always)]
pub fn publish(word: &AtomicU64, value: u64) {
    word.store(value, Release);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_between_changes_only() {
        let sequence = AtomicU64::new(0);
        assert_eq!(try_read(&sequence, || 1), Some(1));
        assert!(begin_update(&sequence));
        assert!(!begin_update(&sequence), "a signal handler has interrupted");
        assert_eq!(try_read(&sequence, || 1), None);
        end_update(&sequence);
        assert_eq!(try_read(&sequence, || 1), Some(1));
        let changed = try_read(&sequence, || {
            assert!(begin_update(&sequence));
            end_update(&sequence);
        });
        assert_eq!(changed, None, "it changed meanwhile");
        assert_eq!(sequence.load(Relaxed), 4);
    }

    #[test]
    fn a_record_that_always_changes_is_given_up() {
        let mut tries = 0;
        let found: Option<()> = retry(|| {
            tries += 1;
            None
        });
        assert_eq!((found, tries), (None, READ_TRIES));
        assert_eq!(retry(|| Some(1)), Some(1));
    }
}
