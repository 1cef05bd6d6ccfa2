//! Tests: a loop of them that does nothing but wait is one call.

use tinyprof_messages::clock::Clock;
use tinyprof_messages::polling::Polling;

use super::common_clock::Span;

/// The tests of a thread, whose calls have numbers.
#[derive(Debug, Default)]
pub(super) struct Tests {
    polling: Polling,
    /// The number of the call after the last test: only if that is a test, too, it is a loop.
    next: u64,
}

impl Tests {
    /// Notes a test that has found nothing; `clock` is that when it was entered.
    pub(super) fn failed(&mut self, call: u64, entered_ns: u64, clock: &Clock) {
        if self.next != call {
            self.polling.other();
        }
        self.polling.failed(entered_ns, clock);
        self.next = call.wrapping_add(1);
    }

    /// Returns the call that a test was part of, which has found a message, as
    /// [`Polling::found`] does.
    pub(super) fn found(&mut self, call: u64, test: Span, clock: &mut Clock) -> Option<Span> {
        if self.next != call {
            self.polling.other();
        }
        self.polling.found(test, clock)
    }

    /// Notes a call that has waited for a message.
    #[inline]
    pub(super) fn waited(&mut self, call: u64) {
        if self.next == call {
            self.polling.waited();
        }
    }
}
