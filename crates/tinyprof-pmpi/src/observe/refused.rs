//! Calls that MPI has refused: their messages were not sent.

use std::ffi::c_int;

use super::Call;
use crate::communicators;
use crate::companions::{self, Message, Mode};
use crate::function::Role;

impl Call {
    /// Takes back the companion of a message in a call that has failed.
    #[cold]
    #[inline(never)]
    pub(super) fn take_back_sent(&self, returned: c_int) {
        let at = &self.function.at;
        let tag = match self.function.role {
            Role::Send => at.tag,
            Role::Exchange
            | Role::ExchangeReplace
            | Role::StartExchange
            | Role::StartExchangeReplace => at.sendtag,
            _ => return,
        };
        let Some(communicator) = communicators::find(self.communicator()) else { return };
        let (to, tag) = (self.arguments.int(at.dest), self.arguments.int(tag));
        let message = Message { communicator, to, tag, bytes: None, mode: Mode::Standard };
        let is_known = !self.mpi().has_communicated(self.code(returned));
        companions::with(self.recorder, |state| state.take_back(&message, is_known));
    }
}
