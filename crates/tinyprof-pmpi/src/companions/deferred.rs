//! Short receives that are concluded when the next message is on its way.
//!
//! Whoever waits for a message waits for all that is done between the end of a receive and the next
//! send. Where both follow closely, as in a ping-pong, the end of the receive only keeps what is
//! needed, and so does the begin of the send: its companion goes without the clock
//! ([`OpenEntry`]). When the message is on its way, the receive is concluded, and the clock is
//! written. Any other call concludes the receive before it does anything else, and so does the end
//! of the program.
//!
//! A rank that is killed in between loses a receive that took at most [`DEFERRED_NS_MAX`].

use std::ptr;

use tinyprof::__calls::{Recorder, Visited};
use tinyprof_messages::companion::Companion;
use tinyprof_messages::matching::{Posted, Stream};

use super::announce::{Message, STORED_BYTES};
use super::common_clock::{Span, now_ns};
use super::held::{Envelope, Held};
use super::received::{Deferred, Received};
use super::shared::OpenEntry;
use super::state::{Completed, State};
use crate::abi::Handle;
use crate::communicators::{Communicator, ELSEWHERE, Twin};
use crate::function::Cost;
use crate::library::Mpi;

/// The longest receive that is deferred, and the longest gaps before and after it, in ns. Of what
/// is longer, others want to know the cause, and 300 ns do not matter.
const DEFERRED_NS_MAX: u64 = 2_000;

/// A message that is sent before its companion has the clock.
#[derive(Debug)]
pub(crate) struct Early {
    entry: OpenEntry,
    twin: Twin,
    companion: Companion,
}

impl State {
    /// Returns whether a receive that ends may be deferred.
    #[inline(always)]
    pub(crate) fn may_defer(&self, begun_ns: u64, span: Span) -> bool {
        let (_, last_left_ns) = self.last_call();
        self.defers
            && span.duration_ns() < DEFERRED_NS_MAX
            && begun_ns.saturating_sub(last_left_ns) < DEFERRED_NS_MAX
    }

    /// Keeps a receive for later. Returns false if it is to be concluded now.
    #[inline(always)]
    pub(crate) fn defer(&mut self, received: &Received, since_ns: Option<u64>) -> bool {
        let Received { recorder, visited, span, communicator, .. } = *received;
        let Some(communicator) = communicator else { return false };
        let partner = communicator.relative(received.envelope.source);
        if received.bytes > STORED_BYTES
            || visited.keeps_events()
            || self.common().carrier.lane_from(partner).is_none()
        {
            return false;
        }
        let measured_ns = since_ns.map(|_| now_ns(recorder).saturating_sub(span.left_ns));
        let visit_units = recorder.visit_units();
        self.deferred = Some(Deferred { received: *received, visit_units, measured_ns });
        true
    }

    /// Returns whether there is a receive that is yet to be concluded.
    #[inline(always)]
    pub(crate) fn has_deferred(&self) -> bool {
        self.deferred.is_some()
    }

    /// Concludes a receive that is yet to be, before another call.
    #[cold]
    #[inline(never)]
    pub(crate) fn conclude_before(&mut self, mpi: &Mpi, recorder: Recorder) {
        let since_ns = self.overhead.measures(Cost::Deferred).then(|| now_ns(recorder));
        self.conclude_deferred(mpi, recorder);
        let measured_ns = since_ns.map(|since_ns| now_ns(recorder).saturating_sub(since_ns));
        let ns = self.overhead.before(Cost::Deferred, measured_ns);
        // No part of the computation since then.
        self.last_left_ns = self.last_left_ns.saturating_add(ns);
        self.cost(ns);
    }

    /// Concludes a receive that is yet to be.
    #[inline(never)]
    pub(crate) fn conclude_deferred(&mut self, mpi: &Mpi, recorder: Recorder) {
        let Some(deferred) = self.deferred.take() else { return };
        let Deferred { received, visit_units, measured_ns } = deferred;
        let span = received.span;
        if !ptr::eq(received.recorder.word(), recorder.word()) {
            // Against what MPI was told another thread calls it. Only the first may write.
            self.count_unclear();
            return self.not_followed(span.duration_ns());
        }
        self.conclude_received(mpi, &received);
        let cost_ns = self.overhead.after(Cost::Deferred, measured_ns);
        self.has_left(recorder, received.visited, (span.left_ns, span.duration_ns()), cost_ns);
        self.visit_units = visit_units;
    }

    /// Concludes a receive.
    #[inline(always)]
    pub(crate) fn conclude_received(&mut self, mpi: &Mpi, received: &Received) {
        let Received { recorder, visited, span, communicator, peer, envelope, bytes, .. } =
            *received;
        let Envelope { source, tag } = envelope;
        let twin = communicator.and_then(Communicator::twin);
        let partner = communicator.map_or(ELSEWHERE, |known| known.relative(source));
        // It is posted now that it has returned: no other was posted meanwhile.
        let posted = twin.map(|twin| self.post(mpi, &twin, envelope, Handle(0)));
        let (post, ideal_ns) = self.post_at(span.entered_ns);
        let held = Held { peer, tag, posted, post, ideal_ns };
        let got = Completed { held, twin, partner, source, tag, bytes, ..Completed::NOTHING };
        if !matches!(posted, Some(Posted::Number(_)) | None) {
            self.settle(mpi, &got);
        }
        self.conclude_one(mpi, recorder, visited, span, true, &got);
    }

    /// Announces a small message that follows a deferred receive closely, without the clock. `None`
    /// if the receive is to be concluded before.
    #[inline(always)]
    pub(crate) fn announce_early(
        &mut self,
        visited: Visited,
        begun_ns: u64,
        message: &Message,
    ) -> Option<Early> {
        let left_ns = self.deferred.as_ref()?.received.span.left_ns;
        let known = message.communicator;
        let bytes = message.bytes.filter(|_| !message.may_wait())?;
        if begun_ns.saturating_sub(left_ns) > DEFERRED_NS_MAX
            || visited.keeps_events()
            || message.tag < 0
            || !known.has(message.to)
        {
            return None;
        }
        let twin = known.twin()?;
        let peer = message.to.cast_unsigned();
        let stream = Stream { communicator: twin.number, peer, tag: message.tag };
        let common = self.common();
        let lane = common.carrier.lane_to(known.relative(message.to))?;
        if !lane.has_room() {
            return None;
        }
        let sequence = common.sent.next(stream)?;
        let companion = Companion {
            callpath: visited.id().to_bits(),
            twin: twin.epoch,
            sequence,
            entry_ns: begun_ns,
            bytes,
            ..Companion::default()
        };
        let entry = lane.put_open(&companion, message.tag)?;
        Some(Early { entry, twin, companion })
    }

    /// Writes the clock of a message that was announced without.
    #[inline(always)]
    pub(crate) fn close(&mut self, early: Early, visited: Visited) {
        let Early { entry, twin, companion: Companion { sequence, entry_ns, bytes, .. } } = early;
        let companion = self.companion(visited, &twin, sequence, entry_ns);
        entry.close(&Companion { bytes, ..companion });
    }
}
