//! Sends that may have been blocked until they were received: the receiver says when it was there.
//!
//! MPI decides for each message whether its send waits for the receiver. So the companion of such a
//! send asks when the receive began. A receiver that began later answers in the companion's place
//! when it takes it. The time in the call that sent the message, or completed it, then tells how
//! much of that was waiting. If the answer comes after that call has ended, the sender finds it in
//! one of its next calls, and corrects its clock.

use std::collections::VecDeque;

use tinyprof::__calls::{Callpath, CallpathId, EdgeInstance, EdgeKey, EdgeKind, Recorder};
use tinyprof_messages::clock::Clock;
use tinyprof_messages::companion::Companion;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::{Offset, Post};

use super::carrier::Carrier;
use super::causes::Waited;
use super::common_clock::Span;
use super::shared::{Answer, Heard};

/// A call that takes no longer, in ns, has not waited for anybody.
pub(crate) const BLOCKED_NS_MIN: u64 = 1_000;
/// The calls whose answers are waited for, and their messages.
const CALLS: usize = 64;
const MESSAGES: usize = 4096;
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

/// A message whose receiver answers if it was later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// The receiver, relative to this rank in the world.
    pub(crate) to: i32,
    /// The place of the companion in the lane.
    pub(crate) position: u64,
    /// The size, as far as it is known; `u64::MAX` if MPI may not store the message.
    pub(crate) bytes: u64,
    /// When sending began.
    pub(crate) post: Post,
}

/// What becomes known of the receiver of a message.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Receiver {
    /// MPI does not wait for it.
    Free,
    /// It answers if it was later.
    Answers(Sent),
    /// MPI may wait for it, and it does not tell when it was there.
    Untold,
}

impl Receiver {
    /// Returns the message that is answered.
    pub(crate) fn answers(self) -> Option<Sent> {
        match self {
            Self::Answers(sent) => Some(sent),
            Self::Free | Self::Untold => None,
        }
    }
}

/// A call that may have waited for the receivers of messages.
#[derive(Clone, Copy, Debug)]
struct Call {
    span: Span,
    callpath: Callpath,
    /// The clock when the call began, and when it had ended.
    before: Clock,
    applied: Clock,
    /// The senders that it has waited for.
    senders: Option<Meeting>,
    /// The messages whose answers are not there yet.
    open: usize,
    /// How many were asked for, and their bytes.
    asked: usize,
    bytes: u64,
    /// The time up to which the call may have waited for a receiver, but need not have, since MPI
    /// has stored messages of that size before; in ns after its begin.
    doubtful_ns: u64,
    /// The receiver that came last, of those that came before the end.
    last: Option<(Sent, Answer)>,
    receivers: Option<Meeting>,
}

/// The calls whose answers are waited for, in the order in which they were made.
#[derive(Debug)]
pub(super) struct Blocked {
    calls: VecDeque<Call>,
    messages: VecDeque<Sent>,
    /// The messages that the call under way has sent, or completed.
    now: Vec<Sent>,
    /// Whether there was one whose receiver does not tell when it was there.
    has_untold: bool,
    /// The largest message that MPI has stored, in bytes.
    stored_bytes: u64,
    /// What is known by now of the waiting of calls, for those who look for its causes.
    pub(super) waited: Vec<Waited>,
    /// The time in calls that have waited for too many, or for so long that others came, in ns:
    /// what they say of their receivers is lost.
    pub(super) lost_ns: u64,
}

impl Default for Blocked {
    fn default() -> Self {
        Self {
            calls: VecDeque::with_capacity(CALLS),
            messages: VecDeque::with_capacity(MESSAGES),
            now: Vec::with_capacity(MESSAGES),
            has_untold: false,
            stored_bytes: 0,
            waited: Vec::with_capacity(CALLS),
            lost_ns: 0,
        }
    }
}

impl Blocked {
    /// Returns whether the call under way may have waited for a receiver.
    #[inline]
    pub(super) fn has_asked(&self) -> bool {
        !self.now.is_empty()
    }

    /// Returns whether the call under way may have waited for a receiver that does not tell.
    #[inline]
    pub(super) fn has_untold(&self) -> bool {
        self.has_untold
    }

    /// Notes that it may have.
    #[inline(never)]
    pub(super) fn add_untold(&mut self) {
        self.has_untold = true;
    }

    /// Notes a message that the call under way sends and waits for, or completes.
    #[inline]
    pub(super) fn add(&mut self, sent: Sent) {
        self.now.push(sent);
    }

