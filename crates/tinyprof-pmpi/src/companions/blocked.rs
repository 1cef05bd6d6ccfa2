//! Sends that may have been blocked until they were received: the receiver says when it was there.
//!
//! MPI decides for each message whether its send waits for the receiver. So the companion of such a
//! send asks when the receive began. A receiver that began later answers in the companion's place
//! when it takes it; or one that had begun, but was not in MPI: many MPIs move a message only while
//! its receiver is there. The time in the call that sent the message, or completed it, then tells
//! how much of that was waiting. If the answer comes after that call has ended, the sender finds it
//! in one of its next calls, and corrects its clock. Causes cannot be corrected, as other ranks
//! have read them meanwhile: for them the sender looks at once when a receiver came back to MPI,
//! and what the answer adds follows.

mod call;

use std::collections::VecDeque;

use tinyprof::__calls::{Callpath, Recorder};
use tinyprof_messages::clock::Clock;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::Post;

use super::carrier::Carrier;
use super::causes::Waited;
use super::common_clock::Span;
use super::shared::Heard;
use call::Call;
pub(super) use call::begun_ns;

/// A call that takes no longer, in ns, has not waited for anybody.
pub(crate) const BLOCKED_NS_MIN: u64 = 1_000;
/// The calls whose answers are waited for, and their messages.
const CALLS: usize = 64;
const MESSAGES: usize = 4096;

/// The messages of a call of which it is looked whether their receivers came late.
const LOOKED_AT: usize = 16;

/// A receiver that came back to MPI while a call waited for its messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Come {
    /// The receiver, relative to this rank in the world.
    pub(super) rank: i32,
    /// When it came, since the call was entered, in ns.
    pub(super) until_ns: u64,
}

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

    /// Returns the receiver that came last, of those that the call under way may have waited for:
    /// `came_ns` says when a rank came.
    pub(super) fn last_come(
        &self,
        span: Span,
        mut came_ns: impl FnMut(i32) -> Option<u64>,
    ) -> Option<Come> {
        let receivers = self.now.iter().take(LOOKED_AT).map(|sent| sent.to);
        let come = receivers.filter_map(|rank| {
            let until_ns = came_ns(rank)?.checked_sub(span.entered_ns)?;
            Some(Come { rank, until_ns })
        });
        come.max_by_key(|come| come.until_ns)
    }

    /// Forgets the messages of the call under way, which has not waited for them.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.has_untold = false;
        self.now.clear();
    }

    /// Notes the end of the call, which has waited for `senders`, and took so long that it
    /// may have waited for receivers. `before` and `applied` are the clocks when it began, and now.
    /// Of its waiting for receivers, the causes of `explained_ns` are known.
    pub(super) fn ended(
        &mut self,
        span: Span,
        callpath: Callpath,
        [before, applied]: [Clock; 2],
        senders: Option<Meeting>,
        explained_ns: u64,
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
            explained_ns,
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
