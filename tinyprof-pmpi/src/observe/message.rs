//! Messages from one rank to another.

use std::ffi::{c_int, c_void};

use tinyprof::__calls::{Callpath, MessageKind, Signature, Visited};

use super::{Before, Call};
use crate::abi::Handle;
use crate::arguments::Kind;
use crate::communicators::{self, ELSEWHERE};
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

    /// Returns the bytes of `count` elements of a datatype, both given by their positions.
    #[inline]
    pub(super) fn bytes(&self, count: u8, datatype: u8) -> u64 {
        let datatype = self.arguments.handle(datatype, Kind::Datatype);
        let each = datatypes::bytes(self.arguments.mpi, datatype);
        self.arguments.count(count).saturating_mul(each)
    }

    /// Returns the partner in the world, relative to the caller, of a rank in a communicator.
    #[inline]
    pub(super) fn partner(&self, communicator: Handle, rank: c_int) -> i32 {
        let relative = |known: &communicators::Communicator| known.relative(rank);
        communicators::with(self.arguments.mpi, communicator, relative).unwrap_or(ELSEWHERE)
    }

    /// Counts the message that the call sends.
    #[inline(always)]
    pub(super) fn sent(&self, visited: Visited) {
        let at = &self.function.at;
        let (count, datatype) = match at.sendcount {
            Positions::NO => (at.count, at.datatype),
            count => (count, at.sendtype),
        };
        let to = self.arguments.int(at.dest);
        let signature = [
            self.communicator().0 as u64,
            self.arguments.handle(datatype, Kind::Datatype).0 as u64,
            pack(to.cast_unsigned(), handles::generation()),
            self.arguments.count(count),
        ];
        if !visited.count_again(&signature) {
            self.sent_anew(visited, &signature, to, (count, datatype));
        }
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

    /// Counts the message that a status describes.
    #[inline(always)]
    pub(super) fn received(&self, status: usize, communicator: Handle, visited: Visited) {
        if status == 0 {
            return;
        }
        let (source, _) = self.arguments.mpi.abi.envelope_in(status);
        let bytes = self.bytes_of(status);
        let signature = [
            communicator.0 as u64,
            RECEIVED,
            pack(source.cast_unsigned(), handles::generation()),
            bytes,
        ];
        if !visited.count_again(&signature) {
            self.received_anew(visited, &signature, source, communicator);
        }
    }

    #[inline(never)]
    fn received_anew(
        &self,
        visited: Visited,
        signature: &Signature,
        source: c_int,
        communicator: Handle,
    ) {
        if source == self.arguments.mpi.abi.proc_null {
            return visited.pass_over(signature);
        }
        let partner = self.partner(communicator, source);
        visited.count_as(signature, MessageKind::MessageIn, partner, signature[3]);
    }

    /// Remembers the receive that the call has posted, unless it is from `MPI_PROC_NULL`: of that,
    /// MPICH says nothing in the status.
    pub(super) fn started_receive(&self, visited: Visited) {
        if self.arguments.int(self.function.at.source) == self.arguments.mpi.abi.proc_null {
            return;
        }
        let request = self.arguments.handle_at(self.function.at.request, 0, Kind::Request);
        let communicator = self.communicator();
        if request == self.arguments.mpi.abi.request_null {
            return;
        }
        let (callpath, pending) = (visited.callpath(), Pending::Receive);
        if let Some(place) = requests::insert(request, &Request { callpath, communicator, pending })
        {
            let at = &self.function.at;
            let tag = if at.tag == Positions::NO { at.recvtag } else { at.tag };
            let envelope = (self.arguments.int(at.source), self.arguments.int(tag));
            self.hold_posted(place, communicator, envelope, request);
        }
    }

    /// Remembers the communicator of a message that the call has matched.
    pub(super) fn matched(&self, before: &Before) {
        let at = &self.function.at;
        if at.flag != Positions::NO && self.arguments.output(at.flag) == 0 {
            return;
        }
        let message = self.arguments.handle_at(at.message, 0, Kind::Message);
        let communicator = self.communicator();
        let (callpath, pending) = (Callpath::NONE, Pending::Receive);
        if let Some(place) = requests::insert(message, &Request { callpath, communicator, pending })
        {
            self.hold_matched(place, before.status, message);
        }
    }

    pub(super) fn before_matched_receive(&self) -> Before {
        let at = &self.function.at;
        let message = self.arguments.handle_at(at.message, 0, Kind::Message);
        let found = requests::find(message);
        if let Some((place, _)) = found {
            self.take_matched(place);
            requests::forget(place);
        }
        let communicator = found.map_or(Handle(0), |(_, request)| request.communicator);
        let status = if at.status == Positions::NO { 0 } else { self.status(at.status) };
        Before { status, communicator, ..Before::NOTHING }
    }

    pub(super) fn started_matched_receive(&self, before: &Before, visited: Visited) {
        let request = self.arguments.handle_at(self.function.at.request, 0, Kind::Request);
        let communicator = before.communicator;
        let pending = Pending::Receive;
        if communicator == Handle(0) {
            return;
        }
        let callpath = visited.callpath();
        if let Some(place) = requests::insert(request, &Request { callpath, communicator, pending })
        {
            self.hold_matched_request(place);
        }
    }
}
