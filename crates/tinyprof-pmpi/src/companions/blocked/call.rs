//! One call that may have waited for the receivers of messages: for whom, and how long.

use tinyprof::__calls::{Callpath, CallpathId, EdgeInstance, EdgeKey, EdgeKind, Recorder};
use tinyprof_messages::clock::Clock;
use tinyprof_messages::companion::Companion;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::Offset;

use super::{BLOCKED_NS_MIN, Sent};
use crate::companions::absences::Absence;
use crate::companions::causes::Waited;
use crate::companions::common_clock::Span;
use crate::companions::shared::Answer;

/// A receiver that came so much later than the end of the call, in ns, was not waited for.
const SURELY_LATER_NS: i64 = 20_000;
/// A call of several messages that has gone on after a receiver was there for at most this part of
/// the time before has waited for it, whatever MPI can store.
const AFTER_PART: i64 = 2;
/// The time in which a message travels on any network, in ns, and for each of its bytes.
const TRAVEL_NS: u64 = 20_000;
const TRAVEL_NS_A_BYTE: u64 = 10;
/// By how much the entering of a call may be wrong, in ns: the cost of our work before it is a
/// mean.
const ENTERING_NS: i64 = 5_000;

/// A call that may have waited for the receivers of messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) span: Span,
    pub(super) callpath: Callpath,
    /// The clock when the call began, and when it had ended.
    pub(super) before: Clock,
    pub(super) applied: Clock,
    /// The senders that it has waited for.
    pub(super) senders: Option<Meeting>,
    /// The messages whose answers are not there yet.
    pub(super) open: usize,
    /// How many were asked for, and their bytes.
    pub(super) asked: usize,
    pub(super) bytes: u64,
    /// The time up to which the call may have waited for a receiver, but need not have, since MPI
    /// has stored messages of that size before; in ns after its begin.
    pub(super) doubtful_ns: u64,
    /// The waiting for receivers whose causes are known, in ns.
    pub(super) explained_ns: u64,
    /// The receiver that came last, of those that came before the end.
    pub(super) last: Option<(Sent, Answer)>,
    pub(super) receivers: Option<Meeting>,
}

impl Call {
    /// Notes an answer.
    pub(super) fn take(&mut self, sent: &Sent, answer: &Answer, stored_bytes: &mut u64) {
        let later_ns = answer.posted_ns.cast_signed() - self.span.left_ns.cast_signed();
        let may_be_stored = sent.bytes != u64::MAX;
        if later_ns > SURELY_LATER_NS && may_be_stored {
            *stored_bytes = sent.bytes.max(*stored_bytes);
        }
        let is_alone = self.asked == 1 && self.senders.is_none();
        // A receiver that has not come to MPI yet may get a message, but not post a receive.
        if (may_be_stored || answer.is_absent) && later_ns > ENTERING_NS {
            return;
        }
        let until_ns = answer.posted_ns.cast_signed() - self.span.entered_ns.cast_signed();
        let may_be_chance = -later_ns > (until_ns / AFTER_PART).max(SURELY_LATER_NS);
        let is_sure = is_alone && !answer.is_absent;
        if !is_sure && sent.bytes <= *stored_bytes && may_be_chance {
            self.doubtful_ns = self.doubtful_ns.max(until_ns.max(0).cast_unsigned());
            return;
        }
        let (companion, offset) = (answer.companion(), Offset::default());
        self.before.hear_answer(self.span, sent.post, &companion, offset);
        let receiver = self.before.answer(sent.post, &companion, offset, 0);
        self.receivers = Some(self.receivers.map_or(receiver, |all| all.combine(receiver)));
        if self.last.is_none_or(|(_, last)| last.posted_ns <= answer.posted_ns) {
            self.last = Some((*sent, *answer));
        }
    }

