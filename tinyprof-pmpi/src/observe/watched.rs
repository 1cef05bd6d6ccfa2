//! Calls at level `messages`: what is done for companions before and after them.

use std::ffi::c_int;

use tinyprof::__calls::Visited;

use super::{Before, Call, inside};
use crate::abi::{Handle, Interface};
use crate::arguments::Kind;
use crate::companions::{self, Completed, Envelope, Held, Message, Span, held, now_ns};
use crate::forward::forward;
use crate::function::{Looks, Positions, Role, SITES};
use crate::requests::{self, Pending};

/// The size from which a blocking send waits for its receive, in bytes: the usual limit of MPI's
/// shared memory for messages that it stores itself.
const STORED_BYTES_MAX_OPEN_MPI: u64 = 4 << 10;
/// The same, for others.
const STORED_BYTES_MAX: u64 = 16 << 10;

impl Call {
    /// Makes the call inside of its region, counts what it did, and exchanges companions.
    ///
    /// # Safety
    /// As for [`make_and_count`](Self::make_and_count).
    #[inline(never)]
    pub(super) unsafe fn make_watched(
        &self,
        index: usize,
        address: usize,
        original: usize,
    ) -> c_int {
        let begun_ns = now_ns(self.recorder);
        let is_of_several = self.sends_or_receives() && companions::begin_of_several(self.recorder);
        self.give_up();
        let before = match self.function.looks {
            Looks::BeforeAndAfter => self.before(),
            _ => Before::NOTHING,
        };
        let inside = inside::enter(self.recorder);
        let open = self.recorder.open(&SITES[index], index, address);
        let visited = open.visited();
        companions::with(self.recorder, |state| state.enter(self.recorder, visited, begun_ns));
        self.announce(visited, begun_ns);
        let entered_ns = now_ns(self.recorder);
        companions::with(self.recorder, |state| state.cost(entered_ns.saturating_sub(begun_ns)));
        // SAFETY: as the caller says, and the words are those of its call.
        let code = unsafe { forward(original, self.arguments.words, self.count()) };
        let left_ns = now_ns(self.recorder);
        let visited = open.end();
        let mut since_ns = left_ns;
        if self.is_successful(code) {
            self.after(&before, visited);
            let span = Span { entered_ns, left_ns };
            since_ns = self.conclude(&before, visited, span).unwrap_or(left_ns);
        }
        self.give_back(&before);
        companions::with(self.recorder, |state| state.leave(self.recorder, visited, since_ns));
        if is_of_several {
            companions::end_of_several();
        }
        drop(inside);
        code
    }

    /// Returns whether the call sends, posts or completes messages.
    #[inline]
    fn sends_or_receives(&self) -> bool {
        !matches!(
            self.function.role,
            Role::Plain | Role::Probe | Role::Collective(..) | Role::MakeCommunicator
        )
    }

