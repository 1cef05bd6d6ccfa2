//! Calls that complete requests: what was received is known then, and belongs to the call that
//! posted the receive.

use std::ffi::c_int;

use tinyprof::__calls::{MessageKind, Visited};

use super::{Before, Call};
use crate::abi::Handle;
use crate::arguments::Kind;
use crate::function::Positions;
use crate::requests::{self, Pending};
use crate::thread;

impl Call {
    pub(super) fn before_completion_of_one(&self) -> Before {
        let at = &self.function.at;
        let request = requests::find(self.arguments.handle_at(at.request, 0, Kind::Request));
        // Most completed requests are sends, whose statuses nobody looks at.
        let status = if request.is_some() { self.status(at.status) } else { 0 };
        Before { status, request, ..Before::NOTHING }
    }

    /// Keeps the handles of all requests: MPI clears those that it completes.
    pub(super) fn before_completion(&self) -> Before {
        let at = &self.function.at;
        let count = if at.incount == Positions::NO { at.count } else { at.incount };
        let count = self.int(count);
        let handle = |index| self.arguments.handle_at(at.requests, index, Kind::Request);
        let kept = thread::current().keep_handles(count, handle);
        let statuses = if at.statuses == Positions::NO { at.status } else { at.statuses };
        let room = if at.statuses == Positions::NO { 1 } else { count };
        let status = if kept == 0 {
            0
        } else if self.arguments.is_ignored(statuses) {
            let place = thread::current().room_for_statuses(room);
            if let Some(place) = place {
                self.arguments.replace(statuses, place);
            }
            place.unwrap_or(0)
        } else {
            self.arguments.word(statuses)
        };
        Before { status, kept, ..Before::NOTHING }
    }

    /// Handles the completion of a request, whose status is at `status`.
    fn completed(
        &self,
        (place, request): (usize, requests::Request),
        status: usize,
        visited: Visited,
    ) {
        let kind = match request.pending {
            Pending::Receive | Pending::ReceiveAtStart => MessageKind::MessageIn,
            Pending::Read => MessageKind::FileIn,
            Pending::Send { .. } | Pending::Collective { .. } => return,
        };
        if request.pending != Pending::ReceiveAtStart {
            requests::forget(place);
        }
        // Open MPI leaves that field of a status to chance where a file was read.
        let may_be_cancelled = kind == MessageKind::MessageIn && requests::may_be_cancelled();
        if may_be_cancelled && self.is_cancelled(status) {
            return;
        }
        // A request may be completed by another thread than the one that made it.
        let visited = visited.elsewhere(request.callpath).unwrap_or(visited);
        if kind == MessageKind::FileIn {
            visited.count(kind, 0, if status == 0 { 0 } else { self.bytes_of(status) });
        } else {
            self.received(status, request.communicator, visited);
        }
    }

    fn is_cancelled(&self, status: usize) -> bool {
        let mut flag: c_int = 0;
        let place = std::ptr::with_exposed_provenance(status);
        // SAFETY: MPI has written the status, and the place is valid.
        let code = unsafe { self.arguments.mpi.test_cancelled(place, &raw mut flag) };
        status != 0 && code == 0 && flag != 0
    }

    pub(super) fn completed_one(&self, before: &Before, visited: Visited) {
        let flag = self.function.at.flag;
        let is_done = flag == Positions::NO || self.arguments.output(flag) != 0;
        if let Some(request) = before.request.filter(|_| is_done) {
            self.completed(request, before.status, visited);
        }
    }

    fn completed_at(&self, before: &Before, index: usize, status: usize, visited: Visited) {
        let handle =
            if index < before.kept { thread::current().kept_handle(index) } else { Handle(0) };
        if handle == Handle(0) || handle == self.arguments.mpi.abi.request_null {
            return;
        }
        if let Some(request) = requests::find(handle) {
            self.completed(request, status, visited);
        }
    }

    pub(super) fn completed_any(&self, before: &Before, visited: Visited) {
        let at = &self.function.at;
        if at.flag != Positions::NO && self.arguments.output(at.flag) == 0 {
            return;
        }
        if let Some(index) = self.index(self.arguments.output(at.index)) {
            self.completed_at(before, index, before.status, visited);
        }
    }

    pub(super) fn completed_some(&self, before: &Before, visited: Visited) {
        let at = &self.function.at;
        let count = usize::try_from(self.arguments.output(at.outcount)).unwrap_or(0);
        for nth in 0..count {
            if let Some(index) = self.index(self.arguments.int_at(at.indices, nth)) {
                self.completed_at(before, index, self.nth_status(before, nth), visited);
            }
        }
    }

    pub(super) fn completed_all(&self, before: &Before, visited: Visited) {
        let flag = self.function.at.flag;
        if flag != Positions::NO && self.arguments.output(flag) == 0 {
            return;
        }
        for index in 0..before.kept {
            self.completed_at(before, index, self.nth_status(before, index), visited);
        }
    }

    fn nth_status(&self, before: &Before, nth: usize) -> usize {
        if before.status == 0 {
            return 0;
        }
        before.status + nth * self.arguments.mpi.abi.status_bytes
    }

    /// Returns an index into an array, or none for `MPI_UNDEFINED`.
    fn index(&self, index: c_int) -> Option<usize> {
        let first = if self.arguments.is_fortran { 1 } else { 0 };
        usize::try_from(index.checked_sub(first)?).ok()
    }
}
