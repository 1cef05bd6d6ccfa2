//! Sends: a companion goes before each message.

use std::ffi::c_int;

use tinyprof::__calls::{MessageEnd, Visited};
use tinyprof_messages::companion::Companion;
use tinyprof_messages::matching::Stream;

use super::blocked::{Receiver, Sent};
use super::carrier::Way;
use super::partner::Partner;
use super::state::State;
use super::threads;
use crate::communicators::{Communicator, Twin};
use crate::library::Mpi;

/// The size up to which MPI stores a message in standard mode without waiting for its receiver, as
/// long as it has room, in bytes. To follow it would cost more than sending it. Open MPI 4.1 copies
/// so much at once; of more, its shared memory keeps the send until the receiver is in MPI.
pub(super) const STORED_BYTES: u64 = 256;

/// A message that is about to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) communicator: &'static Communicator,
    pub(crate) to: c_int,
    pub(crate) tag: c_int,
    /// The size, unless nobody knows the datatype yet.
    pub(crate) bytes: Option<u64>,
    pub(crate) mode: Mode,
}

/// The modes of sending (MPI 4.0, section 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// MPI may store the message, or wait for its receiver.
    Standard,
    /// That of a persistent request, which is not kept: MPI may wait whatever the size.
    Unknown,
    /// MPI waits for the receiver.
    Synchronous,
    /// MPI stores the message.
    Buffered,
}

impl Message {
    /// Returns whether MPI may wait for the receiver.
    #[inline]
    pub(super) fn may_wait(&self) -> bool {
        match self.mode {
            Mode::Standard => self.bytes.is_none_or(|bytes| bytes > STORED_BYTES),
            Mode::Unknown | Mode::Synchronous => true,
            Mode::Buffered => false,
        }
    }
}

impl State {
    /// Sends the companion of a message that is sent in a call entered at `entered_ns`. Returns
    /// what becomes known of its receiver.
    #[inline(always)]
    pub(crate) fn announce(
        &mut self,
        mpi: &Mpi,
        visited: Visited,
        entered_ns: u64,
        message: &Message,
    ) -> Receiver {
        let known = message.communicator;
        // MPI does not send it, and returns an error.
        if message.tag < 0 || !known.has(message.to) {
            return Receiver::Free;
        }
        let may_wait = message.may_wait();
        let untold = if may_wait { Receiver::Untold } else { Receiver::Free };
        let Some(twin) = known.twin() else { return untold };
        let peer = message.to.cast_unsigned();
        let stream = Stream { communicator: twin.number, peer, tag: message.tag };
        let (common, caller) = self.common_and_caller();
        let is_shared = threads::are_multiple() && common.sharing.sends(stream, caller);
        // Where there is no place for the stream or the companion, the receiver counts it.
        let Some(sequence) = common.sent.next(stream) else { return untold };
        let end = || MessageEnd {
            is_receive: false,
            partner: known.relative(message.to),
            communicator: twin.epoch,
            tag: message.tag,
            number: sequence,
            bytes: message.bytes.unwrap_or(0),
        };
        self.note_sent(visited, end);
        let is_synchronous = message.mode == Mode::Synchronous;
        let flags = if may_wait { Companion::ASKS } else { 0 }
            | if is_synchronous { Companion::BLOCKS } else { 0 }
            | if message.bytes.is_none() { Companion::UNSIZED } else { 0 }
            | if is_shared { Companion::SHARED } else { 0 };
        let plain = self.companion(visited, &twin, sequence, entered_ns);
        let bytes = message.bytes.unwrap_or(0);
        let companion = Companion { flags: plain.flags | flags, bytes, ..plain };
        let relative = known.relative(message.to);
        let to = Partner { twin, relative, stream };
        let (causes, common) = self.causes_and_common();
        let way = common.carrier.send(mpi, &companion, &to, causes);
        let Way::Lane(position) = way else { return untold };
        if !may_wait {
            return Receiver::Free;
        }
        let bytes = if is_synchronous { u64::MAX } else { companion.bytes };
        let (post, _) = self.post_at(entered_ns);
        Receiver::Answers(Sent { to: relative, position, bytes, post })
    }

    /// Takes back what was said of a message that MPI has refused to send; if it is not known
    /// whether it was sent (`is_known`), its receiver misses what is said of all that follow.
    ///
    /// Otherwise each message of the stream would be taken for the one after it.
    #[cold]
    pub(crate) fn take_back(&mut self, message: &Message, is_known: bool) {
        /// Beyond all numbers of messages that a receiver asks for.
        const UNREACHED: u64 = 1 << 40;
        let known = message.communicator;
        if message.tag < 0 || !known.has(message.to) {
            return;
        }
        let Some(twin) = known.twin() else { return };
        let peer = message.to.cast_unsigned();
        let stream = Stream { communicator: twin.number, peer, tag: message.tag };
        let partner = Partner { twin, relative: known.relative(message.to), stream };
        self.forget_sent(partner.relative, twin.epoch, message.tag);
        let common = self.common();
        let Some(number) = common.sent.number_mut(stream).filter(|number| **number > 0) else {
            return;
        };
        if is_known && common.carrier.take_back(&partner, *number - 1) {
            *number -= 1;
        } else {
            *number += UNREACHED;
        }
    }

    /// Returns what this rank says of itself beside message `sequence` of a stream, sent in a call
    /// entered at `entered_ns`.
    #[inline]
    pub(super) fn companion(
        &self,
        visited: Visited,
        twin: &Twin,
        sequence: u64,
        entered_ns: u64,
    ) -> Companion {
        Companion {
            callpath: visited.id().to_bits(),
            twin: twin.epoch,
            sequence,
            entry_ns: entered_ns,
            intrusion_ns: self.clock.intrusion_ns(),
            ideal_ns: self.clock.ideal_ns(),
            ..Companion::default()
        }
        .with_uncertainty(self.clock.uncertainty_beside(sequence))
        .with_nearest(self.clock.nearest())
    }

    /// Notes a message that the call under way sends and waits for, or has completed.
    #[inline]
    pub(crate) fn may_wait_for(&mut self, receiver: Receiver) {
        match receiver {
            Receiver::Free => {}
            Receiver::Answers(sent) => self.blocked.add(sent),
            Receiver::Untold => self.blocked.add_untold(),
        }
    }
}
