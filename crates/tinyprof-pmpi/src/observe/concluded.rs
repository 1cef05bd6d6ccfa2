//! Calls that have ended: for which messages, and for whom, they have waited.

use std::ffi::c_int;

use tinyprof::__calls::{EdgeKey, Visited};

use super::{Before, Call};
use crate::abi::Handle;
use crate::arguments::Kind;
use crate::communicators::{Communicator, ELSEWHERE};
use crate::companions::{self, Completed, Envelope, Held, Probed, Span, State, held};
use crate::datatypes;
use crate::function::{Completes, Concludes, Counts, Positions};
use crate::requests;

impl Call {
    /// Finds out for which messages the call has waited.
    #[inline]
    pub(super) fn conclude(&self, before: &Before, visited: Visited, span: Span) {
        let function = self.function;
        match function.concludes {
            Concludes::Nothing => {}
            Concludes::Datatype => {
                let datatype = self.arguments.handle_at(function.at.datatype, 0, Kind::Datatype);
                datatypes::bytes(self.mpi(), datatype);
            }
            Concludes::Receive => self.conclude_receive(before.status, visited, span),
            Concludes::Probe if self.has_found() => {
                self.conclude_probe(before.status, visited, span);
            }
            Concludes::Probe => self.conclude_nothing(span),
            Concludes::MatchedReceive => {
                let matched = companions::with(self.recorder, |state| {
                    let held = state.matched.take()?;
                    // The message was matched before. Its receive is posted by this call.
                    let (post, ideal_ns) = state.post_at(span.entered_ns);
                    Some(Held { post, ideal_ns, ..held })
                });
                if let Some(held) = matched.flatten() {
                    let completed =
                        self.completed_now(held, before.communicator, before.status, false);
                    companions::with(self.recorder, |state| {
                        state.completed.push(completed);
                    });
                    self.conclude_all(visited, span, true);
                }
            }
            Concludes::Completion => {
                let waits = !function.is_test;
                if !self.has_found() {
                    return self.conclude_nothing(span);
                }
                let span = self.conclude_operations(visited, span, waits);
                self.conclude_all(visited, span, waits);
            }
            Concludes::Access => self.conclude_access(visited, span),
            Concludes::New => self.arguments.take_note_of_new(function, true),
        }
    }

    fn conclude_all(&self, visited: Visited, span: Span, waits: bool) {
        companions::with(self.recorder, |state| {
            if !state.completed.is_empty() {
                state.takes_any = matches!(
                    self.function.counts,
                    Counts::Completed(Completes::Any | Completes::Some)
                );
                state.conclude(self.mpi(), self.recorder, visited, span, waits);
                state.takes_any = false;
            }
        });
    }

    /// Returns whether a call has found what it looks for, if it does not wait for it.
    #[inline]
    fn has_found(&self) -> bool {
        let Positions { flag, outcount, .. } = self.function.at;
        match (self.function.is_test, flag) {
            (false, _) => true,
            (true, Positions::NO) => self.arguments.output(outcount) != 0,
            (true, flag) => self.arguments.output(flag) != 0,
        }
    }

    /// Notes a test that has found nothing.
    fn conclude_nothing(&self, span: Span) {
        companions::with(self.recorder, |state| state.found_nothing(span));
    }

    /// Finds out for how long a call has waited for a message that it has not received.
    fn conclude_probe(&self, status: usize, visited: Visited, span: Span) {
        let (source, tag) = self.envelope_in(status);
        if source < 0 {
            return;
        }
        let waits = !self.function.is_test;
        let Some((known, twin)) = self.known().and_then(|known| Some((known, known.twin()?)))
        else {
            companions::with(self.recorder, |state| state.is_unknown = waits);
            return;
        };
        let at = &self.function.at;
        let is_any = self.arguments.int(at.source) == self.mpi().abi.any_source;
        let posted = (at.message != Positions::NO).then(|| {
            let message = self.arguments.handle_at(at.message, 0, Kind::Message);
            requests::find(message).and_then(|(place, _)| held::at(place).posted)
        });
        let posted = posted.flatten();
        let (partner, source) = (known.relative(source), source.cast_unsigned());
        let probed = Probed { twin, partner, source, tag, is_any, posted };
        companions::with(self.recorder, |state| {
            state.is_unknown = !state.probed(self.recorder, visited, span, waits, &probed) && waits;
        });
    }

    fn conclude_receive(&self, status: usize, visited: Visited, span: Span) {
        let (source, tag) = self.envelope_in(status);
        if source < 0 {
            return;
        }
        let peer = self.arguments.int(self.function.at.source);
        let held = Held { peer, tag, ..Held::NOT_FOLLOWED };
        let mut completed = self.completed_now(held, self.known(), status, false);
        companions::with(self.recorder, |state| {
            // It is posted now that it has returned: no other was posted meanwhile.
            let post = |twin| state.post(self.mpi(), &twin, Envelope { source, tag }, Handle(0));
            completed.held.posted = completed.twin.map(post);
            (completed.held.post, completed.held.ideal_ns) = state.post_at(span.entered_ns);
            state.conclude_only(self.mpi(), self.recorder, visited, span, true, &completed);
        });
    }

    /// Returns a receive that the call has completed, whose status is at `status`.
    fn completed_now(
        &self,
        held: Held,
        communicator: Option<&Communicator>,
        status: usize,
        is_cancelled: bool,
    ) -> Completed {
        let (source, tag) = self.envelope_in(status);
        let bytes = if is_cancelled { 0 } else { self.bytes_of(status) };
        let twin = communicator.and_then(Communicator::twin);
        if twin.is_none() && communicator.is_some_and(Communicator::has_lost_twin) {
            companions::with(self.recorder, State::count_unclear);
        }
        let partner = communicator.map_or(ELSEWHERE, |known| known.relative(source));
        let posted_by = EdgeKey::UNKNOWN;
        Completed { held, twin, partner, source, tag, bytes, is_cancelled, posted_by }
    }

    /// Notes a request that has been completed, for the end of the call.
    pub(super) fn note_completed(
        &self,
        place: usize,
        status: usize,
        is_cancelled: bool,
        visited: Visited,
    ) {
        if status == 0 || !companions::is_on() {
            return;
        }
        let request = requests::taken(place);
        let held = held::at(place);
        let completed = self.completed_now(held, request.communicator, status, is_cancelled);
        if completed.source < 0 && !is_cancelled {
            return;
        }
        let posted_by = visited.elsewhere(request.callpath).map(Visited::id);
        let posted_by = posted_by.unwrap_or(EdgeKey::UNKNOWN);
        companions::with(self.recorder, |state| {
            state.completed.push(Completed { posted_by, ..completed });
        });
    }

    /// Returns source and tag in a status; a source of no rank if there is no status.
    pub(super) fn envelope_in(&self, status: usize) -> (c_int, c_int) {
        if status == 0 { (-1, 0) } else { self.mpi().abi.envelope_in(status) }
    }
}
