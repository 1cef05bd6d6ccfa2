//! Receives: whose message it was, how long the call has waited for it, and what that says of our
//! overhead.

use std::ffi::c_int;

use tinyprof::__calls::{
    CallpathId, EdgeInstance, EdgeKey, EdgeKind, MessageEnd, Recorder, Visited,
};
use tinyprof_messages::clock::Wait;
use tinyprof_messages::companion::Companion;
use tinyprof_messages::matching::{Posted, Stream, Ticket, Turn};
use tinyprof_messages::time::Post;
use tinyprof_messages::uncertainty::Uncertainty;
use tinyprof_messages::waiting::{Waited, late_receiver_ns};

use super::causes::Waited as Caused;
use super::common::Common;
use super::common_clock::Span;
use super::held;
use super::partner::Partner;
use super::posted::wanted;
use super::shared::Answer;
use super::state::{Completed, State};
use super::threads;
use crate::abi::{Handle, Status};
use crate::library::Mpi;
use crate::requests;

/// The most receives that are asked about for the turn of another.
const ASKED_MAX: u32 = 64;
/// The uncertainty of two sends that are compared, in ns: a process that is woken, or finds its
/// cache cold, is so much later by chance.
const ORDER_UNSURE_NS: u64 = 20_000;

impl State {
    /// Handles the completed receives of a call: `waits` if it has waited for them.
    pub(crate) fn conclude(
        &mut self,
        mpi: &Mpi,
        recorder: Recorder,
        visited: Visited,
        span: Span,
        waits: bool,
    ) {
        if let [one] = *self.completed.as_slice() {
            self.completed.clear();
            return self.conclude_only(mpi, recorder, visited, span, waits, &one);
        }
        let mut completed = std::mem::take(&mut self.completed);
        completed.iter().for_each(|one| self.settle(mpi, one));
        completed.retain(|one| !one.is_cancelled);
        let mut last = None;
        let mut partners = None;
        self.found.clear();
        for (number, one) in (0..).zip(&completed) {
            let found = self.companion_of(mpi, recorder, one, visited.id());
            if let Some(companion) = found.filter(|_| waits) {
                let offset = self.offset(one.partner);
                self.clock.hear(span, &companion, offset);
                let this = self.clock.incoming(one.held.post, &companion, offset, number);
                let all = partners.map_or(this, |all| this.combine(all));
                last = Some(all.last_rank);
                partners = Some(all);
            }
            self.is_unknown |= found.is_none() && waits;
            self.found.push(found);
        }
        if waits {
            self.tests.waited(self.calls);
        }
        let of_all = partners.map(|partners| self.clock.meet(span, &partners));
        self.senders = partners;
        // The requests of a call have no order: the message that was waited for was got last.
        let last = last.and_then(|number| usize::try_from(number).ok());
        if let (Some(wait), Some(last)) = (&of_all, last.and_then(|last| completed.get(last))) {
            let by = Caused::by(last.partner, visited.id(), span, wait.waiting_ns);
            self.has_waited_for_sender(recorder, by);
        }
        let others = (0..completed.len()).filter(|number| Some(*number) != last);
        for number in others.chain(last) {
            let (one, found) = (&completed[number], self.found[number]);
            let wait = match found {
                Some(_) if last == Some(number) => of_all.unwrap_or_default(),
                Some(companion) if !waits => {
                    self.found_by_test(span, Some(one.held.post), &companion, one.partner);
                    Wait::default()
                }
                _ => Wait::default(),
            };
            self.deliver(mpi, visited, one, found.as_ref(), &wait);
        }
        completed.clear();
        self.completed = completed;
    }

    /// Handles the only completed receive of a call.
    #[inline(never)]
    pub(crate) fn conclude_only(
        &mut self,
        mpi: &Mpi,
        recorder: Recorder,
        visited: Visited,
        span: Span,
        waits: bool,
        one: &Completed,
    ) {
        self.settle(mpi, one);
        if !one.is_cancelled {
            self.conclude_one(mpi, recorder, visited, span, waits, one);
        }
    }

