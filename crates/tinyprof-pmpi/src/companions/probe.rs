//! Probes and tests: blocking probes wait for a message as a receive does, and leave it.

use tinyprof::__calls::{CallpathId, EdgeInstance, EdgeKey, EdgeKind, Recorder, Visited};
use tinyprof_messages::companion::Companion;
use tinyprof_messages::matching::{Posted, Stream};
use tinyprof_messages::time::Post;

use super::causes::Waited;
use super::common_clock::Span;
use super::partner::Partner;
use super::receive::waited;
use super::state::State;
use crate::communicators::Twin;

/// A message that a call has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probed {
    pub(crate) twin: Twin,
    /// The rank in the world that it comes from, relative to this one.
    pub(crate) partner: i32,
    pub(crate) source: u32,
    pub(crate) tag: i32,
    /// True if the call has asked for messages of any source.
    pub(crate) is_any: bool,
    /// What is known of its receive, if the call has matched it.
    pub(crate) posted: Option<Posted>,
}

impl State {
    /// Notes a call that has found a message which is received later; `waits` if it has
    /// waited for it. Returns false if nobody knows when it was sent.
    pub(crate) fn probed(
        &mut self,
        recorder: Recorder,
        visited: Visited,
        span: Span,
        waits: bool,
        probed: &Probed,
    ) -> bool {
        let Probed { twin, partner, source, tag, .. } = *probed;
        let stream = Stream { communicator: twin.number, peer: source, tag };
        if self.is_stream_shared(stream) {
            return false;
        }
        let number = match probed.posted {
            Some(Posted::Number(number)) => Some(number),
            // A receive from any source that was posted before may take the message first.
            Some(_) => None,
            None => self.common().receives.next(stream),
        };
        let from = Partner { twin, relative: partner, stream };
        let Some(companion) = number.and_then(|number| self.common().carrier.peek(&from, number))
        else {
            return false;
        };
        // A large message is announced by as much as a small one.
        let envelope = Companion { bytes: 0, ..companion };
        if !waits {
            self.found_by_test(span, None, &envelope, partner);
            return true;
        }
        self.tests.waited(self.calls);
        let offset = self.offset(partner);
        let wait = self.clock.receive(span, &envelope, offset);
        let key = EdgeKey {
            kind: if probed.is_any { EdgeKind::MessageToAny } else { EdgeKind::Message },
            partner,
            from: CallpathId::from_bits(companion.callpath),
        };
        let instance = EdgeInstance { bytes: companion.bytes, ..waited(&wait) };
        visited.add_edge(&key, &instance);
        self.has_waited_for(recorder, &Waited::by(partner, visited.id(), span, wait.waiting_ns));
        true
    }

    /// Notes a test that has found nothing.
    pub(crate) fn found_nothing(&mut self, span: Span) {
        self.tests.failed(self.calls, span.entered_ns, &self.entered);
    }

    /// Notes a test that has found a message of a rank, relative to this one in the world.
    /// `post` is that of its receive, if there is one.
    pub(super) fn found_by_test(
        &mut self,
        span: Span,
        post: Option<Post>,
        companion: &Companion,
        relative: i32,
    ) {
        let Some(call) = self.tests.found(self.calls, span, &mut self.clock) else {
            return self.clock.find(companion);
        };
        let offset = self.offset(relative);
        match post {
            Some(post) => self.clock.complete(call, post, companion, offset),
            None => self.clock.receive(call, companion, offset),
        };
    }
}
