//! Calls at level `messages`: what is done for companions before and after them.

use std::ffi::c_int;

use tinyprof::__calls::{EdgeKey, Visited};

use super::{Before, Call, inside};
use crate::abi::{Handle, Interface};
use crate::arguments::Kind;
use crate::communicators::{self, Communicator, ELSEWHERE};
use crate::companions::{
    self, BLOCKED_NS_MIN, Class, Completed, Held, Meet, Message, Mode, Probed, Sent, Span, State,
    held, now_ns, ns_of,
};
use crate::datatypes;
use crate::forward::forward;
use crate::function::{Looks, Positions, Role, SITES};
use crate::requests::{self, Pending};

/// The size from which a blocking send waits for its receive, in bytes, where nobody can wait to
/// see: the usual limit of MPI's shared memory for messages that it stores itself.
const STORED_BYTES_MAX_OPEN_MPI: u64 = 4 << 10;
/// The same, for others.
const STORED_BYTES_MAX: u64 = 16 << 10;
/// The longest time that answers of receivers are waited for, where no later call may hear them.
const HEARD_NS_MAX: u64 = 20_000;
/// The size up to which MPI surely stores a message that is sent without waiting, in bytes. To
/// follow its request would cost more than sending it.
const SURELY_STORED_BYTES: u64 = 1_024;

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
        let class = Class::of(self.function.role);
        let measures = companions::with(self.recorder, |state| state.measures(class));
        let is_measured = measures.unwrap_or(false);
        let since_ns = if is_measured { now_ns(self.recorder) } else { 0 };
        let communicates = self.sends_or_receives();
        if communicates && companions::are_multiple() {
            self.begin_to_communicate();
        }
        self.give_up();
        let before = match self.function.looks {
            Looks::BeforeAndAfter => self.before(),
            _ if self.function.role == Role::Probe => {
                Before { status: self.status(self.function.at.status), ..Before::NOTHING }
            }
            _ => Before::NOTHING,
        };
        let inside = inside::enter(self.recorder);
        let open = self.recorder.open(&SITES[index], index, address);
        let visited = open.visited();
        let mut begun_ns = ns_of(open.begun_ticks());
        if self.called_ticks != 0 {
            // Who waits for this rank has waited for our look-up, too, which is our own cost.
            let called_ns = ns_of(self.called_ticks).min(begun_ns);
            companions::with(self.recorder, |state| state.delay(begun_ns - called_ns));
            begun_ns = called_ns;
        }
        companions::with(self.recorder, |state| state.enter(self.recorder, visited, begun_ns));
        let (sent, not_sized) = self.announce(visited, begun_ns);
        let (mut meet, mut removed) = (None, None);
        if !self.is_plain_message() {
            meet = self.meet(begun_ns);
            self.restart_operations(begun_ns);
            self.begin_access(visited, begun_ns);
            removed = self.arguments.remove_object(self.function);
        }
        let measured_ns = is_measured.then(|| now_ns(self.recorder).saturating_sub(since_ns));
        let worked = companions::with(self.recorder, |state| state.worked(class, measured_ns));
        let entered_ns = match measured_ns {
            Some(ns) => since_ns + ns,
            None => begun_ns + worked.unwrap_or(0),
        };
        let (code, held_ns) = if companions::keeps_order() {
            // SAFETY: as the caller says.
            unsafe { self.forward_in_turn(original, entered_ns) }
        } else {
            // SAFETY: as the caller says, and the words are those of its call.
            (unsafe { forward(original, self.arguments.words, self.count()) }, 0)
        };
        if communicates && companions::are_multiple() {
            companions::is_in_call(self.recorder, false);
        }
        self.expect();
        let left_ticks = self.recorder.ticks();
        let visited = open.end_at(left_ticks);
        let left_ns = ns_of(left_ticks);
        if self.posts() {
            companions::with(self.recorder, |state| state.returned_ns = left_ns);
        }
        let mut since_ns = left_ns;
        // As if the message had not been held back.
        let span = Span { entered_ns, left_ns: left_ns.saturating_sub(held_ns) };
        if self.is_successful(code) {
            self.after(&before, visited);
            if let Some((count, datatype)) = not_sized {
                // MPI knows the datatype: for the next message, so does this thread.
                self.bytes(count, datatype);
            }
            self.conclude(&before, visited, span);
            if let Some(sent) = sent {
                self.hold_sent(sent, visited);
            }
            if let Some(meet) = meet
                && !self.keep_operation(&meet, visited)
            {
                let ended_ns = meet.end(self.mpi(), self.recorder, visited, span);
                since_ns = ended_ns.unwrap_or(left_ns);
            }
        } else if self.has_taken(code) {
            // Their companions are taken as well: otherwise those of later messages would be.
            self.after(&before.with_errors(), visited);
            self.conclude(&before, visited, span);
        } else {
            self.arguments.take_note_of_new(self.function, false);
        }
        if !self.is_successful(code)
            && let Some(meet) = meet
        {
            if self.mpi().has_communicated(self.code(code)) {
                meet.take_part(self.mpi());
            } else {
                meet.withdraw();
            }
        }
        if held_ns > 0 {
            companions::with(self.recorder, |state| state.held_back(held_ns));
        }
        if communicates {
            let waits = !self.function.is_test();
            companions::with(self.recorder, |state| state.ended(visited, span, waits));
            if companions::are_multiple() {
                self.hear_soon();
            }
        }
        if before.request.is_some() || before.kept > 0 {
            self.give_back(&before);
        }
        // What is shorter hides nothing, and most calls are.
        let is_unknown = span.duration_ns() >= BLOCKED_NS_MIN
            && (!self.function.is_followed()
                || meet.is_none() && self.arguments.meets_unknown(self.function)
                || self.completes_unknown(&before));
        companions::with(self.recorder, |state| {
            state.is_unknown |= is_unknown;
            let times = (since_ns, span.duration_ns());
            state.leave(self.recorder, visited, times, (class, is_measured));
        });
        drop(removed);
        drop(inside);
        code
    }

    /// Returns whether the call does no more than send or receive a message, or complete requests.
    #[inline]
    fn is_plain_message(&self) -> bool {
        matches!(
            self.function.role,
            Role::Send
                | Role::Receive
                | Role::StartReceive
                | Role::CompleteOne
                | Role::CompleteAll
                | Role::Exchange
        )
    }

    /// Returns whether the call has waited for a request of which nothing is known, such as that of
    /// a small message that was sent.
    #[cold]
    #[inline(never)]
    fn completes_unknown(&self, before: &Before) -> bool {
        match self.function.role {
            _ if self.function.is_test() => false,
            Role::CompleteOne => before.request.is_none(),
            Role::CompleteAny | Role::CompleteSome | Role::CompleteAll => {
                !companions::with(self.recorder, |state| state.has_waited).unwrap_or(false)
            }
            _ => false,
        }
    }

    /// Returns whether the call sends, posts or completes messages.
    #[inline]
    fn sends_or_receives(&self) -> bool {
        !matches!(
            self.function.role,
            Role::Plain
                | Role::Unfollowed
                | Role::Probe
                | Role::Collective(..)
                | Role::MakeCommunicator
                | Role::MakeIntercommunicator
                | Role::MakeWindow
                | Role::FreeWindow
                | Role::Fence
                | Role::Lock
                | Role::LockAll
                | Role::Unlock
                | Role::UnlockAll
                | Role::OpenFile
                | Role::CloseFile
                | Role::JoinFile
        )
    }

    /// Prepares for other threads that send or receive at the same time.
    #[cold]
    #[inline(never)]
    fn begin_to_communicate(&self) {
        companions::with(self.recorder, State::begin_call);
        companions::is_in_call(self.recorder, true);
        let at = &self.function.at;
        let tag = match self.function.role {
            Role::Receive | Role::StartReceive | Role::Match => at.tag,
            Role::Exchange
            | Role::ExchangeReplace
            | Role::StartExchange
            | Role::StartExchangeReplace => at.recvtag,
            Role::Start => return self.about_to_start(1, at.request),
            Role::Startall => return self.about_to_start(self.int(at.count), at.requests),
            _ => return,
        };
        let envelope = (self.arguments.int(at.source), self.arguments.int(tag));
        self.about_to_receive(communicators::find(self.communicator()), envelope);
    }

    /// Waits for the answers of receivers, but not for long: the thread may never call MPI again.
    #[cold]
    #[inline(never)]
    fn hear_soon(&self) {
        let begun_ns = now_ns(self.recorder);
        let hears_all = || companions::with(self.recorder, |state| state.hears_all(self.recorder));
        let mut waited_ns = 0;
        while hears_all() == Some(false) && waited_ns < HEARD_NS_MAX {
            std::hint::spin_loop();
            waited_ns = now_ns(self.recorder).saturating_sub(begun_ns);
        }
        if waited_ns > 0 {
            companions::with(self.recorder, |state| state.delay(waited_ns));
        }
    }

    #[cold]
    #[inline(never)]
    fn about_to_start(&self, count: usize, array: u8) {
        for index in 0..count {
            let handle = self.arguments.handle_at(array, index, Kind::Request);
            if let Some((place, request)) = requests::find(handle)
                && request.pending == Pending::ReceiveAtStart
            {
                let held = held::at(place);
                self.about_to_receive(request.communicator, (held.peer, held.tag));
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn about_to_receive(&self, known: Option<&Communicator>, envelope: (c_int, c_int)) {
        if let Some(twin) = known.and_then(Communicator::twin) {
            companions::with(self.recorder, |state| {
                state.about_to_receive(self.mpi(), &twin, envelope);
            });
        }
    }

    /// Returns whether the call posts a receive that another one completes.
    #[inline]
    fn posts(&self) -> bool {
        matches!(
            self.function.role,
            Role::StartReceive
                | Role::Match
                | Role::StartMatchedReceive
                | Role::StartExchange
                | Role::StartExchangeReplace
                | Role::Start
                | Role::Startall
        )
    }

    pub(super) fn mpi(&self) -> &'static crate::library::Mpi {
        self.arguments.mpi
    }

    /// Sends the companions of the messages that the call sends. Returns the message if a request
    /// will complete it, and count and datatype if their size is not known yet.
    #[inline]
    fn announce(&self, visited: Visited, entered_ns: u64) -> (Option<Sent>, Option<(u8, u8)>) {
        let at = &self.function.at;
        let (tag, data, mode) = match self.function.role {
            Role::Send => (at.tag, (at.count, at.datatype), self.mode()),
            Role::Exchange => (at.sendtag, (at.sendcount, at.sendtype), Mode::Standard),
            Role::ExchangeReplace => (at.sendtag, (at.count, at.datatype), Mode::Standard),
            // Of two messages that one request completes, the one that comes is followed.
            Role::StartExchange => (at.sendtag, (at.sendcount, at.sendtype), Mode::Buffered),
            Role::StartExchangeReplace => (at.sendtag, (at.count, at.datatype), Mode::Buffered),
            Role::Start => {
                self.announce_started(1, at.request, visited, entered_ns);
                return (None, None);
            }
            Role::Startall => {
                let count = self.int(at.count);
                self.announce_started(count, at.requests, visited, entered_ns);
                return (None, None);
            }
            _ => return (None, None),
        };
        let to = self.arguments.int(at.dest);
        let Some(communicator) = communicators::find(self.communicator()) else {
            return (None, None);
        };
        if to == self.mpi().abi.proc_null {
            return (None, None);
        }
        let tag = self.arguments.int(tag);
        let bytes = self.bytes_before(data);
        let message = Message { communicator, to, tag, bytes, mode };
        let sent = companions::with(self.recorder, |state| {
            let sent = state.announce(self.mpi(), visited, entered_ns, &message)?;
            if at.request != Positions::NO {
                return (sent.bytes > SURELY_STORED_BYTES).then_some(sent);
            }
            state.may_wait_for(sent);
            None
        });
        (sent.flatten(), bytes.is_none().then_some(data))
    }

    #[cold]
    #[inline(never)]
    fn announce_started(&self, count: usize, array: u8, visited: Visited, entered_ns: u64) {
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
            let message = Message { communicator, to, tag, bytes, mode: Mode::Standard };
            let sent = companions::with(self.recorder, |state| {
                state.announce(self.mpi(), visited, entered_ns, &message)
            });
            held::keep_sent(place, sent.flatten().as_ref());
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

    /// Returns whether a blocking send of so many bytes waits for its receive.
    pub(super) fn blocks(&self, bytes: u64) -> bool {
        let name = self.function.name.as_bytes();
        let stored = match self.mpi().abi.interface {
            Interface::OpenMpi => STORED_BYTES_MAX_OPEN_MPI,
            _ => STORED_BYTES_MAX,
        };
        name.starts_with(b"MPI_Ssend") || bytes > stored && !name.starts_with(b"MPI_Bsend")
    }

    /// Prepares for the companion of the message that the call has received.
    #[inline]
    fn expect(&self) {
        if self.function.role == Role::Receive
            && let Some(known) = communicators::find(self.communicator())
        {
            let from = known.relative(self.arguments.int(self.function.at.source));
            companions::with(self.recorder, |state| state.expect(from));
        }
    }

    /// Begins a collective operation.
    #[inline]
    fn meet(&self, entered_ns: u64) -> Option<Meet> {
        let met = self.arguments.met(self.function)?;
        Meet::begin(met, Some((self.recorder, entered_ns)))
    }

    /// Finds out for which messages the call has waited.
    #[inline]
    fn conclude(&self, before: &Before, visited: Visited, span: Span) {
        let at = &self.function.at;
        match self.function.role {
            Role::CommitDatatype => {
                let datatype = self.arguments.handle_at(at.datatype, 0, Kind::Datatype);
                datatypes::bytes(self.mpi(), datatype);
            }
            Role::Receive | Role::Exchange | Role::ExchangeReplace => {
                self.conclude_receive(before.status, visited, span);
            }
            Role::Probe | Role::Match if self.has_found() => {
                self.conclude_probe(before.status, visited, span);
            }
            Role::Probe | Role::Match => self.conclude_nothing(span),
            Role::MatchedReceive => {
                let matched = companions::with(self.recorder, |state| {
                    let held = state.matched.take()?;
                    // The message was matched before. Its receive is posted by this call.
                    let (post, ideal_ns) = state.post_at(span.entered_ns);
                    Some(Held { post, ideal_ns, ..held })
                });
                if let Some(held) = matched.flatten() {
                    let completed =
                        self.completed_now(held, before.communicator, before.status, false);
                    companions::with(self.recorder, |state| {
                        state.completed.push(completed);
                    });
                    self.conclude_all(visited, span, true);
                }
            }
            Role::CompleteOne | Role::CompleteAny | Role::CompleteSome | Role::CompleteAll => {
                let waits = !self.function.is_test();
                if !self.has_found() {
                    return self.conclude_nothing(span);
                }
                let span = self.conclude_operations(visited, span, waits);
                self.conclude_all(visited, span, waits);
            }
            Role::Post
            | Role::StartAccess
            | Role::CompleteAccess
            | Role::WaitExposure
            | Role::Lock
            | Role::LockAll
            | Role::Put
            | Role::Get
            | Role::GetAccumulate
            | Role::FetchAndOp
            | Role::CompareAndSwap => self.conclude_access(visited, span),
            Role::MakeCommunicator
            | Role::MakeIntercommunicator
            | Role::MakeWindow
            | Role::OpenFile => self.arguments.take_note_of_new(self.function, true),
            _ => {}
        }
    }

    fn conclude_all(&self, visited: Visited, span: Span, waits: bool) {
        companions::with(self.recorder, |state| {
            if !state.completed.is_empty() {
                state.takes_any =
                    matches!(self.function.role, Role::CompleteAny | Role::CompleteSome);
                state.conclude(self.mpi(), self.recorder, visited, span, waits);
                state.takes_any = false;
            }
        });
    }

    /// Returns whether a call has found what it looks for, if it does not wait for it.
    #[inline]
    fn has_found(&self) -> bool {
        let Positions { flag, outcount, .. } = self.function.at;
        match (self.function.is_test(), flag) {
            (false, _) => true,
            (true, Positions::NO) => self.arguments.output(outcount) != 0,
            (true, flag) => self.arguments.output(flag) != 0,
        }
    }

    /// Takes note of a test that has found nothing.
    fn conclude_nothing(&self, span: Span) {
        companions::with(self.recorder, |state| state.found_nothing(span));
    }

    /// Finds out for how long a call has waited for a message that it has not received.
    fn conclude_probe(&self, status: usize, visited: Visited, span: Span) {
        let (source, tag) = self.envelope_in(status);
        if source < 0 {
            return;
        }
        let waits = !self.function.is_test();
        let Some((known, twin)) = self.known().and_then(|known| Some((known, known.twin()?)))
        else {
            companions::with(self.recorder, |state| state.is_unknown = waits);
            return;
        };
        let at = &self.function.at;
        let is_any = self.arguments.int(at.source) == self.mpi().abi.any_source;
        let posted = match self.function.role {
            Role::Match => {
                let message = self.arguments.handle_at(at.message, 0, Kind::Message);
                requests::find(message).and_then(|(place, _)| held::at(place).posted)
            }
            _ => None,
        };
        let (partner, source) = (known.relative(source), source.cast_unsigned());
        let probed = Probed { twin, partner, source, tag, is_any, posted };
        companions::with(self.recorder, |state| {
            state.is_unknown = !state.probed(visited, span, waits, &probed) && waits;
        });
    }

    fn conclude_receive(&self, status: usize, visited: Visited, span: Span) {
        let (source, tag) = self.envelope_in(status);
        if source < 0 {
            return;
        }
        let peer = self.arguments.int(self.function.at.source);
        let held = Held { peer, tag, ..Held::NOT_FOLLOWED };
        let mut completed = self.completed_now(held, self.known(), status, false);
        companions::with(self.recorder, |state| {
            // It is posted now that it has returned: no other was posted meanwhile.
            let post = |twin| state.post(self.mpi(), &twin, (source, tag), Handle(0));
            completed.held.posted = completed.twin.map(post);
            (completed.held.post, completed.held.ideal_ns) = state.post_at(span.entered_ns);
            state.conclude_one(self.mpi(), self.recorder, visited, span, true, &completed);
        });
    }

    /// Returns a receive that the call has completed, whose status is at `status`.
    fn completed_now(
        &self,
        held: Held,
        communicator: Option<&Communicator>,
        status: usize,
        is_cancelled: bool,
    ) -> Completed {
        let (source, tag) = self.envelope_in(status);
        let bytes = if is_cancelled { 0 } else { self.bytes_of(status) };
        let twin = communicator.and_then(Communicator::twin);
        if twin.is_none() && communicator.is_some_and(Communicator::has_lost_twin) {
            companions::with(self.recorder, State::count_unclear);
        }
        let partner = communicator.map_or(ELSEWHERE, |known| known.relative(source));
        let posted_by = EdgeKey::UNKNOWN;
        Completed { held, twin, partner, source, tag, bytes, is_cancelled, posted_by }
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
        let posted_by = posted_by.unwrap_or(EdgeKey::UNKNOWN);
        companions::with(self.recorder, |state| {
            state.completed.push(Completed { posted_by, ..completed });
        });
    }

    /// Returns source and tag in a status; a source of no rank if there is no status.
    pub(super) fn envelope_in(&self, status: usize) -> (c_int, c_int) {
        if status == 0 { (-1, 0) } else { self.mpi().abi.envelope_in(status) }
    }
}
