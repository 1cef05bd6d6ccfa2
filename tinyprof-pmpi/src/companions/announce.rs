//! Sends: a companion goes before each message.

use std::ffi::c_int;

use tinyprof::__calls::Visited;
use tinyprof_messages::companion::Companion;
use tinyprof_messages::matching::Stream;

use super::blocked::Blocked;
use super::partner::Partner;
use super::state::State;
use crate::communicators::Communicator;
use crate::library::Mpi;

/// A message that is about to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) communicator: &'static Communicator,
    pub(crate) to: c_int,
    pub(crate) tag: c_int,
    /// The size, unless nobody knows the datatype yet.
    pub(crate) bytes: Option<u64>,
    /// True if the call does not return before the receive is posted.
    pub(crate) blocks: bool,
}

impl State {
    /// Sends the companion of a message that is sent in a call entered at `entered_ns`.
    #[inline]
    pub(crate) fn announce(
        &mut self,
        mpi: &Mpi,
        visited: Visited,
        entered_ns: u64,
        message: &Message,
    ) {
        let known = message.communicator;
        let Some(twin) = known.twin() else { return };
        // MPI does not send it, and returns an error.
        if message.tag < 0 || !known.has(message.to) {
            return;
        }
        let peer = message.to.cast_unsigned();
        let stream = Stream { communicator: twin.number, peer, tag: message.tag };
        let Some(sequence) = self.sent.next(stream) else {
            self.facts.companions_unclear += 1;
            return;
        };
        let companion = Companion {
            callpath: visited.id().to_bits(),
            twin: twin.epoch,
            flags: if message.blocks { Companion::BLOCKS } else { 0 }
                | if message.bytes.is_none() { Companion::UNSIZED } else { 0 },
            sequence,
            entry_ns: entered_ns,
            intrusion_ns: self.clock.intrusion_ns(),
            ideal_ns: self.clock.ideal_ns(),
            bytes: message.bytes.unwrap_or(0),
        };
        let to = Partner { twin, relative: known.relative(message.to), stream };
        if !self.carrier.send(mpi, &companion, &to) {
            self.facts.companions_missing += 1;
        } else if message.blocks {
            self.blocked = Some(Blocked { to, sequence, clock: self.clock, span: None });
        }
    }
}
