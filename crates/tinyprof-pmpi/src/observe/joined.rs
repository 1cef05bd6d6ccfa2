//! What all ranks of a communicator do for companions, so that each has to take part: after
//! collective operations, and when a communicator is made.

use tinyprof_messages::waiting::Collective as Pattern;

use crate::abi::Handle;
use crate::arguments::{Arguments, Kind};
use crate::communicators::{self, Communicator};
use crate::companions::{self, By, Making, Meet, Met, Shape};
use crate::datatypes;
use crate::function::{Collective, Form, Function, Positions, Role};

impl Arguments {
    /// Returns whether the call is a blocking collective operation on the world, which is not one
    /// with neighbours alone.
    pub(super) fn is_on_world(&self, function: &Function) -> bool {
        let at = &function.at;
        let Role::Collective(kind, Form::Once) = function.role else { return false };
        at.request == Positions::NO
            && shape(kind) != Shape::Neighbors
            && self.handle(at.comm, Kind::Communicator) == self.mpi.abi.world
    }

    /// Returns the meeting of the ranks that take part in the call.
    pub(super) fn met(&self, function: &Function) -> Option<Met> {
        let at = &function.at;
        let (shape, needs_board) = match function.role {
            Role::Collective(kind, Form::Once) => (shape(kind), at.request != Positions::NO),
            // Others make one on a part of the ranks, which are not counted.
            Role::MakeCommunicator if at.tag == Positions::NO => (ALL_TO_ALL, true),
            Role::MakeWindow | Role::OpenFile => (ALL_TO_ALL, true),
            Role::Fence => return self.met_at_object(function, Shape::Fence),
            Role::FreeWindow | Role::CloseFile | Role::JoinFile => {
                return self.met_at_object(function, ALL_TO_ALL);
            }
            Role::FileRead | Role::FileWrite if function.is_joint_io() => {
                return self.met_at_object(function, ALL_TO_ALL);
            }
            _ => return None,
        };
        let root = if at.root == Positions::NO { 0 } else { self.int(at.root) };
        // One with a twin is known. Others are not asked about: MPI has not accepted the
        // communicator yet.
        let handle = self.handle(at.comm, Kind::Communicator);
        let group = communicators::find(handle).filter(|known| known.twin().is_some())?;
        if shape == Shape::Neighbors {
            group.sources(self.mpi, handle);
        }
        let bytes = self.bytes_each(function);
        Some(Met { group, shape, root, bytes, needs_board })
    }

    /// Returns the bytes of a part of the data, 0 if they are not the same for all ranks or nobody
    /// knows them before MPI has accepted the call.
    #[inline]
    fn bytes_each(&self, function: &Function) -> u64 {
        let at = &function.at;
        // What is received in a scatter is of meaning on all ranks, and so is what a gather sends.
        let places = if matches!(function.role, Role::Collective(Collective::Scatter, _)) {
            (at.recvcount, at.recvtype)
        } else if at.count != Positions::NO {
            (at.count, at.datatype)
        } else {
            (at.sendcount, at.sendtype)
        };
        let (count, datatype) = places;
        if count == Positions::NO || datatype == Positions::NO {
            return 0;
        }
        let datatype = self.handle(datatype, Kind::Datatype);
        let each = datatypes::bytes_before(self.mpi, datatype).unwrap_or(0);
        self.count(count).saturating_mul(each)
    }

    /// Returns whether the call may wait for other ranks by a meeting that nobody knows, as there
    /// is none to be known.
    #[cold]
    #[inline(never)]
    pub(super) fn meets_unknown(&self, function: &Function) -> bool {
        let at = &function.at;
        let meets = match function.role {
            Role::Collective(_, Form::Once) => at.request == Positions::NO,
            Role::MakeCommunicator | Role::MakeWindow | Role::OpenFile => true,
            Role::Fence | Role::FreeWindow | Role::CloseFile | Role::JoinFile => return true,
            Role::StartAccess
            | Role::CompleteAccess
            | Role::WaitExposure
            | Role::Lock
            | Role::LockAll => return self.object(function).is_none(),
            _ => function.is_joint_io(),
        };
        let group = || communicators::find(self.handle(at.comm, Kind::Communicator));
        meets && (at.comm == Positions::NO || group().is_none_or(Communicator::has_others))
    }