    /// Returns the time in the call of which nobody knows what it was, in ns. Up to the last sender
    /// and receiver that it has waited for, that is known; then messages travel, unless that takes
    /// most of the call and is too long for them.
    pub(super) fn unexplained_ns(&self) -> u64 {
        let duration_ns = self.span.duration_ns();
        let of_receiver =
            |(_, answer): (Sent, Answer)| answer.posted_ns.saturating_sub(self.span.entered_ns);
        let known_ns = self.begun_ns().max(self.last.map_or(0, of_receiver)).min(duration_ns);
        let rest_ns = duration_ns - known_ns;
        let travel_ns = TRAVEL_NS.saturating_add(self.bytes.saturating_mul(TRAVEL_NS_A_BYTE));
        if rest_ns > travel_ns && rest_ns > known_ns {
            return rest_ns;
        }
        let ns = self.doubtful_ns.saturating_sub(known_ns);
        if ns > SURELY_LATER_NS.unsigned_abs() { ns } else { 0 }
    }

    /// Returns the time for which the call has waited for a sender, in ns.
    fn begun_ns(&self) -> u64 {
        begun_ns(self.span, self.senders)
    }

    /// Counts the waiting for the receiver that came last. Returns what the clock would have been
    /// at the end of the call, and the waiting.
    pub(super) fn settle(&self, recorder: Recorder) -> Option<(Clock, Option<Waited>)> {
        let mut waited = None;
        let (sent, answer) = self.last?;
        let receivers = self.receivers?;
        let mut after = self.before;
        let wait = match self.senders {
            None if self.asked == 1 && sent.post.posted_ns >= self.span.entered_ns => {
                after.send(self.span, &answer.companion(), Offset::default())
            }
            senders => {
                let all = senders.map_or(receivers, |senders| senders.combine(receivers));
                after.meet(self.span, &all)
            }
        };
        // Up to then the call has waited for a sender.
        let begun_ns = self.begun_ns();
        let begun_virtual_ns = self.senders.map_or(0, |senders| {
            let entered_ns = self.before.virtual_ns(self.span.entered_ns);
            (senders.virtual_ns - entered_ns).max(0).cast_unsigned()
        });
        let waiting_ns = wait.waiting_ns.saturating_sub(begun_ns);
        if waiting_ns >= BLOCKED_NS_MIN
            && let Some(visited) = recorder.visited(self.callpath)
        {
            let kind = EdgeKind::Receiver;
            let from = CallpathId::from_bits(answer.callpath);
            let instance = EdgeInstance {
                ns: waiting_ns,
                compensated_ns: wait.compensated_ns.saturating_sub(begun_virtual_ns),
                transfer_ns: if self.senders.is_none() { wait.transfer_ns } else { 0 },
                ..EdgeInstance::default()
            };
            visited.add_edge(&EdgeKey { kind, partner: sent.to, from }, &instance);
            let until_ns = wait.waiting_ns;
            let waiting_ns = waiting_ns.saturating_sub(self.explained_ns);
            let by = Waited::by(sent.to, visited.id(), self.span, waiting_ns);
            waited = Some(Waited { until_ns, ..by });
        }
        Some((after, waited))
    }
}

/// Returns the time for which a call has waited for the senders of messages, in ns.
pub(in crate::companions) fn begun_ns(span: Span, senders: Option<Meeting>) -> u64 {
    senders.map_or(0, |senders| {
        senders.last_ns.saturating_sub_unsigned(span.entered_ns).max(0).cast_unsigned()
    })
}

impl Answer {
    /// Returns that of a receiver which has posted the receive in time, but was not in MPI, and has
    /// got the message in a call of this callpath.
    pub(in crate::companions) fn of_absent(self, absence: &Absence, callpath: CallpathId) -> Self {
        Self {
            posted_ns: absence.entered_ns,
            intrusion_ns: absence.intrusion_ns,
            ideal_ns: absence.ideal_ns,
            callpath: callpath.to_bits(),
            is_absent: true,
            ..self
        }
    }

    /// Returns it as what a partner says of itself.
    fn companion(&self) -> Companion {
        let Self { intrusion_ns, ideal_ns, callpath, uncertainty, nearest, .. } = *self;
        let entry_ns = self.posted_ns;
        Companion { entry_ns, intrusion_ns, ideal_ns, callpath, ..Companion::default() }
            .with_uncertainty(uncertainty)
            .with_nearest(nearest)
    }
}
