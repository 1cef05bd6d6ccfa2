//! Calls at level `messages` that send one message, or receive one, and do nothing else: most calls
//! of most programs. They do what [`make_watched`](Call::make_watched) does, without asking what
//! else the call may be.
//!
//! Whoever waits for a message waits for all that is done before it is sent, and after it was
//! received. What can be done when a message is on its way is done then.

use std::ffi::c_int;

use tinyprof::__calls::{Recorder, Visited};

use super::sending::{Announced, Begun, Sent, entered};
use super::watched::SENDING_NS_MAX;
use super::{Call, inside, open};
use crate::arguments::Kind;
use crate::communicators;
use crate::companions::{
    self, BLOCKED_NS_MIN, Envelope, Message, Mode, Plain, Received, Receiver, Span, State, now_ns,
    ns_of,
};
use crate::forward::forward;
use crate::function::{Completes, Cost, Counts, Positions};
use crate::requests;
use crate::words::Words;

impl Call {
    /// Makes the call as [`make_watched`](Self::make_watched) does, or shorter.
    ///
    /// # Safety
    /// As for [`make_and_count`](Self::make_and_count), and the call is one of C.
    #[inline(always)]
    pub(super) unsafe fn make_observed(&self, index: usize, from: Words, original: usize) -> c_int {
        match (companions::plain(), self.function.counts) {
            (Some(plain), Counts::Sent) if self.is_standard() => {
                // SAFETY: as the caller says.
                unsafe { self.make_send(plain, index, from, original) }
            }
            (Some(plain), Counts::Received) => {
                // SAFETY: as the caller says.
                unsafe { self.make_receive(plain, index, from, original) }
            }
            (Some(plain), Counts::Completed(Completes::One)) if self.waits_for_unknown() => {
                // SAFETY: as the caller says.
                unsafe { self.make_uncounted(plain, index, from, original) }
            }
            (Some(plain), Counts::Nothing) if self.function.is_plain => {
                // SAFETY: as the caller says.
                unsafe { self.make_uncounted(plain, index, from, original) }
            }
            // SAFETY: as the caller says.
            _ => unsafe { self.make_watched(index, from, original) },
        }
    }

    /// Returns whether the call is `MPI_Send` or `MPI_Isend`, in standard mode.
    #[inline(always)]
    fn is_standard(&self) -> bool {
        let name = self.function.name.as_bytes();
        matches!(name, [_, _, _, _, b'S', b'e', ..] | [_, _, _, _, b'I', b's', b'e', ..])
    }

    /// Returns whether the call is `MPI_Wait` for a request of which nothing is known.
    #[inline(always)]
    fn waits_for_unknown(&self) -> bool {
        let at = &self.function.at;
        let request = || self.of_c().arguments.handle_at(at.request, 0, Kind::Request);
        at.flag == Positions::NO && !requests::is_known(request())
    }

    /// Returns the call, of which is known that its arguments are passed as in C.
    #[inline(always)]
    fn of_c(&self) -> Self {
        Self { arguments: self.arguments.of_c(), ..*self }
    }

    /// Makes a call that sends a message in standard mode.
    ///
    /// # Safety
    /// As for [`make_observed`](Self::make_observed).
    #[inline(never)]
    unsafe fn make_send(&self, plain: Plain, index: usize, from: Words, original: usize) -> c_int {
        let call = self.of_c();
        let (recorder, at) = (call.recorder, &call.function.at);
        let cost = if plain.with(|state| state.has_deferred()) { Cost::Reply } else { Cost::Send };
        let since_ns = measured_since(plain, recorder, cost);
        let inside = inside::enter(recorder);
        // SAFETY: as the caller says.
        let open = unsafe { open(recorder, index, from) };
        let visited = open.visited();
        let begun_ns = ns_of(open.begun_ticks());

        let to = call.arguments.int(at.dest);
        let data = call.function.sent.data;
        let signature = call.signature_of_sent(to, data);
        let like = visited.like(&signature);
        let bytes = match like {
            Some(like) => Some(like.bytes),
            None => call.bytes_before(data),
        };
        let communicator = communicators::find(call.communicator());
        let tag = call.arguments.int(at.tag);
        let to_nobody = to == call.mpi().abi.proc_null;
        let message = communicator.filter(|_| !to_nobody).map(|communicator| Message {
            communicator,
            to,
            tag,
            bytes,
            mode: Mode::Standard,
        });
        let (mpi, waits) = (call.mpi(), at.request == Positions::NO);
        let sent = Sent { mpi, recorder, visited, since_ns, begun_ns, cost, waits };
        let announced = plain.with(|state| match message {
            Some(message) => sent.announce(state, &message),
            None => sent.announce_nothing(state, to_nobody),
        });

        // SAFETY: as the caller says, and the words are those of its call.
        let code = unsafe { forward(original, call.arguments.words, call.function.arguments) };

        let left_ticks = recorder.ticks();
        let Begun { flow, receiver, entered_ns } = match announced {
            Announced::Before(begun) => begun,
            Announced::Early(early, measured_ns) => {
                plain.with(|state| sent.close(state, early, measured_ns))
            }
        };
        let visited = open.end_at(left_ticks);
        let left_ns = ns_of(left_ticks);
        flow.add_to(visited);
        if code == 0 {
            match like {
                Some(like) => visited.count_like(like),
                None => call.sent(visited),
            }
            if bytes.is_none() {
                // MPI knows the datatype: for the next message, so does this thread.
                call.bytes(data.count, data.datatype);
            }
        } else {
            call.take_back_sent(code);
        }
        let span = Span { entered_ns, left_ns };
        if code == 0 && at.request != Positions::NO && !matches!(receiver, Receiver::Free) {
            call.hold_sent(receiver, visited);
        }
        plain.with(|state| {
            state.ended(recorder, visited, span, true);
            // What is shorter hides nothing, and most calls are.
            state.is_unknown |= span.duration_ns() > SENDING_NS_MAX && !state.has_waited;
            leave(state, (recorder, visited), span, (cost, since_ns));
        });
        drop(inside);
        code
    }