    pub(super) fn mpi(&self) -> &'static crate::library::Mpi {
        self.arguments.mpi
    }

    /// Sends the companions of the messages that the call sends.
    #[inline]
    fn announce(&self, visited: Visited, entered_ns: u64) {
        let at = &self.function.at;
        match self.function.role {
            Role::Send => {
                let bytes = self.bytes(at.count, at.datatype);
                let blocks = at.request == Positions::NO && self.blocks(bytes);
                self.announce_one(visited, entered_ns, at.tag, bytes, blocks);
            }
            Role::Exchange | Role::StartExchange => {
                let bytes = self.bytes(at.sendcount, at.sendtype);
                self.announce_one(visited, entered_ns, at.sendtag, bytes, false);
            }
            Role::ExchangeReplace | Role::StartExchangeReplace => {
                let bytes = self.bytes(at.count, at.datatype);
                self.announce_one(visited, entered_ns, at.sendtag, bytes, false);
            }
            Role::Start => self.announce_started(1, at.request, visited, entered_ns),
            Role::Startall => {
                let count = self.int(at.count);
                self.announce_started(count, at.requests, visited, entered_ns);
            }
            _ => {}
        }
    }

    fn announce_one(&self, visited: Visited, entered_ns: u64, tag: u8, bytes: u64, blocks: bool) {
        let to = self.arguments.int(self.function.at.dest);
        if to == self.mpi().abi.proc_null {
            return;
        }
        let tag = self.arguments.int(tag);
        let message = Message { communicator: self.communicator(), to, tag, bytes, blocks };
        companions::with_messages(self.recorder, |state| {
            state.announce(self.mpi(), visited, entered_ns, &message);
        });
    }

    fn announce_started(&self, count: usize, array: u8, visited: Visited, entered_ns: u64) {
        for index in 0..count {
            let handle = self.arguments.handle_at(array, index, Kind::Request);
            let Some((place, request)) = requests::find(handle) else { continue };
            let Pending::Send { bytes, .. } = request.pending else { continue };
            let held = held::at(place);
            if held.peer == self.mpi().abi.proc_null {
                continue;
            }
            let (communicator, to, tag) = (request.communicator, held.peer, held.tag);
            let message = Message { communicator, to, tag, bytes, blocks: false };
            companions::with_messages(self.recorder, |state| {
                state.announce(self.mpi(), visited, entered_ns, &message);
            });
        }
    }

    /// Returns whether a blocking send of so many bytes waits for its receive.
    fn blocks(&self, bytes: u64) -> bool {
        let name = self.function.name.as_bytes();
        let stored = match self.mpi().abi.interface {
            Interface::OpenMpi => STORED_BYTES_MAX_OPEN_MPI,
            _ => STORED_BYTES_MAX,
        };
        name.starts_with(b"MPI_Ssend") || bytes > stored && !name.starts_with(b"MPI_Bsend")
    }

    /// Finds out for whom the call has waited. Returns when it knew, if the cost is counted.
    #[inline]
    fn conclude(&self, before: &Before, visited: Visited, span: Span) -> Option<u64> {
        match self.function.role {
            Role::Receive | Role::Exchange | Role::ExchangeReplace => {
                self.conclude_receive(before.status, visited, span);
            }
            Role::MatchedReceive => {
                let matched = companions::with(self.recorder, |state| state.matched.take());
                if let Some(held) = matched.flatten() {
                    self.got(held, before.communicator, before.status);
                    self.conclude_all(visited, span, true);
                }
            }
            Role::CompleteOne | Role::CompleteAny | Role::CompleteAll => {
                let waits = self.function.at.flag == Positions::NO;
                self.conclude_all(visited, span, waits);
            }
            Role::CompleteSome => {
                let waits = self.function.name != "MPI_Testsome";
                self.conclude_all(visited, span, waits);
            }
            Role::Collective(..) => {
                let met = self.arguments.met(self.function)?;
                return companions::meet(self.mpi(), self.recorder, visited, span, &met);
            }
            Role::MakeCommunicator => self.arguments.make_twin(self.function),
            _ => {}
        }
        None
    }

    fn conclude_all(&self, visited: Visited, span: Span, waits: bool) {
        companions::with_messages(self.recorder, |state| {
            if !state.completed.is_empty() {
                state.conclude(self.mpi(), self.recorder, visited, span, waits);
            }
        });
    }

    fn conclude_receive(&self, status: usize, visited: Visited, span: Span) {
        let (source, tag) = self.envelope_in(status);
        if source < 0 {
            return;
        }
        let communicator = self.communicator();
        let wanted = self.arguments.int(self.function.at.source);
        let envelope = Envelope { communicator, source, tag };
        let concluded = companions::with_messages(self.recorder, |state| {
            // It is posted now that it has returned: no other was posted meanwhile.
            let posted = state.post(self.mpi(), envelope, Handle(0));
            let post = state.post_at(span.entered_ns);
            let held = Held { peer: wanted, tag, posted, post };
            state.completed.push(self.completed_now(held, communicator, status, false));
            state.conclude(self.mpi(), self.recorder, visited, span, true);
        });
        if concluded.is_none() {
            companions::count_unclear();
        }
    }

    /// Returns a receive that the call has completed, whose status is at `status`.
    fn completed_now(
        &self,
        held: Held,
        communicator: Handle,
        status: usize,
        is_cancelled: bool,
    ) -> Completed {
        let (source, tag) = self.envelope_in(status);
        let bytes = if is_cancelled { 0 } else { self.bytes_of(status) };
        let posted_by = tinyprof::__calls::EdgeKey::UNKNOWN;
        Completed { held, communicator, source, tag, bytes, is_cancelled, posted_by }
    }

    fn got(&self, held: Held, communicator: Handle, status: usize) {
        let completed = self.completed_now(held, communicator, status, false);
        companions::with_messages(self.recorder, |state| state.completed.push(completed));
    }

    /// Takes note of a request that has been completed, for the end of the call.
    pub(super) fn note_completed(
        &self,
        place: usize,
        status: usize,
        is_cancelled: bool,
        visited: Visited,
    ) {
        if status == 0 || !companions::is_on() {
            return;
        }
        let request = requests::taken(place);
        let held = held::at(place);
        let completed = self.completed_now(held, request.communicator, status, is_cancelled);
        if completed.source < 0 && !is_cancelled {
            return;
        }
        let posted_by = visited.elsewhere(request.callpath).map(Visited::id);
        let posted_by = posted_by.unwrap_or(tinyprof::__calls::EdgeKey::UNKNOWN);
        let noted = companions::with_messages(self.recorder, |state| {
            state.completed.push(Completed { posted_by, ..completed });
        });
        if noted.is_none() && !is_cancelled {
            companions::count_unclear();
        }
    }

    /// Returns source and tag in a status.
    pub(super) fn envelope_in(&self, status: usize) -> (c_int, c_int) {
        if status == 0 {
            return (-1, 0);
        }
        let place = std::ptr::with_exposed_provenance::<u8>(status);
        let int = |at: usize| {
            // SAFETY: the address is that of a status which MPI has written, and the interface says
            // where in it this number is.
            unsafe { place.wrapping_add(at).cast::<c_int>().read_unaligned() }
        };
        let abi = &self.mpi().abi;
        (int(abi.status_source), int(abi.status_tag))
    }
}
