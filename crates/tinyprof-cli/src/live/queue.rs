//! Documents that wait for a program or for who takes them: the newest, in bounded memory.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::sys;

/// The most that waits, in bytes, but for the newest document.
const BYTES_MAX: usize = 1 << 20;

/// A queue. A reader that is too slow loses the oldest.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    documents: VecDeque<String>,
    bytes: usize,
    lost: u64,
    closed_ns: Option<u64>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, document: String) {
        let mut waiting = self.lock();
        waiting.bytes += document.len();
        waiting.documents.push_back(document);
        while waiting.bytes > BYTES_MAX && waiting.documents.len() > 1 {
            waiting.bytes -= waiting.documents.pop_front().map_or(0, |oldest| oldest.len());
            waiting.lost += 1;
        }
        self.changed.notify_one();
    }

    /// Waits for the next document; `None` if there will be none.
    pub(super) fn next(&self) -> Option<String> {
        let has_none =
            |waiting: &mut Waiting| waiting.documents.is_empty() && waiting.closed_ns.is_none();
        let waiting = self.changed.wait_while(self.lock(), has_none);
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        let next = waiting.documents.pop_front();
        waiting.bytes -= next.as_ref().map_or(0, String::len);
        next
    }

    /// Lets no more documents in.
    pub(super) fn close(&self) {
        self.lock().closed_ns = Some(sys::now().monotonic_ns);
        self.changed.notify_one();
    }

    /// Waits this long, but not once it is closed.
    pub(super) fn pause(&self, time: Duration) {
        let is_open = |waiting: &mut Waiting| waiting.closed_ns.is_none();
        drop(self.changed.wait_timeout_while(self.lock(), time, is_open));
    }

    /// Returns the number of documents that wait.
    pub(super) fn len(&self) -> u64 {
        self.lock().documents.len() as u64
    }

    /// Returns whether no more documents come.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed_ns.is_some()
    }

    /// Returns the time since it was closed.
    pub(super) fn closed_for(&self) -> Duration {
        self.lock().closed_ns.map_or(Duration::ZERO, sys::since)
    }

    /// Returns the number of documents that nobody has read in time.
    pub(super) fn lost(&self) -> u64 {
        self.lock().lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_wait_in_their_order_and_the_oldest_are_counted() {
        let queue = Queue::default();
        for number in 0..10 {
            queue.push(number.to_string().repeat(BYTES_MAX / 4));
        }
        queue.close();
        let first = |document: String| document.chars().next();
        let left: Vec<_> = std::iter::from_fn(|| queue.next()).filter_map(first).collect();
        assert_eq!((left, queue.lost()), (vec!['6', '7', '8', '9'], 6));
        let queue = Queue::default();
        queue.push("x".repeat(2 * BYTES_MAX));
        queue.close();
        assert!(queue.next().is_some(), "the newest is always there");
        assert_eq!(queue.next(), None);
    }
}