    /// Forgets the messages of the call under way, which has not waited for them.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.has_untold = false;
        self.now.clear();
    }

    /// Notes the end of the call, which has waited for `senders`, and took so long that it
    /// may have waited for receivers. `before` and `applied` are the clocks when it began, and now.
    pub(super) fn ended(
        &mut self,
        span: Span,
        callpath: Callpath,
        [before, applied]: [Clock; 2],
        senders: Option<Meeting>,
    ) {
        self.has_untold = false;
        let asked = self.now.len();
        if self.calls.len() == CALLS || self.messages.len() + asked > MESSAGES {
            self.lose_first();
        }
        if self.messages.len() + asked > MESSAGES {
            self.lost_ns += span.duration_ns();
            return self.now.clear();
        }
        let bytes = self.now.iter().fold(0_u64, |sum, sent| sum.saturating_add(sent.bytes));
        self.messages.extend(self.now.drain(..));
        let (last, receivers) = (None, None);
        let call = Call {
            span,
            callpath,
            before,
            applied,
            senders,
            open: asked,
            asked,
            bytes,
            doubtful_ns: 0,
            last,
            receivers,
        };
        self.calls.push_back(call);
    }

    /// Returns whether no answer is waited for.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Returns the time in calls whose answers have not come, in ns.
    pub(super) fn unheard_ns(&self) -> u64 {
        self.calls.iter().map(|call| call.span.duration_ns()).sum()
    }

    /// Takes the answers that are there, and amends the clock.
    #[inline(never)]
    pub(super) fn hear(&mut self, recorder: Recorder, carrier: &mut Carrier, clock: &mut Clock) {
        while let Some(call) = self.calls.front_mut() {
            while call.open > 0 {
                let Some(sent) = self.messages.front().copied() else { break };
                match carrier.answered(sent.to, sent.position) {
                    Heard::NotYet => return,
                    Heard::Nothing => {}
                    Heard::Answer(answer) => call.take(&sent, &answer, &mut self.stored_bytes),
                }
                self.messages.pop_front();
                call.open -= 1;
            }
            let call = *call;
            self.calls.pop_front();
            self.lost_ns += call.unexplained_ns();
            let Some((after, waited)) = call.settle(recorder) else { continue };
            if let Some(waited) = waited.filter(|_| self.waited.len() < CALLS) {
                self.waited.push(waited);
            }
            clock.amend(&call.applied, &after);
            for later in &mut self.calls {
                later.before.amend(&call.applied, &after);
                later.applied.amend(&call.applied, &after);
            }
        }
    }

    /// Gives the first call up, as there is no room for a new one.
    fn lose_first(&mut self) {
        if let Some(call) = self.calls.pop_front() {
            self.messages.drain(..call.open.min(self.messages.len()));
            self.lost_ns += call.span.duration_ns();
        }
    }
}

impl Call {
    /// Notes an answer.
    fn take(&mut self, sent: &Sent, answer: &Answer, stored_bytes: &mut u64) {
        let later_ns = answer.posted_ns.cast_signed() - self.span.left_ns.cast_signed();
        let may_be_stored = sent.bytes != u64::MAX;
        if later_ns > SURELY_LATER_NS && may_be_stored {
            *stored_bytes = sent.bytes.max(*stored_bytes);
        }
        let is_alone = self.asked == 1 && self.senders.is_none();
        if may_be_stored && later_ns > ENTERING_NS {
            return;
        }
        let until_ns = answer.posted_ns.cast_signed() - self.span.entered_ns.cast_signed();
        let may_be_chance = -later_ns > (until_ns / AFTER_PART).max(SURELY_LATER_NS);
        if !is_alone && sent.bytes <= *stored_bytes && may_be_chance {
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
    /// most of the call and is too long for them: MPI may wait for a receiver that is not in MPI,
    /// though its receive is posted.
    fn unexplained_ns(&self) -> u64 {
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
        self.senders.map_or(0, |senders| {
            senders.last_ns.saturating_sub_unsigned(self.span.entered_ns).max(0).cast_unsigned()
        })
    }

    /// Counts the waiting for the receiver that came last. Returns what the clock would have been
    /// at the end of the call, and the waiting.
    fn settle(&self, recorder: Recorder) -> Option<(Clock, Option<Waited>)> {
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
            let by = Waited::by(sent.to, visited.id(), self.span, waiting_ns);
            waited = Some(Waited { until_ns, ..by });
        }
        Some((after, waited))
    }
}

impl Answer {
    /// Returns it as what a partner says of itself.
    fn companion(&self) -> Companion {
        let Self { posted_ns, intrusion_ns, ideal_ns, callpath, uncertainty, nearest } = *self;
        let entry_ns = posted_ns;
        Companion { entry_ns, intrusion_ns, ideal_ns, callpath, ..Companion::default() }
            .with_uncertainty(uncertainty)
            .with_nearest(nearest)
    }
}
