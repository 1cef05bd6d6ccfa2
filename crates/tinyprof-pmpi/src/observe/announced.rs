//! Calls that send: a companion goes before each message.

use tinyprof::__calls::Visited;

use super::Call;
use crate::abi::Interface;
use crate::arguments::Kind;
use crate::communicators;
use crate::companions::{self, Message, Mode, Receiver, held};
use crate::function::{Counts, Positions};
use crate::requests::{self, Pending};

/// The size from which a blocking send waits for its receive, in bytes, where nobody can wait to
/// see: the usual limit of MPI's shared memory for messages that it stores itself.
const STORED_BYTES_MAX_OPEN_MPI: u64 = 4 << 10;
/// The same, for others.
const STORED_BYTES_MAX: u64 = 16 << 10;

impl Call {
    /// Sends the companions of the messages that the call sends. Returns what becomes known of the
    /// receiver, and count and datatype if their size is not known yet.
    #[inline]
    pub(super) fn announce(
        &self,
        visited: Visited,
        entered_ns: u64,
    ) -> (Receiver, Option<(u8, u8)>) {
        let function = self.function;
        if !function.sends {
            if function.counts == Counts::Started {
                self.announce_started(visited, entered_ns);
            }
            return (Receiver::Free, None);
        }
        let at = &function.at;
        let data = (function.sent.count, function.sent.datatype);
        // Of two messages that one request completes, the one that comes is followed.
        let mode = if function.posts { Mode::Buffered } else { self.mode() };
        let to = self.arguments.int(at.dest);
        if to == self.mpi().abi.proc_null {
            return (Receiver::Free, None);
        }
        let waits_itself = at.request == Positions::NO;
        let Some(communicator) = communicators::find(self.communicator()) else {
            if waits_itself {
                let untold = Receiver::Untold;
                companions::with(self.recorder, |state| state.may_wait_for(untold));
            }
            return (Receiver::Untold, None);
        };
        let tag = self.arguments.int(function.sent.tag);
        let bytes = self.bytes_before(data);
        let message = Message { communicator, to, tag, bytes, mode };
        let receiver = companions::with(self.recorder, |state| {
            let receiver = state.announce(self.mpi(), visited, entered_ns, &message);
            if waits_itself {
                state.may_wait_for(receiver);
            }
            receiver
        });
        (receiver.unwrap_or(Receiver::Free), bytes.is_none().then_some(data))
    }

    #[cold]
    #[inline(never)]
    fn announce_started(&self, visited: Visited, entered_ns: u64) {
        let (count, array) = self.requests_to_start();
        for index in 0..count {
            let handle = self.arguments.handle_at(array, index, Kind::Request);
            let Some((place, request)) = requests::find(handle) else { continue };
            let Pending::Send { bytes, .. } = request.pending else { continue };
            let bytes = Some(bytes);
            let held = held::at(place);
            if held.peer == self.mpi().abi.proc_null {
                continue;
            }
            let Some(communicator) = request.communicator else { continue };
            let (to, tag) = (held.peer, held.tag);
            let message = Message { communicator, to, tag, bytes, mode: Mode::Unknown };
            let receiver = companions::with(self.recorder, |state| {
                state.announce(self.mpi(), visited, entered_ns, &message)
            });
            held::keep_sent(place, receiver.and_then(Receiver::answers).as_ref());
        }
    }

    /// Returns the mode of a call that sends.
    #[inline]
    fn mode(&self) -> Mode {
        // `MPI_Send` is in standard mode, `MPI_Isend` too: the letter before the `send` tells.
        match self.function.name.as_bytes() {
            [b'M', b'P', b'I', b'_', b'S', b's', ..] => Mode::Synchronous,
            [b'M', b'P', b'I', b'_', b'I', b's', b's', ..] => Mode::Synchronous,
            [b'M', b'P', b'I', b'_', b'B', ..] => Mode::Buffered,
            [b'M', b'P', b'I', b'_', b'I', b'b', ..] => Mode::Buffered,
            _ => Mode::Standard,
        }
    }

    /// Returns whether a blocking send of this many bytes waits for its receive.
    pub(super) fn blocks(&self, bytes: u64) -> bool {
        let stored = match self.mpi().abi.interface {
            Interface::OpenMpi => STORED_BYTES_MAX_OPEN_MPI,
            _ => STORED_BYTES_MAX,
        };
        match self.mode() {
            Mode::Standard | Mode::Unknown => bytes > stored,
            Mode::Synchronous => true,
            Mode::Buffered => false,
        }
    }
}
