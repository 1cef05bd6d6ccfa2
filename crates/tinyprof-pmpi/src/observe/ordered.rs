//! Calls where the order of messages is kept (`TINYPROF_ORDER=enforce`): others are told what the
//! call waits for, and a receive from any source is made from one.

use std::ffi::c_int;
use std::ptr;

use tinyprof_messages::order::Doing;

use super::Call;
use crate::communicators;
use crate::companions::{self, Turn};
use crate::forward::forward;
use crate::function::Waits;

impl Call {
    /// Tells the others what the call waits for, and makes it: a receive from any source as one
    /// from the rank whose turn it is. Returns its result, and for how long a message was held
    /// back, in ns.
    ///
    /// # Safety
    /// `original` is the address of this function, of the binding that the program has called.
    #[cold]
    pub(super) unsafe fn forward_in_turn(&self, original: usize, entered_ns: u64) -> (c_int, u64) {
        let turn = self.take_turn(entered_ns);
        let at = self.function.at.source;
        let own = turn.map(|_| self.arguments.word(at));
        if let Some(Turn { source, .. }) = &turn {
            let word = if self.arguments.is_fortran {
                ptr::from_ref(source).expose_provenance()
            } else {
                source.cast_unsigned() as usize
            };
            self.arguments.replace(at, word);
        }
        // SAFETY: as the caller says, and the words are those of its call. The source is there
        // until the call has returned.
        let code = unsafe { forward(original, self.arguments.words, self.count()) };
        if let Some(own) = own {
            self.arguments.replace(at, own);
        }
        (code, turn.map_or(0, |turn| turn.held_ns))
    }

    /// Waits for the turn of a message, if the call takes one from any source.
    fn take_turn(&self, entered_ns: u64) -> Option<Turn> {
        let doing = self.doing();
        if doing == Doing::Running {
            return None;
        }
        companions::with(self.recorder, |state| state.say(entered_ns, doing));
        let source = || self.arguments.int(self.function.at.source);
        if self.function.waits != Waits::Source || source() != self.mpi().abi.any_source {
            return None;
        }
        let envelope = (self.communicator(), self.arguments.int(self.function.at.tag));
        let turn = companions::with(self.recorder, |state| {
            state.take_turn(self.mpi(), self.recorder, envelope, entered_ns)
        });
        turn.flatten()
    }

    /// Returns what the rank does in the call.
    fn doing(&self) -> Doing {
        let function = self.function;
        if function.is_test {
            return Doing::Running;
        }
        match function.waits {
            Waits::Nobody => Doing::Running,
            Waits::Source => self.waiting_for(function.at.source),
            Waits::Receiver => {
                let bytes = self.bytes_before((function.sent.count, function.sent.datatype));
                if self.blocks(bytes.unwrap_or(u64::MAX)) {
                    self.waiting_for(function.at.dest)
                } else {
                    Doing::Running
                }
            }
            Waits::Somebody => Doing::Waits,
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
