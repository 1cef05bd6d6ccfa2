//! The names of communicators, by which their ranks find each other in shared memory.
//!
//! A name says from which communicator the new one was made, of which ranks, and how many were made
//! so before. All ranks that a call needs make it in the same order (MPI 4.0, section 6.1), so they
//! count alike, also if the call fails on some of them.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::communicators::Communicator;

/// The name of the world.
pub(super) const WORLD: u64 = 1;
/// The most groups of a communicator that are counted apart.
const GROUPS_MAX: usize = 1 << 16;

/// How many communicators were made from one.
#[derive(Debug, Default)]
pub(crate) struct Made {
    by_all: AtomicU32,
    /// Those that only a part of its ranks takes part in, by group and tag.
    by_group: Mutex<HashMap<u64, u32>>,
}

/// A communicator to be made from another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Making {
    /// The number of the other one, which all its ranks know.
    pub(crate) parent: u32,
    /// How it is made.
    pub(crate) by: By,
}

/// Who takes part in making a communicator.
#[derive(Clone, Copy, Debug)]
pub(crate) enum By {
    /// All ranks of the other one: so many were made so before.
    All(u32),
    /// The ranks of the new one, by a call with this tag.
    Group(i32),
}

impl Made {
    /// Counts a call that all ranks make, whatever becomes of it. Returns the calls before it.
    pub(crate) fn count(&self) -> u32 {
        self.by_all.fetch_add(1, Relaxed)
    }

    /// As [`count`](Self::count), of calls for a group. `None` if there are too many of them.
    fn count_of(&self, group: u64) -> Option<u32> {
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

/// Returns the name of a new communicator; `None` if not all of its ranks belong to the world, or
/// nobody can tell. `made` are those made from the same one.
pub(super) fn name(new: &Communicator, making: Making, made: &Made) -> Option<u64> {
    let group = new.world_ranks()?.try_fold(mix(u64::from(making.parent)), |name, rank| {
        Some(mix(name ^ u64::try_from(rank?).ok()?))
    })?;
    let (tag, count) = match making.by {
        By::All(count) => (0, count),
        By::Group(tag) => {
            let tag = u64::from(tag.cast_unsigned()) + 1;
            (tag, made.count_of(mix(group ^ tag))?)
        }
    };
    let name = mix(mix(group ^ tag) ^ u64::from(count));
    Some(name.max(WORLD + 1))
}

/// Returns a number that depends on each bit of another one (the last step of splitmix64).
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
