//! Messages from one rank to another.

use std::ffi::{c_int, c_void};

use tinyprof::__calls::{Callpath, MessageKind};

use super::{Before, Call};
use crate::abi::Handle;
use crate::arguments::Kind;
use crate::communicators::{self, ELSEWHERE};
use crate::datatypes;
use crate::function::Positions;
use crate::requests::{self, Pending, Request};

/// A message that has come.
pub(super) struct Message {
    pub(super) source: c_int,
    pub(super) bytes: u64,
}

impl Call<'_> {
    pub(super) fn communicator(&self) -> Handle {
        self.arguments.handle(self.function.at.comm, Kind::Communicator)
    }

    /// Returns the bytes of `count` elements of a datatype, both given by their positions.
    #[inline]
    pub(super) fn bytes(&self, count: u8, datatype: u8) -> u64 {
        let datatype = self.arguments.handle(datatype, Kind::Datatype);
        let each = datatypes::bytes(self.arguments.mpi, self.thread, datatype);
        self.arguments.count(count).saturating_mul(each)
    }

    /// Returns the partner in the world, relative to the caller, of a rank in a communicator.
    #[inline]
    pub(super) fn partner(&self, communicator: Handle, rank: c_int) -> i32 {
        let relative = |known: &communicators::Communicator| known.relative(rank);
        communicators::with(self.arguments.mpi, communicator, relative).unwrap_or(ELSEWHERE)
    }

    /// Returns the bytes that the call sends.
    fn bytes_to_send(&self) -> u64 {
        let at = &self.function.at;
        match at.sendcount {
            Positions::NO => self.bytes(at.count, at.datatype),
            count => self.bytes(count, at.sendtype),
        }
    }

    /// Counts the message that the call sends.
    #[inline]
    pub(super) fn sent(&self, callpath: Callpath) {
        let to = self.arguments.int(self.function.at.dest);
        if to != self.arguments.mpi.abi.proc_null {
            let partner = self.partner(self.communicator(), to);
            self.count(callpath, MessageKind::MessageOut, partner, self.bytes_to_send());
        }
    }

    /// Returns the address of the status at `position`. Where the program ignores it, MPI is made
    /// to write it to a place of ours.
    #[inline]
    pub(super) fn status(&self, position: u8) -> usize {
        if !self.arguments.is_ignored(position) {
            return self.arguments.word(position);
        }
        let Some(place) = self.thread.room_for_statuses(1) else { return 0 };
        self.arguments.replace(position, place);
        place
    }

    /// Returns the message that a status describes, or none for `MPI_PROC_NULL`.
    #[inline]
    pub(super) fn message(&self, status: usize) -> Option<Message> {
        if status == 0 {
            return None;
        }
        let abi = &self.arguments.mpi.abi;
        let place = std::ptr::with_exposed_provenance::<u8>(status);
        // SAFETY: the address is that of a status which MPI has written, and the interface says
        // where in it the source is.
        let source =
            unsafe { place.wrapping_add(abi.status_source).cast::<c_int>().read_unaligned() };
        if source == abi.proc_null {
            return None;
        }
        Some(Message { source, bytes: self.bytes_of(status) })
    }

    /// Returns the bytes that a status tells.
    #[inline]
    pub(super) fn bytes_of(&self, status: usize) -> u64 {
        let mpi = self.arguments.mpi;
        if let Some(bytes) = mpi.abi.bytes_in(status) {
            return bytes;
        }
        let mut bytes = 0;
        let place = std::ptr::with_exposed_provenance::<c_void>(status);
        // SAFETY: MPI has written the status, and the place is valid.
        let code = unsafe { mpi.get_elements_x(place, mpi.abi.byte, &raw mut bytes) };
        if code == 0 { u64::try_from(bytes).unwrap_or(0) } else { 0 }
    }

    /// Counts the message that the status describes.
    #[inline]
    pub(super) fn received(&self, status: usize, communicator: Handle, callpath: Callpath) {
        if let Some(message) = self.message(status) {
            let partner = self.partner(communicator, message.source);
            self.count(callpath, MessageKind::MessageIn, partner, message.bytes);
        }
    }

    /// Remembers the receive that the call has posted, unless it is from `MPI_PROC_NULL`: of that,
    /// MPICH says nothing in the status.
    pub(super) fn started_receive(&self, callpath: Callpath) {
        if self.arguments.int(self.function.at.source) == self.arguments.mpi.abi.proc_null {
            return;
        }
        let request = self.arguments.handle_at(self.function.at.request, 0, Kind::Request);
        let communicator = self.communicator();
        if request != self.arguments.mpi.abi.request_null {
            requests::insert(
                request,
                &Request { callpath, communicator, pending: Pending::Receive },
            );
        }
    }

    /// Remembers the communicator of a message that the call has matched.
    pub(super) fn matched(&self) {
        let at = &self.function.at;
        if at.flag != Positions::NO && self.arguments.output(at.flag) == 0 {
            return;
        }
        let message = self.arguments.handle_at(at.message, 0, Kind::Message);
        let communicator = self.communicator();
        let pending = Pending::Receive;
        requests::insert(message, &Request { callpath: Callpath::NONE, communicator, pending });
    }

    pub(super) fn before_matched_receive(&self) -> Before {
        let at = &self.function.at;
        let message = self.arguments.handle_at(at.message, 0, Kind::Message);
        let found = requests::find(message);
        if let Some((place, _)) = found {
            requests::forget(place);
        }
        let communicator = found.map_or(Handle(0), |(_, request)| request.communicator);
        let status = if at.status == Positions::NO { 0 } else { self.status(at.status) };
        Before { status, communicator, ..Before::NOTHING }
    }

    pub(super) fn started_matched_receive(&self, before: &Before, callpath: Callpath) {
        let request = self.arguments.handle_at(self.function.at.request, 0, Kind::Request);
        let communicator = before.communicator;
        let pending = Pending::Receive;
        if communicator != Handle(0) {
            requests::insert(request, &Request { callpath, communicator, pending });
        }
    }
}
