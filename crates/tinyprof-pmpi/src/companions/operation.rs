//! A collective operation, and which of its ranks wait for which.

use std::ffi::c_int;
use std::ops::Range;

use tinyprof_messages::waiting::Collective;
use tinyprof_messages::ways::Place;

use super::shared::{self, Operation, Read};
use crate::communicators::{Communicator, Twin};
use crate::function::Shape;
use crate::library::mpi;

/// A collective operation of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) group: &'static Communicator,
    pub(crate) shape: Shape,
    /// The root as the program passes it, if there is one.
    pub(crate) root: c_int,
    /// The bytes of a rank's part, if they are known before MPI is: larger ones may go other ways.
    pub(crate) bytes: u64,
    /// True if it is followed on boards alone.
    pub(crate) needs_board: bool,
}

/// An operation under way, whose ranks all run the profiler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meet {
    pub(super) shape: Shape,
    pub(super) root: c_int,
    pub(super) bytes: u64,
    pub(super) group: &'static Communicator,
    pub(super) twin: Twin,
    /// Its place on the board, where memory is shared.
    pub(super) operation: Option<Operation>,
}

impl Meet {
    /// Returns an operation with a place of its own in shared memory, which has not begun.
    pub(crate) fn prepare(
        group: &'static Communicator,
        shape: Shape,
        root: c_int,
        twin: Twin,
    ) -> Self {
        Self { shape, root, bytes: 0, group, twin, operation: None }
    }

    /// Leaves that place for good.
    pub(crate) fn leave(&self) {
        shared::leave(&self.twin, self.group.places().end);
    }

    /// Returns the communicator.
    pub(crate) fn group(&self) -> &'static Communicator {
        self.group
    }

    /// Returns whether the operation has begun, where memory is shared.
    pub(crate) fn is_under_way(&self) -> bool {
        self.operation.is_some()
    }

    /// Returns when the last of those has entered that this rank waits for, in ns; 0 if nobody
    /// knows.
    pub(crate) fn last_ns(&self) -> i64 {
        match self.others() {
            Some(Read::Meeting(meeting)) => meeting.last_ns,
            _ => 0,
        }
    }

    /// Returns what those have told that this rank waits for, if it waits for some.
    pub(super) fn others(&self) -> Option<Read> {
        let operation = self.operation?;
        let group = self.group;
        Some(match self.shape {
            Shape::Neighbors => operation.others(group.known_sources().iter().copied()),
            Shape::Fence => operation.others(group.places()),
            Shape::Of(kind) if group.remote_size.is_some() => match kind {
                // MPI lets a rank go when the other group has come. In practice it waits for its
                // own as well, and those that have not come when it goes have written nothing.
                Collective::Barrier | Collective::AllToAll => operation.others(group.places()),
                Collective::FromRoot if self.root >= 0 => {
                    operation.others(std::iter::once(group.place_of(self.root)))
                }
                Collective::ToRoot if self.is_root_between() => {
                    operation.others(group.other_places())
                }
                _ => return None,
            },
            Shape::Of(kind) if kind.waits(self.rank(), self.root()) => {
                operation.others(self.waited_for(kind))
            }
            Shape::Of(_) => return None,
        })
    }

    /// Returns the operation as one that may take several ways: of the ranks of one group.
    #[inline]
    pub(super) fn place(&self) -> Option<Place> {
        let kind = match self.shape {
            Shape::Of(kind) => kind,
            Shape::Fence => Collective::AllToAll,
            Shape::Neighbors => return None,
        };
        let (rank, ranks, root, bytes) = (self.rank(), self.size(), self.root(), self.bytes);
        let place = Place { kind, rank, ranks, root, bytes };
        self.group.remote_size.is_none().then_some(place)
    }

    /// Returns whether another rank may wait for this one. Data may be passed on along any rank, if
    /// there are more than two.
    pub(super) fn is_waited_for(&self) -> bool {
        let is_between = self.group.remote_size.is_some();
        match self.shape {
            Shape::Of(Collective::FromRoot) if is_between => self.is_root_between(),
            Shape::Of(Collective::ToRoot) if is_between => self.root >= 0,
            Shape::Of(Collective::FromRoot) if self.size() <= 2 => self.rank() == self.root(),
            Shape::Of(Collective::ToRoot) if self.size() <= 2 => self.rank() != self.root(),
            _ => true,
        }
    }

    /// Returns whether the caller is the root of an operation between two groups.
    pub(super) fn is_root_between(&self) -> bool {
        self.root == mpi().abi.root
    }

    pub(super) fn rank(&self) -> u32 {
        self.group.rank.cast_unsigned()
    }

    pub(super) fn size(&self) -> u32 {
        self.group.size.cast_unsigned()
    }

    pub(super) fn root(&self) -> u32 {
        self.root.cast_unsigned()
    }

    /// Returns the ranks of one group that this one waits for, if it waits.
    pub(super) fn waited_for(&self, kind: Collective) -> Range<u32> {
        match kind {
            Collective::FromRoot => self.root()..self.root().saturating_add(1).min(self.size()),
            Collective::Scan => 0..self.rank() + 1,
            Collective::Barrier | Collective::AllToAll | Collective::ToRoot => 0..self.size(),
        }
    }
}
