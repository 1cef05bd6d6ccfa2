//! Calls that complete requests: what was received is known then, and belongs to the call that
//! posted the receive.

use std::ffi::c_int;

use tinyprof::__calls::{MessageKind, Visited};

use super::{Before, Call};
use crate::abi::{Handle, Interface};
use crate::arguments::Kind;
use crate::function::{Completes, Counts, Positions};
use crate::requests::{self, Pending};
use crate::thread::{self, Kept};

impl Call {
    pub(super) fn before_completion_of_one(&self) -> Before {
        let at = &self.function.at;
        let handle = self.arguments.handle_at(at.request, 0, Kind::Request);
        let request = requests::take(handle);
        // Most completed requests are sends, whose statuses nobody looks at.
        let status = if request.is_some() { self.status(at.status) } else { 0 };
        Before { status, request, ..Before::NOTHING }
    }

    /// Keeps the handles of all requests, as MPI clears those that it completes, and takes what is
    /// known of the requests out of the table.
    pub(super) fn before_completion(&self) -> Before {
        let at = &self.function.at;
        let count = if at.incount == Positions::NO { at.count } else { at.incount };
        let count = self.int(count);
        let kept = thread::current().keep_requests(count, |index| {
            let handle = self.arguments.handle_at(at.requests, index, Kind::Request);
            Kept { handle, place: requests::take(handle) }
        });
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

    /// Handles the completion of the request at `place`, whose status is at `status`.
    fn completed(&self, place: usize, status: usize, visited: Visited) {
        let request = requests::taken(place);
        let kind = match request.pending {
            Pending::Receive | Pending::ReceiveAtStart => MessageKind::MessageIn,
            Pending::Read => MessageKind::FileIn,
            Pending::Send { .. } | Pending::Sent => return self.note_sent(place),
            Pending::Collective { .. } | Pending::Started => {
                return self.note_operation(place, &request, visited);
            }
        };
        // Open MPI leaves that field of a status to chance where a file was read.
        let may_be_cancelled = kind == MessageKind::MessageIn && requests::may_be_cancelled();
        let is_cancelled = may_be_cancelled && self.is_cancelled(status);
        if kind == MessageKind::MessageIn {
            self.note_completed(place, status, is_cancelled, visited);
        }
        if is_cancelled {
            return;
        }
        // A request may be completed by another thread than the one that made it.
        let visited = visited.elsewhere(request.callpath).unwrap_or(visited);
        if kind == MessageKind::FileIn {
            visited.count(kind, 0, if status == 0 { 0 } else { self.bytes_of(status) });
        } else {
            self.received_on(request.communicator, status, visited);
        }
    }

    fn is_cancelled(&self, status: usize) -> bool {
        if status == 0 {
            return false;
        }
        let mut flag: c_int = 0;
        let place = std::ptr::with_exposed_provenance(status);
        // SAFETY: MPI has written the status, and the place is valid.
        let code = unsafe { self.arguments.mpi.test_cancelled(place, &raw mut flag) };
        code == 0 && flag != 0
    }

    pub(super) fn completed_one(&self, before: &Before, visited: Visited) {
        let flag = self.function.at.flag;
        let is_done = flag == Positions::NO || self.arguments.output(flag) != 0;
        if let Some(request) = before.request.filter(|_| is_done) {
            self.completed(request, before.status, visited);
        }
    }

    /// Gives back the requests that have been taken out of the table before the call, or forgets
    /// them.
    #[inline]
    pub(super) fn give_back(&self, before: &Before) {
        let at = &self.function.at;
        if let Some(place) = before.request {
            // A message is received once.
            let is_message = at.message != Positions::NO;
            let handle = if is_message { None } else { self.arguments.handle_now(at.request, 0) };
            requests::give_back(place, handle);
        }
        for index in 0..before.kept {
            self.give_back_kept(index, |_| {});
        }
    }

    /// Gives a kept request back after `work` with its place, or forgets it. Does nothing the
    /// second time.
    fn give_back_kept(&self, index: usize, work: impl FnOnce(usize)) {
        if let Some(place) = thread::current().take_kept_place(index) {
            work(place);
            requests::give_back(place, self.arguments.handle_now(self.function.at.requests, index));
        }
    }

    fn completed_at(&self, before: &Before, index: usize, status: usize, visited: Visited) {
        if index < before.kept && self.is_received(before, status) {
            self.give_back_kept(index, |place| self.completed(place, status, visited));
        }
    }

    /// Returns whether the request of a status has completed, if the call has failed for some: what
    /// was too long for its buffer is received, too.
    fn is_received(&self, before: &Before, status: usize) -> bool {
        let mpi = self.arguments.mpi;
        if !before.has_errors || self.function.counts == Counts::Completed(Completes::Any) {
            return true;
        }
        let code = || mpi.abi.error_in(status);
        status != 0 && (code() == 0 || mpi.class_of(code()) == Some(mpi.abi.truncate))
    }

    pub(super) fn completed_any(&self, before: &Before, visited: Visited) {
        let at = &self.function.at;
        let is_done = at.flag == Positions::NO || self.arguments.output(at.flag) != 0;
        let index = || self.index(before, self.arguments.output(at.index));
        if let Some(index) = is_done.then(index).flatten() {
            self.completed_at(before, index, before.status, visited);
        }
    }

    pub(super) fn completed_some(&self, before: &Before, visited: Visited) {
        let at = &self.function.at;
        let count = usize::try_from(self.arguments.output(at.outcount)).unwrap_or(0);
        for nth in 0..count {
            if let Some(index) = self.index(before, self.arguments.int_at(at.indices, nth)) {
                self.completed_at(before, index, self.nth_status(before, nth), visited);
            }
        }
    }

    pub(super) fn completed_all(&self, before: &Before, visited: Visited) {
        let flag = self.function.at.flag;
        let is_done = flag == Positions::NO || self.arguments.output(flag) != 0;
        for index in 0..if is_done { before.kept } else { 0 } {
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
    fn index(&self, before: &Before, index: c_int) -> Option<usize> {
        if !self.arguments.is_fortran {
            return usize::try_from(index).ok();
        }
        let from_one = usize::try_from(index.checked_sub(1)?).ok();
        // `mpi_f08` of MPICH 4.0 counts from 0. There, the request that is gone is the next one.
        let from_zero = usize::try_from(index).ok();
        let is_gone = |index: usize| {
            let null = self.arguments.mpi.abi.request_null;
            index < before.kept
                && ![Handle(0), null].contains(&thread::current().kept_handle(index))
                && self.arguments.handle_now(self.function.at.requests, index).is_none()
        };
        let is_mpich = self.arguments.mpi.abi.interface == Interface::Mpich;
        if is_mpich && !from_one.is_some_and(is_gone) && from_zero.is_some_and(is_gone) {
            return from_zero;
        }
        from_one
    }
}
