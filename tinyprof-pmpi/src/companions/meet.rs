//! Collective operations: who came last.
//!
//! Where ranks share memory, each writes on a board when it enters, and looks at it when it has
//! left. Elsewhere the ranks combine when they entered after the operation, by an operation of the
//! same shape on the twin: from the root where it sends, to the root where it receives. Either way
//! no rank waits for one that the program's own operation would not have made it wait for.

use std::ffi::c_int;
use std::ops::Range;

use tinyprof::__calls::{CallpathId, EdgeInstance, EdgeKey, EdgeKind, Recorder, Visited};
use tinyprof_messages::companion::Companion;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::Offset;
use tinyprof_messages::waiting::Collective;

use super::common_clock::{Span, now_ns};
use super::exchange::{exchange, words};
use super::shared::{self, Operation, Read};
use super::state;
use crate::communicators::{Communicator, Twin};
use crate::library::{Mpi, mpi};

/// Who waits for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Of(Collective),
    /// Each rank waits for those whose data it gets.
    Neighbors,
    /// All wait for all, between accesses to a window.
    Fence,
}

/// A collective operation of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) group: &'static Communicator,
    pub(crate) shape: Shape,
    /// The root as the program passes it, if there is one.
    pub(crate) root: c_int,
    /// True if it is followed on boards alone.
    pub(crate) needs_board: bool,
}

/// An operation under way, of ranks that all have us.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meet {
    pub(super) shape: Shape,
    pub(super) root: c_int,
    pub(super) group: &'static Communicator,
    pub(super) twin: Twin,
    /// Its place on the board, where memory is shared.
    pub(super) operation: Option<Operation>,
}

impl Shape {
    const ALL: [Self; 7] = [
        Self::Of(Collective::Barrier),
        Self::Of(Collective::AllToAll),
        Self::Of(Collective::FromRoot),
        Self::Of(Collective::ToRoot),
        Self::Of(Collective::Scan),
        Self::Neighbors,
        Self::Fence,
    ];

    pub(super) fn to_number(self) -> u32 {
        (0..).zip(Self::ALL).find(|(_, shape)| *shape == self).map_or(0, |(number, _)| number)
    }

    pub(super) fn from_number(number: u32) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }

    fn edge(self) -> EdgeKind {
        match self {
            Self::Of(Collective::Barrier) => EdgeKind::Barrier,
            Self::Of(Collective::AllToAll) => EdgeKind::AllToAll,
            Self::Of(Collective::FromRoot) => EdgeKind::FromRoot,
            Self::Of(Collective::ToRoot) => EdgeKind::ToRoot,
            Self::Of(Collective::Scan) => EdgeKind::Scan,
            Self::Neighbors => EdgeKind::Message,
            Self::Fence => EdgeKind::Fence,
        }
    }
}

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

    /// Returns an operation with a place of its own in shared memory, which has not begun.
    pub(crate) fn prepare(
        group: &'static Communicator,
        shape: Shape,
        root: c_int,
        twin: Twin,
    ) -> Self {
        Self { shape, root, group, twin, operation: None }
    }

    /// Leaves that place for good.
    pub(crate) fn leave(&self) {
        shared::leave(&self.twin, self.group.places().end);
    }

    /// Returns the communicator.
    pub(crate) fn group(&self) -> &'static Communicator {
        self.group
    }

    /// Returns whether the operation has begun, where memory is shared.
    pub(crate) fn is_under_way(&self) -> bool {
        self.operation.is_some()
    }

    /// Returns when the last of those has entered that this rank waits for, in ns; 0 if nobody
    /// knows.
    pub(crate) fn last_ns(&self) -> i64 {
        match self.others() {
            Some(Read::Meeting(meeting)) => meeting.last_ns,
            _ => 0,
        }
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
            Some(Read::Nobody) | None => 0,
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

    /// Returns what those have told that this rank waits for, if it waits for some.
    fn others(&self) -> Option<Read> {
        let operation = self.operation?;
        let group = self.group;
        Some(match self.shape {
            Shape::Neighbors => operation.others(group.known_sources().iter().copied()),
            Shape::Fence => operation.others(group.places()),
            Shape::Of(kind) if group.remote_size.is_some() => match kind {
                // MPI lets a rank go when the other group has come. In practice it waits for its
                // own as well, and those that have not come when it goes have written nothing.
                Collective::Barrier | Collective::AllToAll => operation.others(group.places()),
                Collective::FromRoot if self.root >= 0 => {
                    operation.others(std::iter::once(group.place_of(self.root)))
                }
                Collective::ToRoot if self.is_root_between() => {
                    operation.others(group.other_places())
                }
                _ => return None,
            },
            Shape::Of(kind) if kind.waits(self.rank(), self.root()) => {
                operation.others(self.waited_for(kind))
            }
            Shape::Of(_) => return None,
        })
    }

    /// Returns whether another rank may wait for this one.
    fn is_waited_for(&self) -> bool {
        let is_between = self.group.remote_size.is_some();
        match self.shape {
            Shape::Of(Collective::FromRoot) if is_between => self.is_root_between(),
            Shape::Of(Collective::ToRoot) if is_between => self.root >= 0,
            Shape::Of(Collective::FromRoot) => self.rank() == self.root(),
            _ => true,
        }
    }

    /// Returns whether the caller is the root of an operation between two groups.
    fn is_root_between(&self) -> bool {
        self.root == mpi().abi.root
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
            state.clock.meet_at(span, meeting, Offset::default())
        });
        let partner = self.group.relative_at(last);
        let key = EdgeKey { kind: self.shape.edge(), partner, from };
        let wait = wait.unwrap_or_default();
        let instance = EdgeInstance {
            ns: wait.waiting_ns,
            compensated_ns: wait.compensated_ns,
            transfer_ns: wait.transfer_ns,
            ..EdgeInstance::default()
        };
        visited.add_edge(&key, &instance);
        wait.waiting_ns
    }

    fn rank(&self) -> u32 {
        self.group.rank.cast_unsigned()
    }

    fn size(&self) -> u32 {
        self.group.size.cast_unsigned()
    }

    fn root(&self) -> u32 {
        self.root.cast_unsigned()
    }

    /// Returns the ranks of one group that this one waits for, if it waits.
    fn waited_for(&self, kind: Collective) -> Range<u32> {
        match kind {
            Collective::FromRoot => self.root()..self.root().saturating_add(1).min(self.size()),
            Collective::Scan => 0..self.rank() + 1,
            Collective::Barrier | Collective::AllToAll | Collective::ToRoot => 0..self.size(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_of_one_shape() {
        for (number, shape) in (0..).zip(Shape::ALL) {
            assert_eq!((shape.to_number(), Shape::from_number(number)), (number, Some(shape)));
        }
        assert_eq!(Shape::from_number(7), None);
    }
}
