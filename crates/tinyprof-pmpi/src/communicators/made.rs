//! How many communicators the program has made from one: all of its ranks count alike.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The most groups of a communicator that are counted apart.
const GROUPS_MAX: usize = 1 << 16;

/// How many communicators were made from one.
#[derive(Debug, Default)]
pub(crate) struct Made {
    by_all: AtomicU32,
    /// Those that only a part of its ranks takes part in, by group and tag.
    by_group: Mutex<HashMap<u64, u32>>,
}

impl Made {
    /// Counts a call that all ranks make, whatever becomes of it. Returns the calls before it.
    pub(crate) fn count(&self) -> u32 {
        self.by_all.fetch_add(1, Relaxed)
    }

    /// As [`count`](Self::count), of calls for a group. `None` if there are too many of them.
    pub(crate) fn count_of(&self, group: u64) -> Option<u32> {
        // A thread that panics in here leaves the counts as they are.
        let mut counts = self.by_group.lock().ok()?;
        let is_full = counts.len() >= GROUPS_MAX;
        let count = match counts.get_mut(&group) {
            Some(count) => count,
            None if is_full => return None,
            None => counts.entry(group).or_default(),
        };
        *count += 1;
        Some(*count - 1)
    }
}
