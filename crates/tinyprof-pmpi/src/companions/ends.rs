//! Who came last to the begin of MPI, and to its end: all ranks wait there for each other.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

use tinyprof::__calls::{Callpath, EdgeInstance, EdgeKey, EdgeKind, Recorder, Visited};
use tinyprof_messages::waiting::Collective;
use tinyprof_segment::clock::monotonic_ns;

use super::common_clock::{Span, now_ns};
use super::operation::{Meet, Met};
use super::state;
use crate::communicators;
use crate::function::Shape;
use crate::library::Mpi;

/// The bits of a word that have the rank; the others have a time in units of 1,024 ns.
const RANK_BITS: u32 = 16;

/// When the program has called the function that begins MPI, by `CLOCK_MONOTONIC`: before anything
/// of ours that takes time.
static CALLED_NS: AtomicU64 = AtomicU64::new(0);
static BEGUN: Mutex<Option<Begun>> = Mutex::new(None);
static ENDING: Mutex<Option<Ending>> = Mutex::new(None);

/// This rank's call that has begun MPI, by `CLOCK_MONOTONIC`.
#[derive(Clone, Copy)]
struct Begun {
    callpath: Callpath,
    entered_ns: u64,
    left_ns: u64,
}

/// This rank's call that ends MPI.
#[derive(Clone, Copy)]
struct Ending {
    callpath: Callpath,
    /// `None` if nobody can know who comes last.
    meet: Option<Meet>,
    entered_ns: u64,
}

/// Notes that the program begins MPI now.
pub(crate) fn begins() {
    CALLED_NS.store(monotonic_ns(), Relaxed);
}

/// Notes the call that has begun MPI, and ends now.
pub(crate) fn has_begun(recorder: Recorder, visited: Visited) {
    let (_, left_ns) = recorder.moment();
    let entered_ns = CALLED_NS.load(Relaxed);
    let begun = Begun { callpath: visited.callpath(), entered_ns, left_ns };
    *BEGUN.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
}

/// Returns when this rank has begun, as a word whose maximum over the ranks of a host tells which
/// of them was last.
pub(super) fn word(mpi: &Mpi) -> u64 {
    let begun = *BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = communicators::get(mpi, mpi.abi.world);
    let rank = known.map_or(0, |known| u64::from(known.rank.cast_unsigned()));
    // All bits of the rank are another one than any that is told.
    let rank = rank.min((1 << RANK_BITS) - 1);
    begun.map_or(0, |begun| (begun.entered_ns >> 10) << RANK_BITS | rank)
}

/// Counts for how long this rank has waited for the last one to begin, by the maximum of all words.
/// For ranks of one host.
pub(super) fn has_waited(mpi: &Mpi, recorder: Recorder, last: u64) {
    let begun = *BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(Begun { callpath, entered_ns, left_ns }) = begun else { return };
    let (last_ns, rank) = ((last >> RANK_BITS) << 10, last & ((1 << RANK_BITS) - 1));
    let Some(visited) = recorder.visited(callpath) else { return };
    let own = communicators::get(mpi, mpi.abi.world).map_or(0, |known| known.rank);
    let Ok(rank) = i32::try_from(rank) else { return };
    let ns = last_ns.min(left_ns).saturating_sub(entered_ns);
    let kind = EdgeKind::AllToAll;
    let key = EdgeKey { kind, partner: rank - own, from: visited.id() };
    let transfer_ns = left_ns.saturating_sub(entered_ns + ns);
    let instance = EdgeInstance { ns, compensated_ns: ns, transfer_ns, ..EdgeInstance::default() };
    visited.add_edge(&key, &instance);
}

/// Notes that this rank is about to end MPI.
pub(crate) fn is_ending(mpi: &Mpi, recorder: Recorder, visited: Visited) {
    if !state::is_on() {
        return;
    }
    let entered_ns = now_ns(recorder);
    let world = communicators::find(mpi.abi.world);
    if world.is_some_and(|world| !world.has_others()) {
        return;
    }
    // What it has done since its last call is why others wait for it here.
    state::with(recorder, |state| state.enter_last(recorder, visited, entered_ns));
    let meet = world.and_then(|group| {
        let (shape, needs_board) = (Shape::Of(Collective::AllToAll), true);
        let met = Met { group, shape, root: 0, bytes: 0, needs_board };
        Meet::begin(met, Some((recorder, entered_ns)))
    });
    let ending = Ending { callpath: visited.callpath(), meet, entered_ns };
    *ENDING.lock().unwrap_or_else(PoisonError::into_inner) = Some(ending);
}

/// Counts for how long this rank has waited for the last one to end, as all of them are known to
/// have come.
pub(crate) fn has_ended(mpi: &Mpi) {
    let ending = ENDING.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(Ending { callpath, meet, entered_ns }) = ending
        && let Some(recorder) = Recorder::current()
        && let Some(visited) = recorder.visited(callpath)
    {
        let left_ns = now_ns(recorder);
        if let Some(meet) = meet {
            meet.end(mpi, recorder, visited, Span { entered_ns, left_ns });
        } else {
            let ns = left_ns.saturating_sub(entered_ns);
            state::with(recorder, |state| state.not_followed(ns));
        }
    }
}
