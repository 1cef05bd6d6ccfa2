//! Sends that were blocked until they were received: the receiver answers when it was there.
//!
//! The answer comes when the receiver leaves its call, a little after the sender has left its own.
//! So the sender looks for it in its next call, and amends its clock.

use tinyprof_messages::clock::Clock;
use tinyprof_messages::companion::Companion;
use tinyprof_messages::time::{Offset, Post};

use super::carrier::Carrier;
use super::common_clock::Span;
use super::partner::Partner;
use super::shared::Answer;

/// A send that was blocked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocked {
    pub(super) to: Partner,
    pub(super) sequence: u64,
    /// The clock when the call began.
    pub(super) clock: Clock,
    /// The call, once it has ended.
    pub(super) span: Option<Span>,
}

impl Blocked {
    /// Takes the answer, if it is there.
    pub(super) fn hear(&self, carrier: &mut Carrier, clock: &mut Clock) {
        let Some(span) = self.span else { return };
        let Some(answer) = carrier.answered(&self.to, self.sequence) else { return };
        let Answer { posted_ns, intrusion_ns, ideal_ns } = answer;
        let receiver =
            Companion { entry_ns: posted_ns, intrusion_ns, ideal_ns, ..Companion::default() };
        let mut after = self.clock;
        after.send(span, &receiver, Offset::default());
        clock.amend(&self.clock, &after);
    }
}

/// Answers the sender of a received message that was blocked.
pub(super) fn answer(
    carrier: &mut Carrier,
    to: &Partner,
    companion: &Companion,
    post: Post,
    ideal_ns: u64,
) {
    let Post { posted_ns, intrusion_ns } = post;
    carrier.answer(to, companion.sequence, &Answer { posted_ns, intrusion_ns, ideal_ns });
}