    /// Handles the only received message of a call, of which the order of receives knows.
    #[inline(always)]
    pub(crate) fn conclude_one(
        &mut self,
        mpi: &Mpi,
        recorder: Recorder,
        visited: Visited,
        span: Span,
        waits: bool,
        one: &Completed,
    ) {
        let found = self.companion_of(mpi, recorder, one, visited.id());
        self.is_unknown |= found.is_none() && waits;
        let wait = match &found {
            Some(companion) if waits => {
                let offset = self.offset(one.partner);
                self.tests.waited(self.calls);
                self.has_waited = true;
                if self.blocked.has_asked() {
                    self.senders = Some(self.clock.incoming(one.held.post, companion, offset, 0));
                }
                self.clock.complete(span, one.held.post, companion, offset)
            }
            Some(companion) => {
                self.found_by_test(span, Some(one.held.post), companion, one.partner);
                Wait::default()
            }
            None => Wait::default(),
        };
        let by = Caused::by(one.partner, visited.id(), span, wait.waiting_ns);
        self.has_waited_for_sender(recorder, by);
        self.deliver(mpi, visited, one, found.as_ref(), &wait);
    }

    /// Tells the order of receives what a completed one has got.
    pub(crate) fn settle(&mut self, mpi: &Mpi, one: &Completed) {
        let Some(twin) = one.twin else { return };
        let (communicator, peer, tag) = (twin.number, one.source.cast_unsigned(), one.tag);
        match (one.held.posted, one.is_cancelled) {
            (Some(Posted::Ticket(ticket)), false) => {
                self.common().receives.matched(ticket, peer, tag);
            }
            (Some(Posted::Ticket(ticket)), true) => self.common().receives.withdraw(ticket),
            (Some(Posted::Number(number)), is_cancelled) if requests::may_be_cancelled() => {
                let stream = wanted(mpi, &twin, one.held.envelope()).stream();
                let stream = stream.unwrap_or(Stream { communicator, peer, tag });
                self.common().receives.cancelled(stream, number, is_cancelled);
            }
            _ => {}
        }
    }

    /// Returns the companion of a received message, and counts it.
    #[inline(always)]
    fn companion_of(
        &mut self,
        mpi: &Mpi,
        recorder: Recorder,
        one: &Completed,
        here: CallpathId,
    ) -> Option<Companion> {
        let posted = one.held.posted?;
        let twin = one.twin?;
        let (communicator, peer, tag) = (twin.number, one.source.cast_unsigned(), one.tag);
        let stream = Stream { communicator, peer, tag };
        let turn = match posted {
            _ if self.is_stream_shared(stream) => Turn::Unclear,
            Posted::Number(number) => self.common().receives.confirm(stream, number),
            Posted::Ticket(ticket) => self.turn(mpi, ticket),
            Posted::Unclear => Turn::Unclear,
        };
        let Turn::Number(number) = turn else {
            self.facts.companions_unclear += 1;
            return None;
        };
        let from = Partner { twin, relative: one.partner, stream };
        let Post { posted_ns, intrusion_ns } = self.posted_late.unwrap_or(one.held.post);
        let (ideal_ns, uncertainty_ns) = (one.held.ideal_ns, self.clock.uncertainty_ns());
        let nearest = self.clock.nearest();
        let is_known = one.posted_by != EdgeKey::UNKNOWN;
        let callpath = if is_known { one.posted_by } else { here }.to_bits();
        let late = Answer {
            posted_ns,
            intrusion_ns,
            ideal_ns,
            callpath,
            uncertainty: Uncertainty::nearest(uncertainty_ns),
            nearest,
            is_absent: false,
        };
        let Common { carrier, absences, .. } = self.common();
        let answer = |companion: &Companion| {
            if companion.flags & Companion::ASKS == 0 {
                None
            } else if posted_ns > companion.entry_ns {
                Some(late)
            } else {
                absences.at(companion.entry_ns).map(|absence| late.of_absent(absence, here))
            }
        };
        match carrier.claim(mpi, recorder, &from, number, answer) {
            Some(companion)
                if companion.flags & (Companion::UNSIZED | Companion::SHARED)
                    == Companion::UNSIZED =>
            {
                self.facts.companions += 1;
                Some(Companion { bytes: one.bytes, ..companion })
            }
            // A message of another size is another message: the program has done what nobody
            // follows, such as cancelling a send.
            Some(companion)
                if companion.bytes != one.bytes || companion.flags & Companion::SHARED != 0 =>
            {
                self.facts.companions_unclear += 1;
                None
            }
            Some(companion) => {
                self.facts.companions += 1;
                Some(companion)
            }
            None => {
                self.facts.companions_missing += 1;
                None
            }
        }
    }

