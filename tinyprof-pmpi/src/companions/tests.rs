//! Tests: a loop of them that does nothing but wait is one call.

use tinyprof_messages::companion::Companion;
use tinyprof_messages::polling::Polling;
use tinyprof_messages::time::Post;

use super::common_clock::Span;
use super::state::State;

/// The tests of a thread.
#[derive(Debug, Default)]
pub(super) struct Tests {
    polling: Polling,
    /// The number of the call after the last test: only if that is a test, too, it is a loop.
    next: u64,
}

impl State {
    /// Takes note of a test that has found nothing.
    pub(crate) fn found_nothing(&mut self, span: Span) {
        if self.tests.next != self.calls {
            self.tests.polling.other();
        }
        self.tests.polling.failed(span.entered_ns, &self.entered);
        self.tests.next = self.calls.wrapping_add(1);
    }

    /// Takes note of a test that has found a message of a rank, relative to this one in the world.
    /// `post` is that of its receive, if there is one.
    pub(super) fn found_by_test(
        &mut self,
        span: Span,
        post: Option<Post>,
        companion: &Companion,
        relative: i32,
    ) {
        if self.tests.next != self.calls {
            self.tests.polling.other();
        }
        let Some(call) = self.tests.polling.found(span, &mut self.clock) else {
            return self.clock.find(companion);
        };
        let offset = self.offset(relative);
        match post {
            Some(post) => self.clock.complete(call, post, companion, offset),
            None => self.clock.receive(call, companion, offset),
        };
    }

    /// Takes note of a call that has waited for a message.
    #[inline]
    pub(super) fn waits_after_tests(&mut self) {
        if self.tests.next == self.calls {
            self.tests.polling.waited();
        }
    }
}