    /// Makes a call that waits for a message.
    ///
    /// # Safety
    /// As for [`make_observed`](Self::make_observed).
    #[inline(never)]
    unsafe fn make_receive(
        &self,
        plain: Plain,
        index: usize,
        from: Words,
        original: usize,
    ) -> c_int {
        const COST: Cost = Cost::Receive;
        let call = self.of_c();
        let (recorder, at) = (call.recorder, &call.function.at);
        plain.conclude_before(call.mpi(), recorder);
        let since_ns = measured_since(plain, recorder, COST);
        let status = call.status(at.status);
        let inside = inside::enter(recorder);
        // SAFETY: as the caller says.
        let open = unsafe { open(recorder, index, from) };
        let begun_ns = ns_of(open.begun_ticks());
        let peer = call.arguments.int(at.source);
        let known = communicators::find(call.communicator());
        let (entry, entered_ns) = plain.with(|state| {
            state.enter(recorder, open.visited(), begun_ns);
            let entry = known.and_then(|known| state.expected(known.relative(peer)));
            (entry, entered(state, recorder, COST, (since_ns, begun_ns)))
        });

        // SAFETY: as the caller says, and the words are those of its call.
        let code = unsafe { forward(original, call.arguments.words, call.function.arguments) };

        let left_ticks = recorder.ticks();
        let left_ns = ns_of(left_ticks);
        let span = Span { entered_ns, left_ns };
        let may_defer = plain.with(|state| state.may_defer(begun_ns, span));
        if let Some(entry) = entry.filter(|_| !may_defer) {
            entry.fetch();
        }
        let visited = open.end_at(left_ticks);
        let is_received = code == 0 || call.has_taken(code);
        let (source, tag) = if is_received { call.envelope_in(status) } else { (-1, 0) };
        if is_received {
            call.received(status, visited);
        }
        let communicator = if source < 0 { None } else { known.or_else(|| call.known()) };
        plain.with(|state| {
            if source >= 0 {
                let (envelope, bytes) = (Envelope { source, tag }, call.bytes_of(status));
                let received =
                    Received { recorder, visited, span, communicator, peer, envelope, bytes };
                if may_defer && state.defer(&received, since_ns) {
                    return;
                }
                state.conclude_received(call.mpi(), &received);
            }
            leave(state, (recorder, visited), span, (COST, since_ns));
        });
        drop(inside);
        code
    }

    /// Makes a call that does nothing with messages: a plain one, or one that waits for a request
    /// of which nothing is known, such as that of a small message that was sent.
    ///
    /// # Safety
    /// As for [`make_observed`](Self::make_observed).
    #[inline(never)]
    unsafe fn make_uncounted(
        &self,
        plain: Plain,
        index: usize,
        from: Words,
        original: usize,
    ) -> c_int {
        let (recorder, cost) = (self.recorder, self.function.cost);
        plain.conclude_before(self.mpi(), recorder);
        let since_ns = measured_since(plain, recorder, cost);
        let inside = inside::enter(recorder);
        // SAFETY: as the caller says.
        let open = unsafe { open(recorder, index, from) };
        let begun_ns = ns_of(open.begun_ticks());
        let entered_ns = plain.with(|state| {
            state.enter(recorder, open.visited(), begun_ns);
            entered(state, recorder, cost, (since_ns, begun_ns))
        });

        // SAFETY: as the caller says, and the words are those of its call.
        let code = unsafe { forward(original, self.arguments.words, self.function.arguments) };

        let left_ticks = recorder.ticks();
        let visited = open.end_at(left_ticks);
        let left_ns = ns_of(left_ticks);
        let span = Span { entered_ns, left_ns };
        plain.with(|state| {
            let waits = !self.function.is_plain;
            state.is_unknown |= waits && span.duration_ns() >= BLOCKED_NS_MIN;
            leave(state, (recorder, visited), span, (cost, since_ns));
        });
        drop(inside);
        code
    }
}

/// Returns the time before the work for a call, if its cost is to be measured.
#[inline(always)]
fn measured_since(plain: Plain, recorder: Recorder, cost: Cost) -> Option<u64> {
    plain.with(|state| state.measures(recorder, cost)).then(|| now_ns(recorder))
}

/// Notes a call that has ended, at the end of its span.
#[inline(always)]
fn leave(
    state: &mut State,
    (recorder, visited): (Recorder, Visited),
    span: Span,
    (cost, since_ns): (Cost, Option<u64>),
) {
    let times = (span.left_ns, span.duration_ns());
    state.leave(recorder, visited, times, (cost, since_ns.is_some()));
}
