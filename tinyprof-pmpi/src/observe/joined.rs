//! What all ranks of a communicator do for companions, so that each has to take part: after
//! collective operations, and when a communicator is made.

use tinyprof_messages::waiting::Collective as Shape;

use crate::abi::Handle;
use crate::arguments::{Arguments, Kind};
use crate::communicators;
use crate::companions::{self, By, Making, Meet, Met};
use crate::function::{Collective, Form, Function, Positions, Role};

impl Arguments {
    /// Returns the meeting of a blocking collective operation; none if it waits for neighbours
    /// alone.
    pub(super) fn met(&self, function: &Function) -> Option<Met> {
        let at = &function.at;
        let Role::Collective(kind, Form::Once) = function.role else { return None };
        if at.request != Positions::NO {
            return None;
        }
        let kind = match kind {
            Collective::Barrier => Shape::Barrier,
            Collective::Bcast | Collective::Scatter | Collective::Scatterv => Shape::FromRoot,
            Collective::Gather | Collective::Gatherv | Collective::Reduce => Shape::ToRoot,
            Collective::Allgather
            | Collective::Allgatherv
            | Collective::Alltoall
            | Collective::Alltoallv
            | Collective::Alltoallw
            | Collective::Allreduce
            | Collective::ReduceScatter
            | Collective::ReduceScatterBlock => Shape::AllToAll,
            Collective::Scan | Collective::Exscan => Shape::Scan,
            _ => return None,
        };
        let root = if at.root == Positions::NO { 0 } else { self.int(at.root) };
        Some(Met { communicator: self.handle(at.comm, Kind::Communicator), kind, root })
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

    /// Takes part in what the others do, for a call of a thread that cannot record.
    #[cold]
    pub(super) fn take_part(&self, function: &Function, is_successful: bool) {
        if !companions::is_on() {
            return;
        }
        if function.role == Role::MakeCommunicator {
            self.make_twin(function, is_successful);
        } else if let Some(met) = self.met(function)
            && let Some(meet) = Meet::begin(met, None)
        {
            meet.take_part(self.mpi);
        }
    }
}
