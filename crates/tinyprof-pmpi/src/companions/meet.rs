//! Collective operations: who came last.
//!
//! Where ranks share memory, each writes on a board when it enters, and looks at it when it has
//! left. Elsewhere the ranks combine when they entered after the operation, by an operation of the
//! same shape on the twin: from the root where it sends, to the root where it receives. Either way
//! no rank waits for one that the program's own operation would not have made it wait for.

use tinyprof::__calls::{CallpathId, EdgeKey, Recorder, Visited};
use tinyprof_messages::companion::Companion;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::Offset;
use tinyprof_messages::waiting::Collective;

use super::common_clock::{Span, now_ns};
use super::exchange::{exchange, words};
use super::operation::{Meet, Met, Shape};
use super::receive::waited;
use super::shared::{self, Read};
use super::state;
use crate::library::Mpi;

impl Meet {
    /// Begins an operation, which the program enters at `entered_ns`. `None` if there is nobody to
    /// wait for, or not all have us.
    ///
    /// A thread that the state does not belong to has no clock, and one without a recorder has no
    /// time either: nobody waits for it, as far as the others can know.
    pub(crate) fn begin(met: Met, at: Option<(Recorder, u64)>) -> Option<Self> {
        let Met { group, shape, root, needs_board } = met;
        let twin = group.twin().filter(|_| group.has_others())?;
        let operation = shared::begin_operation(&twin);
        if operation.is_none() {
            let needs_board = needs_board || !matches!(shape, Shape::Of(_));
            if shared::is_on() {
                // There are more communicators than boards.
                at.map(|(recorder, _)| {
                    state::with(recorder, |state| state.facts.companions_missing += 1)
                });
                return None;
            }
            if needs_board || group.remote_size.is_some() {
                return None;
            }
        }
        let this = Self { shape, root, group, twin, operation };
        this.enter(at);
        Some(this)
    }

    /// Begins a persistent operation again.
    pub(crate) fn begin_again(self, at: Option<(Recorder, u64)>) -> Option<Self> {
        let operation = Some(shared::begin_operation(&self.twin)?);
        let this = Self { operation, ..self };
        this.enter(at);
        Some(this)
    }

    fn enter(&self, at: Option<(Recorder, u64)>) {
        if let (Some(operation), Some((recorder, entered_ns))) = (self.operation, at)
            && self.is_waited_for()
        {
            let clock = state::with(recorder, |state| state.clock).unwrap_or_default();
            let place = self.group.place();
            operation.enter(&clock.meeting(entered_ns, Offset::default(), place));
        }
    }

    /// Takes back that an operation has begun: MPI has refused the call, which the program may make
    /// again.
    pub(crate) fn withdraw(&self) {
        if self.operation.is_some() {
            shared::end_of_no_operation(&self.twin);
        }
    }

    /// Finds out who came last, when the operation has ended, and counts the waiting. Returns since
    /// when the rest of our work is to be measured; `None` if since the end of the operation.
    pub(crate) fn end(
        &self,
        mpi: &Mpi,
        recorder: Recorder,
        visited: Visited,
        span: Span,
    ) -> Option<u64> {
        if self.operation.is_none() {
            return self.end_by_exchange(mpi, recorder, visited, span);
        }
        self.wait(recorder, visited, span, visited.id());
        None
    }

    /// Counts the waiting of a call that has completed the operation, which `from` has started.
    /// Returns it in ns.
    pub(crate) fn wait(
        &self,
        recorder: Recorder,
        visited: Visited,
        span: Span,
        from: CallpathId,
    ) -> u64 {
        match self.others() {
            Some(Read::Meeting(meeting)) => self.count(recorder, visited, span, &meeting, from),
            Some(Read::Lost) => {
                state::with(recorder, |state| {
                    state.facts.companions_missing += 1;
                    state.is_unknown = true;
                });
                0
            }
            Some(Read::Nobody) | None => {
                // The root of a tree does, and maybe this rank for those behind it.
                state::with(recorder, |state| state.clock.doubt(span.duration_ns()));
                0
            }
        }
    }

    /// Takes note that the operation was found complete: nobody has waited.
    pub(crate) fn find(&self, recorder: Recorder) {
        if let Some(Read::Meeting(meeting)) = self.others() {
            state::with(recorder, |state| {
                state.facts.companions += 1;
                let ideal_ns = u64::try_from(meeting.ideal_ns).unwrap_or(0);
                state.clock.find(&Companion { ideal_ns, ..Companion::default() });
            });
        }
    }

    /// As [`end`](Self::end), where the ranks combine their times by MPI. Collective over the twin.
    ///
    /// A rank that has left the operation may wait in the exchange for one that has not: that is
    /// part of the operation, and our cost is no more than that of the shortest exchange.
    fn end_by_exchange(
        &self,
        mpi: &Mpi,
        recorder: Recorder,
        visited: Visited,
        span: Span,
    ) -> Option<u64> {
        let clock = state::with(recorder, |state| state.clock).unwrap_or_default();
        let Shape::Of(kind) = self.shape else { return None };
        let own = words(&clock, span, self.rank(), self.size());
        let all = exchange(mpi, self.twin.handle, kind, self.root, own)?;
        let ended_ns = now_ns(recorder);
        state::with(recorder, |state| {
            state.exchange_ns = state.exchange_ns.min(ended_ns.saturating_sub(span.left_ns));
            state.cost(state.exchange_ns);
        });
        if kind.waits(self.rank(), self.root()) {
            let meeting = Meeting::from_words(all.map(u64::cast_signed), self.size());
            self.count(recorder, visited, span, &meeting, visited.id());
        }
        Some(ended_ns)
    }

    /// Takes part in the exchange after an operation, on a thread without a recorder, or where it
    /// has failed on this rank alone.
    pub(crate) fn take_part(&self, mpi: &Mpi) {
        if let (None, Shape::Of(kind)) = (self.operation, self.shape) {
            let _ = exchange(mpi, self.twin.handle, kind, self.root, [0; Meeting::WORDS]);
        }
    }

    fn count(
        &self,
        recorder: Recorder,
        visited: Visited,
        span: Span,
        meeting: &Meeting,
        from: CallpathId,
    ) -> u64 {
        let last = match (self.shape, self.group.remote_size) {
            (Shape::Of(Collective::FromRoot), None) => self.root(),
            _ => meeting.last_rank,
        };
        let wait = state::with(recorder, |state| {
            state.facts.companions += 1;
            if from == visited.id() {
                state.clock.meet_at(span, meeting, Offset::default())
            } else {
                // Started by another call: its way may have begun before this one.
                state.clock.meet(span, meeting)
            }
        });
        let partner = self.group.relative_at(last);
        let key = EdgeKey { kind: self.shape.edge(), partner, from };
        let wait = wait.unwrap_or_default();
        visited.add_edge(&key, &waited(&wait));
        wait.waiting_ns
    }
}
