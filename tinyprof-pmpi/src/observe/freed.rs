//! Objects that the program frees: their handles may soon name others.

use crate::arguments::{Arguments, Kind};
use crate::communicators;
use crate::companions;
use crate::function::{Function, Role};
use crate::handles;
use crate::requests;

impl Arguments {
    /// Forgets the object that a call of `function` frees, before it does.
    pub(super) fn forget_freed(&self, function: &Function) {
        match function.role {
            Role::FreeRequest => {
                let handle = self.handle_at(function.at.request, 0, Kind::Request);
                if let Some((place, _)) = requests::find(handle) {
                    requests::forget(place);
                }
            }
            Role::FreeCommunicator => {
                let handle = self.handle_at(function.at.comm, 0, Kind::Communicator);
                companions::before_free(self.mpi, handle);
                communicators::forget(handle);
                handles::end_generation();
            }
            Role::FreeDatatype => handles::end_generation(),
            _ => {}
        }
    }
}
