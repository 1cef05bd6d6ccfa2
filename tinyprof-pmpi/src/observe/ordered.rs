//! Calls where the order of messages is kept (`TINYPROF_ORDER=enforce`): others are told what the
//! call waits for, and a receive from any source is made from one.

use std::ffi::c_int;
use std::ptr;

use tinyprof_messages::order::Doing;

use super::Call;
use crate::communicators;
use crate::companions;
use crate::function::{Positions, Role};

/// The source that a receive from any source gets.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// The rank, for languages that pass its address.
    rank: c_int,
    /// The program's own argument, if it was replaced.
    replaced: Option<usize>,
    /// For how long the message was held back.
    held_ns: u64,
}

impl Call {
    /// Tells the others what the call waits for, and makes a receive from any source one from the
    /// rank whose turn it is. `source` has to stay where it is until [`end_turn`](Self::end_turn).
    /// Returns for how long the message was held back, in ns.
    pub(super) fn begin_turn(&self, entered_ns: u64, source: &mut Source) -> u64 {
        let at = self.function.at.source;
        let doing = self.doing();
        if doing == Doing::Running {
            return 0;
        }
        companions::with_messages(self.recorder, |state| state.say(entered_ns, doing));
        if !self.takes_a_message() || self.arguments.int(at) != self.mpi().abi.any_source {
            return 0;
        }
        let envelope = (self.communicator(), self.arguments.int(self.function.at.tag));
        let turn = companions::with_messages(self.recorder, |state| {
            state.take_turn(self.mpi(), self.recorder, envelope, entered_ns)
        });
        let Some(turn) = turn.flatten() else { return 0 };
        source.rank = turn.source;
        source.replaced = Some(self.arguments.word(at));
        source.held_ns = turn.held_ns;
        let word = if self.arguments.is_fortran {
            ptr::from_ref(&source.rank).expose_provenance()
        } else {
            turn.source.cast_unsigned() as usize
        };
        self.arguments.replace(at, word);
        turn.held_ns
    }

    /// Gives the call its own source back.
    pub(super) fn end_turn(&self, source: &Source) {
        if let Some(word) = source.replaced {
            self.arguments.replace(self.function.at.source, word);
        }
    }

    /// Adds the cost of holding a message back.
    pub(super) fn pay_for_turn(&self, source: &Source) {
        if source.held_ns > 0 {
            companions::with(self.recorder, |state| state.held_back(source.held_ns));
        }
    }

    /// Returns whether the call waits for a message, and takes it or says whose it is.
    fn takes_a_message(&self) -> bool {
        let role = self.function.role;
        matches!(role, Role::Receive | Role::Probe | Role::Match)
            && self.function.at.flag == Positions::NO
    }

    /// Returns what the rank does in the call.
    fn doing(&self) -> Doing {
        let at = &self.function.at;
        let is_test = at.flag != Positions::NO || self.function.name == "MPI_Testsome";
        match self.function.role {
            Role::Receive | Role::Probe | Role::Match if !is_test => self.waiting_for(at.source),
            Role::Send if at.request == Positions::NO => {
                let blocks = self.blocks(self.bytes(at.count, at.datatype));
                if blocks { self.waiting_for(at.dest) } else { Doing::Running }
            }
            Role::MatchedReceive
            | Role::Exchange
            | Role::ExchangeReplace
            | Role::CompleteOne
            | Role::CompleteAny
            | Role::CompleteSome
            | Role::CompleteAll
                if !is_test =>
            {
                Doing::Waits
            }
            Role::Collective(..) if at.request == Positions::NO => Doing::Waits,
            Role::MakeCommunicator => Doing::Waits,
            _ => Doing::Running,
        }
    }

    fn waiting_for(&self, rank: u8) -> Doing {
        let rank = self.arguments.int(rank);
        if rank == self.mpi().abi.proc_null {
            return Doing::Running;
        }
        let relative = communicators::find(self.communicator()).map(|known| known.relative(rank));
        let doing = |relative| companions::with(self.recorder, |state| state.waiting_for(relative));
        relative.and_then(doing).unwrap_or(Doing::Waits)
    }
}
