//! Collective operations: who came last.
//!
//! Where ranks share memory, each writes on a board when it enters, and looks at it when it has
//! left. Elsewhere the ranks combine when they entered after the operation, by an operation of the
//! same shape on the twin: from the root where it sends, to the root where it receives. Either way
//! no rank waits for one that the program's own operation would not have made it wait for.

use std::ffi::{c_int, c_void};
use std::ops::Range;

use tinyprof::__calls::{EdgeInstance, EdgeKey, EdgeKind, Recorder, Visited};
use tinyprof_messages::clock::Clock;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::Offset;
use tinyprof_messages::waiting::Collective;

use super::common_clock::{Span, now_ns};
use super::shared::{self, Operation, Read};
use super::state;
use crate::abi::Handle;
use crate::communicators::{self, Communicator, Twin};
use crate::library::Mpi;

/// The words of a meeting.
type Words = [u64; Meeting::WORDS];

/// A collective operation of the program.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) communicator: Handle,
    pub(crate) kind: Collective,
    /// The root, if there is one.
    pub(crate) root: c_int,
}

/// An operation under way, of ranks that all have us.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meet {
    met: Met,
    known: &'static Communicator,
    twin: Twin,
    /// Its place on the board, where memory is shared.
    operation: Option<Operation>,
}

impl Meet {
    /// Begins an operation, which the program enters at `entered_ns`. `None` if there is nobody to
    /// wait for, or not all have us.
    ///
    /// A thread that the state does not belong to has no clock, and one without a recorder has no
    /// time either: nobody waits for it, as far as the others can know.
    pub(crate) fn begin(met: Met, at: Option<(Recorder, u64)>) -> Option<Self> {
        // One with a twin is known. Others are not asked about: MPI has not accepted the
        // communicator yet.
        let known = communicators::find(met.communicator)?;
        let twin = known.twin().filter(|_| known.size > 1)?;
        let operation = shared::begin_operation(&twin);
        let this = Self { met, known, twin, operation };
        if let (Some(operation), Some((recorder, entered_ns))) = (operation, at)
            && (met.kind != Collective::FromRoot || this.rank() == this.root())
        {
            let clock = state::with(recorder, |state| state.clock).unwrap_or_default();
            operation.enter(&clock.meeting(entered_ns, Offset::default(), this.rank()));
        }
        Some(this)
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
        let Some(operation) = self.operation else {
            return self.end_by_exchange(mpi, recorder, visited, span);
        };
        if self.met.kind.waits(self.rank(), self.root()) {
            match operation.others(self.waited_for()) {
                Read::Meeting(meeting) => self.count(recorder, visited, span, &meeting),
                Read::Lost => {
                    state::with(recorder, |state| state.facts.companions_missing += 1);
                }
                Read::Nobody => {}
            }
        }
        None
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
        let own = words(&clock, span, self.rank(), self.size());
        let all = exchange(mpi, self.twin.handle, &self.met, own)?;
        let ended_ns = now_ns(recorder);
        state::with(recorder, |state| {
            state.exchange_ns = state.exchange_ns.min(ended_ns.saturating_sub(span.left_ns));
            state.cost(state.exchange_ns);
        });
        if self.met.kind.waits(self.rank(), self.root()) {
            let meeting = Meeting::from_words(all.map(u64::cast_signed), self.size());
            self.count(recorder, visited, span, &meeting);
        }
        Some(ended_ns)
    }

    /// Takes part in the exchange after an operation, on a thread without a recorder, or where it
    /// has failed on this rank alone.
    pub(crate) fn take_part(&self, mpi: &Mpi) {
        if self.operation.is_none() {
            let _ = exchange(mpi, self.twin.handle, &self.met, [0; Meeting::WORDS]);
        }
    }

    fn count(&self, recorder: Recorder, visited: Visited, span: Span, meeting: &Meeting) {
        let kind = self.met.kind;
        let last = if kind == Collective::FromRoot { self.root() } else { meeting.last_rank };
        let wait = state::with(recorder, |state| {
            state.facts.companions += 1;
            state.clock.meet_at(span, meeting, Offset::default())
        });
        let key = EdgeKey {
            kind: match kind {
                Collective::Barrier => EdgeKind::Barrier,
                Collective::AllToAll => EdgeKind::AllToAll,
                Collective::FromRoot => EdgeKind::FromRoot,
                Collective::ToRoot => EdgeKind::ToRoot,
                Collective::Scan => EdgeKind::Scan,
            },
            partner: self.known.relative(last.cast_signed()),
            from: visited.id(),
        };
        let wait = wait.unwrap_or_default();
        let instance = EdgeInstance {
            ns: wait.waiting_ns,
            compensated_ns: wait.compensated_ns,
            transfer_ns: wait.transfer_ns,
            ..EdgeInstance::default()
        };
        visited.add_edge(&key, &instance);
    }

    fn rank(&self) -> u32 {
        self.known.rank.cast_unsigned()
    }

    fn size(&self) -> u32 {
        self.known.size.cast_unsigned()
    }

    fn root(&self) -> u32 {
        self.met.root.cast_unsigned()
    }

    /// Returns the ranks that this one waits for, if it waits.
    fn waited_for(&self) -> Range<u32> {
        match self.met.kind {
            Collective::FromRoot => self.root()..self.root().saturating_add(1).min(self.size()),
            Collective::Scan => 0..self.rank() + 1,
            Collective::Barrier | Collective::AllToAll | Collective::ToRoot => 0..self.size(),
        }
    }
}

fn words(clock: &Clock, span: Span, rank: u32, size: u32) -> Words {
    let meeting = clock.meeting(span.entered_ns, Offset::default(), rank);
    // None is negative: the common clock begins with the host.
    meeting.to_words(size).map(|word| word.max(0).cast_unsigned())
}

/// Combines the words of all ranks that one waits for; `None` if MPI returns an error.
fn exchange(mpi: &Mpi, twin: Handle, met: &Met, own: Words) -> Option<Words> {
    let mut all = own;
    let from = own.as_ptr().cast::<c_void>();
    let to = all.as_mut_ptr().cast::<c_void>();
    let (word, max) = (mpi.abi.word, mpi.abi.max);
    let code = match met.kind {
        Collective::Barrier | Collective::AllToAll => {
            // SAFETY: the twin is live, all its ranks have called the program's operation and call
            // this one now, and both arrays hold four words.
            unsafe { mpi.allreduce(from, to, WORDS, word, max, twin) }
        }
        Collective::FromRoot => {
            // SAFETY: as above.
            unsafe { mpi.bcast(to, WORDS, word, met.root, twin) }
        }
        Collective::ToRoot => {
            // SAFETY: as above.
            unsafe { mpi.reduce(from, to, WORDS, word, max, met.root, twin) }
        }
        Collective::Scan => {
            // SAFETY: as above.
            unsafe { mpi.scan(from, to, WORDS, word, max, twin) }
        }
    };
    (code == 0).then_some(all)
}

/// The number of words, as MPI counts.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "4")]
const WORDS: c_int = Meeting::WORDS as c_int;
