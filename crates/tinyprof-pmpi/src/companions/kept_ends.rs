//! Ends of messages as events, where a thread keeps events. The end of a send is kept when the call
//! has returned without an error: one that MPI refuses leaves its number to the next message.

use tinyprof::__calls::{MessageEnd, Visited};

use super::state::State;

impl State {
    /// Notes an end of a message that the call under way sends.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, visited: Visited, end: impl FnOnce() -> MessageEnd) {
        if visited.keeps_events() {
            self.sent_ends.push((visited, end()));
        }
    }

    /// Keeps the ends that the call under way has sent: it was successful.
    #[inline(always)]
    pub(super) fn keep_sent(&mut self) {
        if !self.sent_ends.is_empty() {
            self.keep_all_sent();
        }
    }

    #[inline(never)]
    fn keep_all_sent(&mut self) {
        for (visited, end) in self.sent_ends.drain(..) {
            visited.keep_message(&end);
        }
    }

    /// Forgets an end that was not sent, or of which it is not known whether it was.
    pub(super) fn forget_sent(&mut self, partner: i32, communicator: u32, tag: i32) {
        self.sent_ends.retain(|(_, end)| {
            (end.partner, end.communicator, end.tag) != (partner, communicator, tag)
        });
    }

    /// Keeps the end of a message that the call under way has received.
    #[inline(always)]
    pub(super) fn keep_received(&mut self, visited: Visited, end: impl FnOnce() -> MessageEnd) {
        if visited.keeps_events() {
            self.keep_all_sent();
            visited.keep_message(&end());
        }
    }
}