    /// Returns the number of a receive behind a wildcard, and asks about those that were posted
    /// before it.
    #[cold]
    #[inline(never)]
    fn turn(&mut self, mpi: &Mpi, ticket: Ticket) -> Turn {
        for _ in 0..ASKED_MAX {
            let turn = self.common().receives.turn(ticket);
            let Turn::Behind(key) = turn else { return turn };
            // Another thread may be in a call with that request.
            if threads::are_multiple() && !threads::is_one() {
                break;
            }
            let request = Handle(usize::try_from(key).unwrap_or(0));
            let Some((place, _)) = requests::find(request) else { break };
            let Some(Posted::Ticket(before)) = held::at(place).posted else { break };
            let Some((source, tag)) = envelope_of(mpi, request) else { break };
            self.common().receives.matched(before, source.cast_unsigned(), tag);
        }
        self.common().receives.release(ticket);
        Turn::Unclear
    }

    /// Counts a received message for its edge, and looks at the order of receives.
    #[inline(always)]
    fn deliver(
        &mut self,
        mpi: &Mpi,
        visited: Visited,
        one: &Completed,
        companion: Option<&Companion>,
        wait: &Wait,
    ) {
        let is_any = one.held.peer == mpi.abi.any_source;
        let key = EdgeKey {
            kind: if is_any { EdgeKind::MessageToAny } else { EdgeKind::Message },
            partner: one.partner,
            from: companion.map_or(EdgeKey::UNKNOWN, |of| CallpathId::from_bits(of.callpath)),
        };
        let mut instance = EdgeInstance { bytes: one.bytes, ..waited(wait) };
        if let Some(companion) = companion {
            self.keep_received(visited, || MessageEnd {
                is_receive: true,
                partner: one.partner,
                communicator: companion.twin,
                tag: one.tag,
                number: companion.sequence,
                bytes: one.bytes,
            });
            let sent_ns = companion.entry_ns.cast_signed();
            if companion.flags & Companion::BLOCKS != 0
                && !self.common().carrier.answers(one.partner)
            {
                let posted_ns = one.held.post.posted_ns.cast_signed();
                instance.late_receiver_ns = late_receiver_ns(posted_ns, sent_ns, u64::MAX);
            }
            let Self { wrong_order, delivered, .. } = self;
            wrong_order.received(sent_ns, |waited| {
                let (callpath, key) = delivered.edge(waited.node);
                // Before it was sent, nothing else could have been done with it.
                let ahead_ns = (waited.sent_ns - sent_ns).unsigned_abs();
                if let Some(waiting) = visited.elsewhere(callpath) {
                    waiting.add_wrong_order(&key, waited.waiting_ns.min(ahead_ns));
                }
            });
            if wait.waiting_ns > 0 && !self.takes_any {
                let (node, rank) = (delivered.remember(visited, key), 0);
                let waiting_ns = wait.waiting_ns;
                wrong_order.waited(Waited { sent_ns, waiting_ns, node, rank });
            }
            if is_any && let Some(twin) = one.twin {
                let virtual_ns = sent_ns.saturating_sub_unsigned(companion.intrusion_ns);
                let order = self.delivered.order(twin.number, one.tag);
                let is_inverted = order.deliver(sent_ns, virtual_ns, ORDER_UNSURE_NS);
                self.facts.inversions += u64::from(is_inverted);
            }
        }
        visited.add_edge(&key, &instance);
        if one.posted_by != EdgeKey::UNKNOWN {
            let key = EdgeKey { kind: EdgeKind::Completion, partner: 0, from: one.posted_by };
            visited.add_edge(&key, &EdgeInstance::default());
        }
    }
}

/// Returns a wait for a message as an instance of an edge.
#[inline]
pub(super) fn waited(wait: &Wait) -> EdgeInstance {
    EdgeInstance {
        ns: wait.waiting_ns,
        compensated_ns: wait.compensated_ns,
        transfer_ns: wait.transfer_ns,
        ..EdgeInstance::default()
    }
}

/// Returns source and tag of the message that a request has got, if it has got one. The request
/// stays as it is.
fn envelope_of(mpi: &Mpi, request: Handle) -> Option<(c_int, c_int)> {
    let mut flag: c_int = 0;
    let mut status = Status::default();
    let place = (&raw mut status).cast();
    // SAFETY: the request is in the table, so it is live, and the places are valid.
    let code = unsafe { mpi.request_get_status(request, &raw mut flag, place) };
    (code == 0 && flag != 0).then(|| (status.source(&mpi.abi), status.tag(&mpi.abi)))
}
