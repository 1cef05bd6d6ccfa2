//! The names of communicators, by which their ranks find each other in shared memory.
//!
//! A name says from which communicator the new one was made, of which ranks, and how many were made
//! so before. All ranks that a call needs make it in the same order (MPI 4.0, section 6.1), so they
//! count alike, also if the call fails on some of them.

use std::sync::OnceLock;

use crate::communicators::{Communicator, Made};

/// The name of the world.
pub(super) const WORLD: u64 = 1;
/// What names of intercommunicators begin with, and those of what is no communicator. The numbers
/// of communicators are smaller.
const BETWEEN: u64 = 1 << 40;
const OBJECT: u64 = 1 << 41;

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
    /// All ranks of the other one: this many were made so before.
    All(u32),
    /// The ranks of the new one, by a call with this tag.
    Group(i32),
}

/// What all ranks of a communicator make, and is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Window = 1,
    File = 2,
    /// The request of a persistent operation.
    Request = 3,
    /// The locks of a window.
    Locks = 4,
}

/// Returns the name of a new communicator; `None` if not all of its ranks belong to the world, or
/// nobody can tell. `made` are those made from the same one.
pub(super) fn name(new: &Communicator, making: Making, made: &Made) -> Option<u64> {
    let parent = mix(u64::from(making.parent));
    let group = match new.remote_size {
        None => name_of_ranks(parent, new.world_ranks()?)?,
        Some(_) => name_of_groups(parent, new)?,
    };
    let (tag, count) = match making.by {
        By::All(count) => (0, count),
        By::Group(tag) => {
            let tag = u64::from(tag.cast_unsigned()) + 1;
            (tag, made.count_of(mix(group ^ tag))?)
        }
    };
    Some(finish(mix(group ^ tag), count))
}

/// Returns the name of a new intercommunicator that two groups have made by a call with this tag,
/// which count those they make. They have no communicator in common that all of them know.
pub(super) fn name_between(new: &Communicator, tag: i32) -> Option<u64> {
    static MADE: OnceLock<Made> = OnceLock::new();
    let groups = name_of_groups(mix(BETWEEN), new)?;
    let groups = mix(groups ^ u64::from(tag.cast_unsigned()));
    Some(finish(groups, MADE.get_or_init(Made::default).count_of(groups)?))
}

/// Returns the name of what all ranks of a communicator have made of it, after this many other
/// things. `parent` is the number of the communicator.
pub(super) fn name_of_object(parent: u32, object: Object, count: u32) -> u64 {
    finish(mix(mix(u64::from(parent)) ^ OBJECT ^ object as u64), count)
}

fn finish(name: u64, count: u32) -> u64 {
    mix(name ^ u64::from(count)).max(WORLD + 1)
}

fn name_of_ranks(seed: u64, mut ranks: impl Iterator<Item = Option<i32>>) -> Option<u64> {
    ranks.try_fold(seed, |name, rank| Some(mix(name ^ u64::try_from(rank?).ok()?)))
}

/// Returns a number for both groups of an intercommunicator, the same in both.
fn name_of_groups(seed: u64, of: &Communicator) -> Option<u64> {
    let local = name_of_ranks(seed, of.local_world_ranks()?)?;
    let remote = name_of_ranks(seed, of.world_ranks()?)?;
    Some(mix(local.min(remote)) ^ local.max(remote))
}

/// Returns a number that depends on each bit of another one (the last step of splitmix64).
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(of: &[i32]) -> Option<u64> {
        name_of_ranks(mix(7), of.iter().copied().map(Some))
    }

    #[test]
    fn names_depend_on_ranks_and_their_order() {
        assert_eq!(ranks(&[0, 1, 2]), ranks(&[0, 1, 2]));
        assert_ne!(ranks(&[0, 1, 2]), ranks(&[0, 2, 1]));
        assert_ne!(ranks(&[0, 1]), ranks(&[0, 1, 2]));
        assert_eq!(name_of_ranks(1, [Some(0), None].into_iter()), None, "of another world");
    }

    #[test]
    fn what_is_made_one_after_the_other_has_names_apart() {
        let objects = [Object::Window, Object::File, Object::Request, Object::Locks];
        let names = objects.into_iter().flat_map(|object| {
            (0..4).flat_map(move |parent| {
                (0..4).map(move |count| name_of_object(parent, object, count))
            })
        });
        let mut names: Vec<u64> = names.collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 4 * 4 * 4);
    }
}
