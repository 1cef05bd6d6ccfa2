//! Calls that are not recorded: within another one, on a thread that cannot record, or while the
//! program has paused the recording. What they free or complete is forgotten all the same, as the
//! handles may soon name other objects.

use std::ffi::c_int;

use crate::abi::Handle;
use crate::arguments::{Arguments, Kind};
use crate::communicators;
use crate::companions::{self, started};
use crate::function::{Frees, Function, Looks, Positions};
use crate::handles;
use crate::requests::{self, Pending};

impl Arguments {
    /// Passes on a call of `function` that is not recorded.
    #[cold]
    #[inline(never)]
    pub(super) fn pass_on_unrecorded(
        &self,
        function: &Function,
        pass_on: impl Fn() -> c_int,
    ) -> c_int {
        self.forget_freed(function);
        let taken = self.take_completed(function);
        let code = pass_on();
        for (index, place) in taken {
            requests::give_back(place, self.handle_now(function.at.open_requests(), index));
        }
        code
    }

    /// Takes the requests that a call may complete out of the table, as the calls that are recorded
    /// do, and returns their indices and places.
    fn take_completed(&self, function: &Function) -> Vec<(usize, usize)> {
        let at = &function.at;
        let count = match function.looks {
            Looks::AtRequest => 1,
            Looks::AtRequests => {
                let count = if at.incount == Positions::NO { at.count } else { at.incount };
                usize::try_from(self.int(count)).unwrap_or(0)
            }
            Looks::AtMessage => {
                let message = self.handle_at(at.message, 0, Kind::Message);
                if let Some(place) = requests::take(message) {
                    requests::give_back(place, None);
                }
                0
            }
            Looks::Steers | Looks::Never | Looks::After | Looks::AtStatus | Looks::AtFreed => 0,
        };
        let array = at.open_requests();
        let place = |index| requests::take(self.handle_at(array, index, Kind::Request));
        (0..count).filter_map(|index| Some((index, place(index)?))).collect()
    }

    /// Returns the handle that the program has now, if it is that of a request.
    pub(super) fn handle_now(&self, array: u8, index: usize) -> Option<Handle> {
        let handle = self.handle_at(array, index, Kind::Request);
        (handle != self.mpi.abi.request_null).then_some(handle)
    }

    /// Forgets the object that a call of `function` frees, before it does. What MPI itself has made
    /// cannot be freed.
    pub(super) fn forget_freed(&self, function: &Function) {
        match function.frees {
            Frees::Nothing => {}
            Frees::Request => {
                let handle = self.handle_at(function.at.request, 0, Kind::Request);
                if let Some((place, request)) = requests::find(handle) {
                    if let (Pending::Collective { .. }, Some(group)) =
                        (request.pending, request.communicator)
                        && let Some(meet) = started::at(place, group)
                    {
                        meet.leave();
                    }
                    requests::forget(place);
                }
            }
            Frees::Communicator => {
                let handle = self.handle_at(function.at.comm, 0, Kind::Communicator);
                if [self.mpi.abi.world, self.mpi.abi.comm_self].contains(&handle) {
                    return;
                }
                companions::before_free(self.mpi, handle);
                communicators::forget(handle);
                communicators::drop_unused(requests::communicators());
                handles::end_generation();
            }
            Frees::Window | Frees::File => drop(self.remove_object(function)),
            Frees::Datatype => handles::end_generation(),
        }
    }
}
