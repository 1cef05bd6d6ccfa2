//! Collective operations: who came last.
//!
//! After the operation its ranks combine when they entered it, by an operation of the same shape on
//! the twin: from the root where it sends, to the root where it receives. So no rank waits for one
//! that the program's own operation would not have made it wait for.

use std::ffi::{c_int, c_void};

use tinyprof::__calls::{EdgeInstance, EdgeKey, EdgeKind, Recorder, Visited};
use tinyprof_messages::clock::Clock;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::Offset;
use tinyprof_messages::waiting::Collective;

use super::common_clock::{Span, now_ns};
use super::state;
use crate::abi::Handle;
use crate::communicators;
use crate::library::Mpi;

/// The words of a meeting.
type Words = [u64; Meeting::WORDS];

/// A collective operation that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) communicator: Handle,
    pub(crate) kind: Collective,
    /// The root, if there is one.
    pub(crate) root: c_int,
}

/// Finds out who came last to an operation, and counts the waiting. Returns when that has ended,
/// `None` if there was nothing to do. Collective over the twin.
///
/// A rank that has left the operation may wait in the exchange for one that has not: that is part
/// of the operation, and our cost is no more than that of the shortest exchange.
pub(crate) fn meet(
    mpi: &Mpi,
    recorder: Recorder,
    visited: Visited,
    span: Span,
    met: &Met,
) -> Option<u64> {
    let known = |known: &communicators::Communicator| {
        (known.twin(), known.rank.cast_unsigned(), known.size.cast_unsigned())
    };
    let (twin, rank, size) = communicators::with(mpi, met.communicator, known)?;
    let twin = twin.filter(|_| size > 1)?;
    // A thread that the state does not belong to exchanges times, too, but has no clock.
    let clock = state::with(recorder, |state| state.clock).unwrap_or_default();
    let own = words(&clock, span, rank, size);
    let all = exchange(mpi, twin.handle, met, own)?;
    let ended_ns = now_ns(recorder);
    state::with(recorder, |state| {
        state.exchange_ns = state.exchange_ns.min(ended_ns.saturating_sub(span.left_ns));
        state.cost(state.exchange_ns);
    });
    let root = met.root.cast_unsigned();
    if !met.kind.waits(rank, root) {
        return Some(ended_ns);
    }
    let meeting = Meeting::from_words(all.map(u64::cast_signed), size);
    let last = if met.kind == Collective::FromRoot { root } else { meeting.last_rank };
    let wait = state::with(recorder, |state| {
        state.facts.companions += 1;
        state.clock.meet_at(span, &meeting, Offset::default())
    });

    let relative = |known: &communicators::Communicator| known.relative(last.cast_signed());
    let partner = communicators::with(mpi, met.communicator, relative);
    let key = EdgeKey {
        kind: match met.kind {
            Collective::Barrier => EdgeKind::Barrier,
            Collective::AllToAll => EdgeKind::AllToAll,
            Collective::FromRoot => EdgeKind::FromRoot,
            Collective::ToRoot => EdgeKind::ToRoot,
            Collective::Scan => EdgeKind::Scan,
        },
        partner: partner.unwrap_or(communicators::ELSEWHERE),
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
    Some(ended_ns)
}

/// Takes part in the exchange after an operation, on a thread without a clock.
pub(crate) fn take_part(mpi: &Mpi, met: &Met) {
    let twin = communicators::with(mpi, met.communicator, |known| (known.twin(), known.size));
    if let Some((Some(twin), size)) = twin
        && size > 1
    {
        // The ranks that wait do not wait for this one, as far as they can know.
        let _ = exchange(mpi, twin.handle, met, [0; Meeting::WORDS]);
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
