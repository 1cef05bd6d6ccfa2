//! Calls that MPI has refused: their messages were not sent.

use std::ffi::c_int;

use super::Call;
use crate::communicators;
use crate::companions::{self, Message, Mode};

impl Call {
    /// Takes back the companion of a message in a call that has failed.
    #[cold]
    #[inline(never)]
    pub(super) fn take_back_sent(&self, returned: c_int) {
        if !self.function.sends {
            return;
        }
        let Some(communicator) = communicators::find(self.communicator()) else { return };
        let to = self.arguments.int(self.function.at.dest);
        let tag = self.arguments.int(self.function.sent.tag);
        let message = Message { communicator, to, tag, bytes: None, mode: Mode::Standard };
        let is_known = !self.mpi().has_communicated(self.code(returned));
        companions::with(self.recorder, |state| state.take_back(&message, is_known));
    }
}
