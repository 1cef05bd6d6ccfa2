//! The names of communicators, by which their ranks find each other in shared memory.
//!
//! A name says from which communicator the new one was made, of which ranks, and how many were made
//! so before. All ranks that a call needs make it in the same order (MPI 4.0, section 6.1), so they
//! count alike, also if the call fails on some of them.

use crate::communicators::{Communicator, Made};

/// The name of the world.
pub(super) const WORLD: u64 = 1;

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