    fn met_at_object(&self, function: &Function, shape: Shape) -> Option<Met> {
        let joint = self.object(function)?;
        Some(Met { group: &joint.group, shape, root: 0, bytes: 0, needs_board: true })
    }

    /// Makes the twin of a communicator that the call has made, if its parent has one: then all its
    /// ranks have us. A call that has failed is counted, as it may not have failed on all ranks.
    pub(super) fn make_twin(&self, function: &Function, is_successful: bool) {
        let at = &function.at;
        let parent = self.handle(at.comm, Kind::Communicator);
        let Some(parent) = communicators::find(parent) else { return };
        let Some(twin) = parent.twin() else { return };
        let by = match at.tag {
            Positions::NO => By::All(parent.made.count()),
            tag => By::Group(self.int(tag)),
        };
        if !is_successful {
            return;
        }
        let new = self.handle_at(at.newcomm, 0, Kind::Communicator);
        if new == self.mpi.abi.comm_null || new == Handle(0) {
            return;
        }
        // Open MPI 4.1 makes one out of a group that has others, too, who take no part.
        if communicators::with(self.mpi, new, |new| parent.includes(new)) != Some(false) {
            companions::make_twin(self.mpi, new, parent, Making { parent: twin.epoch, by });
        }
    }

    /// Takes note of what the call has made together with others. One that has failed is counted,
    /// as it may not have failed on all ranks.
    #[cold]
    #[inline(never)]
    pub(super) fn take_note_of_new(&self, function: &Function, is_successful: bool) {
        let at = &function.at;
        match function.role {
            Role::MakeCommunicator => self.make_twin(function, is_successful),
            Role::MakeIntercommunicator if is_successful => {
                let new = self.handle_at(at.newcomm, 0, Kind::Communicator);
                companions::make_between(self.mpi, new, self.int(at.tag));
            }
            Role::Collective(_, Form::Persistent) => {
                let group = communicators::find(self.handle(at.comm, Kind::Communicator));
                if let Some(group) = group.filter(|group| group.twin().is_some()) {
                    group.made.count();
                }
            }
            _ => self.make_object(function, is_successful),
        }
    }

    /// Takes part in what the others do, for a call of a thread that cannot record.
    #[cold]
    pub(super) fn take_part(&self, function: &Function, is_successful: bool) {
        if !companions::is_on() {
            return;
        }
        self.take_note_of_new(function, is_successful);
        if let Some(met) = self.met(function)
            && let Some(meet) = Meet::begin(met, None)
        {
            meet.take_part(self.mpi);
        }
    }
}

/// All wait for all, as what they make or use is one.
const ALL_TO_ALL: Shape = Shape::Of(Pattern::AllToAll);

/// Returns who waits for whom in a collective operation.
pub(super) fn shape(kind: Collective) -> Shape {
    Shape::Of(match kind {
        Collective::Barrier => Pattern::Barrier,
        Collective::Bcast | Collective::Scatter | Collective::Scatterv => Pattern::FromRoot,
        Collective::Gather | Collective::Gatherv | Collective::Reduce => Pattern::ToRoot,
        Collective::Allgather
        | Collective::Allgatherv
        | Collective::Alltoall
        | Collective::Alltoallv
        | Collective::Alltoallw
        | Collective::Allreduce
        | Collective::ReduceScatter
        | Collective::ReduceScatterBlock => Pattern::AllToAll,
        Collective::Scan | Collective::Exscan => Pattern::Scan,
        Collective::NeighborAllgather
        | Collective::NeighborAllgatherv
        | Collective::NeighborAlltoall
        | Collective::NeighborAlltoallv
        | Collective::NeighborAlltoallw => return Shape::Neighbors,
    })
}
