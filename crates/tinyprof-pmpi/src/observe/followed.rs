//! Requests that companions follow: what has to be kept from the call that makes one to the call
//! that completes it.

use std::ffi::c_int;

use tinyprof::__calls::Visited;

use super::Call;
use crate::abi::Handle;
use crate::arguments::Kind;
use crate::communicators::Communicator;
use crate::companions::{self, Held, Receiver, held};
use crate::function::{Counts, Frees, Positions, Prepares};
use crate::requests::{self, Pending, Request};

impl Call {
    /// Forgets receives that the call gives up, or may.
    pub(super) fn give_up(&self) {
        let is_freed = self.function.frees == Frees::Request;
        if !is_freed && self.function.counts != Counts::Cancelled {
            return;
        }
        let handle = self.arguments.handle_at(self.function.at.request, 0, Kind::Request);
        let Some((place, request)) = requests::find(handle) else { return };
        let held = held::at(place);
        companions::with(self.recorder, |state| {
            if is_freed {
                state.release(&held);
            } else {
                let twin = request.communicator.and_then(Communicator::twin);
                state.cancel(self.mpi(), &held, twin.as_ref());
            }
        });
    }

    /// Keeps what companions need of a receive that is posted now, with source and tag as the
    /// program passes them.
    pub(super) fn hold_posted(
        &self,
        place: usize,
        communicator: Option<&Communicator>,
        envelope: (c_int, c_int),
        request: Handle,
    ) {
        if !companions::is_on() {
            return;
        }
        let twin = communicator.and_then(Communicator::twin);
        let (peer, tag) = envelope;
        let held = companions::with(self.recorder, |state| {
            let posted = twin.map(|twin| state.post(self.mpi(), &twin, envelope, request));
            let (post, ideal_ns) = state.posted_now();
            Held { peer, tag, posted, post, ideal_ns }
        });
        let held = held.unwrap_or(Held { peer, tag, ..Held::NOT_FOLLOWED });
        held::keep(place, &held);
    }

    /// Keeps what becomes known of the receiver for the request that the call has made.
    #[inline(never)]
    pub(super) fn hold_sent(&self, receiver: Receiver, visited: Visited) {
        let request = self.arguments.handle_at(self.function.at.request, 0, Kind::Request);
        if request == self.mpi().abi.request_null {
            return;
        }
        let (callpath, communicator) = (visited.callpath(), None);
        let pending = Pending::Sent;
        if let Some(place) = requests::insert(request, &Request { callpath, communicator, pending })
        {
            held::keep_sent(place, receiver.answers().as_ref());
        }
    }

    /// Notes that the request at a place of the table, of a message that was sent, has been
    /// completed.
    #[inline(never)]
    pub(super) fn note_sent(&self, place: usize) {
        if companions::is_on() {
            let receiver = held::take_sent(place).map_or(Receiver::Untold, Receiver::Answers);
            companions::with(self.recorder, |state| state.may_wait_for(receiver));
        }
    }

    /// Keeps where a persistent request sends to or receives from.
    pub(super) fn hold_prepared(&self, prepares: Prepares, place: usize) {
        if !companions::is_on() {
            return;
        }
        let at = &self.function.at;
        let peer = match prepares {
            Prepares::Send => self.arguments.int(at.dest),
            Prepares::Receive => self.arguments.int(at.source),
            // Nobody follows partitioned messages.
            Prepares::PartitionedSend | Prepares::PartitionedReceive => self.mpi().abi.proc_null,
        };
        let tag = if at.tag == Positions::NO { 0 } else { self.arguments.int(at.tag) };
        held::keep(place, &Held { peer, tag, ..Held::NOT_FOLLOWED });
    }

    /// Posts a persistent receive that has been started.
    pub(super) fn hold_started(&self, place: usize, request: Handle) {
        if !companions::is_on() {
            return;
        }
        let Held { peer, tag, .. } = held::at(place);
        if peer != self.mpi().abi.proc_null {
            let communicator = requests::taken(place).communicator;
            self.hold_posted(place, communicator, (peer, tag), request);
        }
    }

    /// Keeps the place of a matched message in the order of receives.
    pub(super) fn hold_matched(
        &self,
        place: usize,
        communicator: Option<&Communicator>,
        status: usize,
        message: Handle,
    ) {
        let (source, tag) = self.envelope_in(status);
        if source >= 0 {
            self.hold_posted(place, communicator, (source, tag), message);
        }
    }

    /// Hands a matched message over to the call that receives it.
    pub(super) fn take_matched(&self, place: usize) {
        if companions::is_on() {
            let held = held::at(place);
            companions::with(self.recorder, |state| state.matched = Some(held));
        }
    }

    /// Hands a matched message over to the request that receives it.
    pub(super) fn hold_matched_request(&self, place: usize) {
        let take = |state: &mut companions::State| {
            let held = state.matched.take()?;
            // The message was matched before. Its receive is posted by this call.
            let (post, ideal_ns) = state.posted_now();
            Some(Held { post, ideal_ns, ..held })
        };
        if companions::is_on()
            && let Some(Some(held)) = companions::with(self.recorder, take)
        {
            held::keep(place, &held);
        }
    }
}
