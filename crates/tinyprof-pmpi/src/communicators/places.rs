//! The places of a communicator's ranks, numbered over both groups of an intercommunicator: so that
//! all its ranks name one rank alike.

use std::ops::Range;

use super::{Communicator, neighbors};
use crate::abi::Handle;
use crate::library::Mpi;

impl Communicator {
    /// Returns the caller's place.
    #[inline]
    pub(crate) fn place(&self) -> u32 {
        self.local_begin() + self.rank.cast_unsigned()
    }

    /// Returns the places of all ranks.
    #[inline]
    pub(crate) fn places(&self) -> Range<u32> {
        0..(self.size + self.remote_size.unwrap_or(0)).cast_unsigned()
    }

    /// Returns the place of a rank that the caller names: of the remote group, if there is one.
    #[inline]
    pub(crate) fn place_of(&self, rank: i32) -> u32 {
        self.remote_begin().saturating_add(rank.cast_unsigned())
    }

    /// Returns the places of the ranks that the caller can name.
    #[inline]
    pub(crate) fn other_places(&self) -> Range<u32> {
        let begin = self.remote_begin();
        begin..begin + self.remote_size.unwrap_or(self.size).cast_unsigned()
    }

    /// Returns the rank in the world, relative to the caller's, of the rank at a place.
    pub(crate) fn relative_at(&self, place: u32) -> i32 {
        let named = place.wrapping_sub(self.remote_begin()).cast_signed();
        if self.remote_size.is_none() || self.other_places().contains(&place) {
            return self.relative(named);
        }
        let local = place.wrapping_sub(self.local_begin()) as usize;
        self.local.get(local).copied().unwrap_or(super::ELSEWHERE)
    }

    /// Returns whether the communicator has another rank than the caller.
    #[inline]
    pub(crate) fn has_others(&self) -> bool {
        self.size > 1 || self.remote_size.is_some()
    }

    /// Returns the ranks whose data the caller gets from operations with neighbours. The program
    /// uses the communicator, whose handle this is, in a call under way.
    pub(crate) fn sources(&self, mpi: &Mpi, handle: Handle) -> &[u32] {
        self.sources.get_or_init(|| neighbors::sources(mpi, handle, self.rank))
    }

    /// As [`sources`](Self::sources), after the first operation.
    pub(crate) fn known_sources(&self) -> &[u32] {
        self.sources.get().map_or(&[], |sources| sources)
    }

    /// Returns the place of the first rank of the local group. Of both groups, that with the lowest
    /// rank of the world goes before the other.
    #[inline]
    fn local_begin(&self) -> u32 {
        match self.remote_size {
            Some(size) if self.is_remote_first => size.cast_unsigned(),
            _ => 0,
        }
    }

    #[inline]
    fn remote_begin(&self) -> u32 {
        match self.remote_size {
            Some(_) if !self.is_remote_first => self.size.cast_unsigned(),
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::groups;
    use super::*;

    /// Ranks of the world in two groups, as rank `rank` of the local one knows them.
    fn between(rank: usize, local: &[i32], remote: &[i32]) -> Communicator {
        let world_rank = local[rank];
        let relative = |ranks: &[i32]| ranks.iter().map(|rank| rank - world_rank).collect();
        let count = |ranks: &[i32]| i32::try_from(ranks.len()).expect("a few");
        let mut known = Communicator::of_test(world_rank, count(local));
        known.rank = i32::try_from(rank).expect("a few");
        known.remote_size = Some(count(remote));
        known.is_remote_first = remote.iter().min() < local.iter().min();
        groups::reserve((local.len() + remote.len()) as u64).expect("there is room");
        (known.local, known.relative) = (relative(local), relative(remote));
        known
    }

    #[test]
    fn both_groups_name_all_ranks_alike() {
        let groups = [&[3, 1][..], &[0, 2, 4]];
        let expected = [(3, 3), (1, 4), (0, 0), (2, 1), (4, 2)];
        for (local, remote) in [(groups[0], groups[1]), (groups[1], groups[0])] {
            for (rank, &of_world) in local.iter().enumerate() {
                let known = between(rank, local, remote);
                assert_eq!(known.places(), 0..5);
                assert!(expected.contains(&(of_world, known.place())), "{of_world}");
                for (of_other, place) in expected {
                    assert_eq!(known.relative_at(place), of_other - of_world, "{of_world}");
                }
                for (named, &of_other) in (0..).zip(remote) {
                    assert!(expected.contains(&(of_other, known.place_of(named))), "{of_other}");
                }
            }
        }
    }
}
