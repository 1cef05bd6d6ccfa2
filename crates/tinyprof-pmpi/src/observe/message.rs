//! Messages from one rank to another.

use std::ffi::{c_int, c_void};

use tinyprof::__calls::{Callpath, MessageKind, Signature, Visited};

use super::{Before, Call};
use crate::abi::Handle;
use crate::arguments::Kind;
use crate::communicators::{self, Communicator, ELSEWHERE};
use crate::datatypes;
use crate::function::Positions;
use crate::handles;
use crate::requests::{self, Pending, Request};

/// Stands for the datatype in the signature of a received message. It is no handle.
const RECEIVED: u64 = u64::MAX;

/// Returns a word of two numbers.
fn pack(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

impl Call {
    #[inline(always)]
    pub(super) fn communicator(&self) -> Handle {
        self.arguments.handle(self.function.at.comm, Kind::Communicator)
    }

    /// Returns what is known of the communicator that the call was given, and has accepted.
    #[inline]
    pub(super) fn known(&self) -> Option<&'static Communicator> {
        communicators::get(self.arguments.mpi, self.communicator())
    }

    /// Returns the bytes of a count and a datatype, both given by their positions. The call has
    /// accepted them, and the standard does not let it ignore them.
    #[inline]
    pub(super) fn bytes(&self, count: u8, datatype: u8) -> u64 {
        let datatype = self.arguments.handle(datatype, Kind::Datatype);
        datatypes::bytes_of_several(self.arguments.mpi, self.arguments.count(count), datatype)
    }

    /// Returns the bytes of a count and a datatype, both given by their positions, before MPI has
    /// accepted them. `None` if nobody knows the datatype.
    #[inline]
    pub(super) fn bytes_before(&self, (count, datatype): (u8, u8)) -> Option<u64> {
        match self.arguments.count(count) {
            0 => Some(0),
            count => {
                let datatype = self.arguments.handle(datatype, Kind::Datatype);
                let each = datatypes::bytes_before(self.arguments.mpi, datatype)?;
                Some(count.saturating_mul(each))
            }
        }
    }

    /// Returns the partner in the world, relative to the caller, of a rank in a communicator.
    #[inline(never)]
    pub(super) fn partner(&self, communicator: Handle, rank: c_int) -> i32 {
        let relative = |known: &communicators::Communicator| known.relative(rank);
        communicators::with(self.arguments.mpi, communicator, relative).unwrap_or(ELSEWHERE)
    }

    /// Counts the message that the call sends.
    #[inline(always)]
    pub(super) fn sent(&self, visited: Visited) {
        let data = (self.function.sent.count, self.function.sent.datatype);
        let to = self.arguments.int(self.function.at.dest);
        let signature = self.signature_of_sent(to, data);
        if !visited.count_again(&signature) {
            self.sent_anew(visited, &signature, to, data);
        }
    }

    /// Returns what tells a message to a rank from others of the callpath, which is sent from
    /// a count and a datatype, both given by their positions.
    #[inline(always)]
    pub(super) fn signature_of_sent(&self, to: c_int, (count, datatype): (u8, u8)) -> Signature {
        [
            self.communicator().0 as u64,
            self.arguments.handle(datatype, Kind::Datatype).0 as u64,
            pack(to.cast_unsigned(), handles::generation()),
            self.arguments.count(count),
        ]
    }

    #[inline(never)]
    fn sent_anew(
        &self,
        visited: Visited,
        signature: &Signature,
        to: c_int,
        (count, datatype): (u8, u8),
    ) {
        if to == self.arguments.mpi.abi.proc_null {
            return visited.pass_over(signature);
        }
        let partner = self.partner(self.communicator(), to);
        let bytes = self.bytes(count, datatype);
        visited.count_as(signature, MessageKind::MessageOut, partner, bytes);
    }

    /// Returns the address of the status at `position`. Where the program ignores it, MPI is made
    /// to write it to a place of ours.
    #[inline(always)]
    pub(super) fn status(&self, position: u8) -> usize {
        if !self.arguments.is_ignored(position) {
            return self.arguments.word(position);
        }
        let place = self.recorder.place_of_status();
        self.arguments.replace(position, place);
        place
    }

    /// Returns the bytes that a status tells.
    #[inline(always)]
    pub(super) fn bytes_of(&self, status: usize) -> u64 {
        let mpi = self.arguments.mpi;
        if let Some(bytes) = mpi.abi.bytes_in(status) {
            return bytes;
        }
        self.ask_bytes_of(status)
    }

    #[inline(never)]
    fn ask_bytes_of(&self, status: usize) -> u64 {
        let mpi = self.arguments.mpi;
        let mut bytes = 0;
        let place = std::ptr::with_exposed_provenance::<c_void>(status);
        // SAFETY: MPI has written the status, and the place is valid.
        let code = unsafe { mpi.get_elements_x(place, mpi.abi.byte, &raw mut bytes) };
        if code == 0 { u64::try_from(bytes).unwrap_or(0) } else { 0 }
    }

    /// Counts the message that a status describes, which has come on the communicator that the call
    /// was given.
    #[inline(always)]
    pub(super) fn received(&self, status: usize, visited: Visited) {
        let communicator = self.communicator();
        let partner = |source| self.partner(communicator, source);
        self.count_received(status, communicator.0 as u64, visited, partner);
    }

    /// Counts the message that a status describes, whose receive was posted on a communicator that
    /// the program may have freed since.
    #[inline]
    pub(super) fn received_on(
        &self,
        communicator: Option<&'static Communicator>,
        status: usize,
        visited: Visited,
    ) {
        let serial = communicator.map_or(0, |known| known.serial);
        let partner =
            |source| communicator.map_or(ELSEWHERE, |known: &Communicator| known.relative(source));
        self.count_received(status, serial, visited, partner);
    }

    /// Counts the message that a status describes. `communicator` stands for its communicator in
    /// the signature, and `partner` finds the rank in the world of one in it.
    #[inline(always)]
    fn count_received(
        &self,
        status: usize,
        communicator: u64,
        visited: Visited,
        partner: impl FnOnce(c_int) -> i32,
    ) {
        if status == 0 {
            return;
        }
        let (source, _) = self.arguments.mpi.abi.envelope_in(status);
        let bytes = self.bytes_of(status);
        let generation = handles::generation();
        let signature = [communicator, RECEIVED, pack(source.cast_unsigned(), generation), bytes];
        if visited.count_again(&signature) {
            return;
        }
        // From `MPI_PROC_NULL`, or the empty status of a persistent request that was not started.
        if source < 0 {
            return visited.pass_over(&signature);
        }
        visited.count_as(&signature, MessageKind::MessageIn, partner(source), bytes);
    }

    /// Remembers the receive that the call has posted, unless it is from `MPI_PROC_NULL`: of that,
    /// MPICH says nothing in the status.
    pub(super) fn started_receive(&self, visited: Visited) {
        if self.arguments.int(self.function.at.source) == self.arguments.mpi.abi.proc_null {
            return;
        }
        let request = self.arguments.handle_at(self.function.at.request, 0, Kind::Request);
        if request == self.arguments.mpi.abi.request_null {
            return;
        }
        let communicator = self.known();
        let (callpath, pending) = (visited.callpath(), Pending::Receive);
        if let Some(place) = requests::insert(request, &Request { callpath, communicator, pending })
        {
            let source = self.arguments.int(self.function.at.source);
            let envelope = (source, self.arguments.int(self.function.received_tag));
            self.hold_posted(place, communicator, envelope, request);
        }
    }

    /// Remembers the communicator of a message that the call has matched. There is one message for
    /// all probes of `MPI_PROC_NULL`, which nobody sends.
    pub(super) fn matched(&self, before: &Before) {
        let at = &self.function.at;
        if at.flag != Positions::NO && self.arguments.output(at.flag) == 0 {
            return;
        }
        if self.arguments.int(at.source) == self.arguments.mpi.abi.proc_null {
            return;
        }
        let message = self.arguments.handle_at(at.message, 0, Kind::Message);
        let communicator = self.known();
        let (callpath, pending) = (Callpath::NONE, Pending::Receive);
        if let Some(place) = requests::insert(message, &Request { callpath, communicator, pending })
        {
            self.hold_matched(place, communicator, before.status, message);
        }
    }

    pub(super) fn before_matched_receive(&self) -> Before {
        let at = &self.function.at;
        let message = self.arguments.handle_at(at.message, 0, Kind::Message);
        let request = requests::take(message);
        let communicator = request.and_then(|place| {
            self.take_matched(place);
            requests::taken(place).communicator
        });
        let status = if at.status == Positions::NO { 0 } else { self.status(at.status) };
        Before { status, communicator, request, ..Before::NOTHING }
    }

    pub(super) fn started_matched_receive(&self, before: &Before, visited: Visited) {
        if before.request.is_none() {
            return;
        }
        let request = self.arguments.handle_at(self.function.at.request, 0, Kind::Request);
        let (callpath, pending) = (visited.callpath(), Pending::Receive);
        let communicator = before.communicator;
        if let Some(place) = requests::insert(request, &Request { callpath, communicator, pending })
        {
            self.hold_matched_request(place);
        }
    }
}
