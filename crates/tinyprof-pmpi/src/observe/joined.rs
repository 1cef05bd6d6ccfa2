//! What all ranks of a communicator do for companions, so that each has to take part: after
//! collective operations, and when a communicator is made.

use crate::abi::Handle;
use crate::arguments::{Arguments, Kind};
use crate::communicators::{self, Communicator};
use crate::companions::{self, By, Making, Meet, Met, Object};
use crate::datatypes;
use crate::function::{Collective, Counts, Epoch, Form, Function, Makes, Meets, Positions, Shape};

impl Arguments {
    /// Returns whether the call is a blocking collective operation on the world, which is not one
    /// with neighbours alone.
    pub(super) fn is_on_world(&self, function: &Function) -> bool {
        let at = &function.at;
        matches!(function.counts, Counts::Collective(_, Form::Once))
            && at.request == Positions::NO
            && !matches!(function.meets, Meets::All { shape: Shape::Neighbors, .. })
            && self.handle(at.comm, Kind::Communicator) == self.mpi.abi.world
    }

    /// Returns the meeting of the ranks that take part in the call.
    pub(super) fn met(&self, function: &Function) -> Option<Met> {
        let at = &function.at;
        let (shape, needs_board) = match function.meets {
            Meets::All { shape, needs_board } => (shape, needs_board),
            Meets::Object(shape) => return self.met_at_object(function, shape),
            Meets::Nobody | Meets::Some | Meets::AtStart(_) => return None,
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
        let is_scatter = matches!(function.counts, Counts::Collective(Collective::Scatter, _));
        let places = if is_scatter {
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
        match function.meets {
            Meets::All { .. } if at.request != Positions::NO => false,
            Meets::All { .. } | Meets::Some => {
                let group = communicators::find(self.handle(at.comm, Kind::Communicator));
                group.is_none_or(Communicator::has_others)
            }
            Meets::Object(_) => true,
            Meets::AtStart(_) => false,
            Meets::Nobody => match function.epoch {
                Epoch::Start | Epoch::Complete | Epoch::Wait | Epoch::Lock => {
                    self.object(function).is_none()
                }
                Epoch::None | Epoch::Post | Epoch::Unlock | Epoch::Access => false,
            },
        }
    }

    fn met_at_object(&self, function: &Function, shape: Shape) -> Option<Met> {
        let joint = self.object(function)?;
        Some(Met { group: &joint.group, shape, root: 0, bytes: 0, needs_board: true })
    }

    /// Makes the twin of a communicator that the call has made, if its parent has one: then all its
    /// ranks run the profiler. A call that has failed is counted, as it may not have failed on all
    /// ranks.
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

    /// Notes what the call has made together with others. One that has failed is counted,
    /// as it may not have failed on all ranks.
    #[cold]
    #[inline(never)]
    pub(super) fn take_note_of_new(&self, function: &Function, is_successful: bool) {
        let at = &function.at;
        match function.makes {
            Makes::Nothing => {}
            Makes::Communicator => self.make_twin(function, is_successful),
            Makes::Intercommunicator if is_successful => {
                let new = self.handle_at(at.newcomm, 0, Kind::Communicator);
                companions::make_between(self.mpi, new, self.int(at.tag));
            }
            Makes::Intercommunicator => {}
            Makes::Operation => {
                let group = communicators::find(self.handle(at.comm, Kind::Communicator));
                if let Some(group) = group.filter(|group| group.twin().is_some()) {
                    group.made.count();
                }
            }
            Makes::Window => {
                let new = is_successful.then(|| self.handle_at(at.win, 0, Kind::Window));
                self.make_object(Object::Window, function, new);
            }
            Makes::File => {
                let new = is_successful.then(|| self.handle_at(at.fh, 0, Kind::File));
                self.make_object(Object::File, function, new);
            }
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
