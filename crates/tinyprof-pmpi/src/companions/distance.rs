//! How far the clock of this rank's host is from that of rank 0's, in the course of time.
//!
//! It is measured when MPI has begun, and when the program ends. In between the clocks drift apart:
//! so it is measured again after some operations that all ranks of the world wait in, each time
//! after four times as long as before.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof::__calls::Recorder;
use tinyprof_messages::drift::Drift;

use super::common_clock::{go_by_monotonic, known_distance, now_ns};
use super::group::{maxima, split};
use super::hosts::{self, Distance};
use crate::abi::Handle;
use crate::library::Mpi;

/// The first measurement after that at the begin, in ns.
const FIRST_AFTER_NS: u64 = 100_000_000;
/// The time between measurements grows by this factor,
const GROWS_BY: u64 = 4;
/// and is at least this many times as long as one takes.
const RARE: u64 = 1_000;

/// A communicator with all ranks of the world. Not its twin: there companions may still wait that
/// nobody has taken.
static ALL: OnceLock<Handle> = OnceLock::new();
static UNCERTAINTY_NS: AtomicU64 = AtomicU64::new(0);
/// Half of the shortest exchange between two hosts, in ns.
static LATENCY_NS: AtomicU64 = AtomicU64::new(0);
/// The moment from which the ranks of all hosts count, on the common clock; 0 if there is but one.
static ORIGIN_NS: AtomicU64 = AtomicU64::new(0);
/// When the distance is to be measured again, on the common clock, and the time until then: the
/// same on all ranks.
static NEXT_NS: AtomicU64 = AtomicU64::new(u64::MAX);
static INTERVAL_NS: AtomicU64 = AtomicU64::new(FIRST_AFTER_NS);

/// Compares the clocks of several hosts, and sets this rank's. `None` on all ranks if that is not
/// possible. Collective over the world.
pub(super) fn begin(mpi: &Mpi) -> Option<Distance> {
    if let Some(all) = split(mpi, mpi.abi.world, 0) {
        ALL.get_or_init(|| all);
    }
    let (recorder, all) = ready(mpi, mpi.abi.world)?;
    let distance = hosts::compare(mpi, recorder, all)?;
    let drift = Drift::begin(distance.at_ns, distance.ns, distance.uncertainty_ns);
    go_by_monotonic(recorder, drift);
    UNCERTAINTY_NS.store(distance.uncertainty_ns, Relaxed);
    // Rank 0 has asked nobody, and those of its host have not, either.
    let [latency_ns, now_ns] = maxima(mpi, all, &[distance.uncertainty_ns, now_ns(recorder)])?;
    LATENCY_NS.store(latency_ns, Relaxed);
    ORIGIN_NS.store(now_ns, Relaxed);
    NEXT_NS.store(now_ns.saturating_add(FIRST_AFTER_NS), Relaxed);
    Some(distance)
}

/// Returns by how much times may be wrong, in ns: 0 on one host.
pub(super) fn uncertainty_ns() -> u64 {
    UNCERTAINTY_NS.load(Relaxed)
}

/// Returns the moment from which the ranks of all hosts count, if there are several.
pub(super) fn origin_ns() -> Option<u64> {
    Some(ORIGIN_NS.load(Relaxed)).filter(|origin_ns| *origin_ns != 0)
}

/// Returns the time that a message takes to another host, in ns: 0 if there is but one.
#[inline]
pub(super) fn latency_ns() -> u64 {
    LATENCY_NS.load(Relaxed)
}

/// Compares the clocks again, if that is due at `last_ns`, when the last rank has entered an
/// operation that all ranks of the world wait in, and have left. Returns whether that was so.
///
/// Collective over the world: it is due on all ranks or on none, as they know the same last one.
pub(super) fn compare_if_due(mpi: &Mpi, last_ns: u64) -> bool {
    let is_due = last_ns >= NEXT_NS.load(Relaxed);
    if is_due {
        // If it does not succeed, it is not tried again.
        NEXT_NS.store(u64::MAX, Relaxed);
        let _ = compare_in_between(mpi);
    }
    is_due
}

#[cold]
fn compare_in_between(mpi: &Mpi) -> Option<()> {
    let (recorder, all) = ready(mpi, *ALL.get()?)?;
    let begun_ns = recorder.moment().1;
    measure(mpi, recorder, all)?;
    let taken_ns = recorder.moment().1.saturating_sub(begun_ns);
    let [taken_ns, now_ns] = maxima(mpi, all, &[taken_ns, now_ns(recorder)])?;
    let interval_ns = INTERVAL_NS.load(Relaxed).saturating_mul(GROWS_BY);
    let interval_ns = interval_ns.max(taken_ns.saturating_mul(RARE));
    INTERVAL_NS.store(interval_ns, Relaxed);
    NEXT_NS.store(now_ns.saturating_add(interval_ns), Relaxed);
    Some(())
}

/// Compares the clocks of several hosts again, when all ranks have come to the end: by as much as
/// they went apart since then times may be wrong. Collective over the world, if it has several.
pub(crate) fn compare_again(mpi: &Mpi) {
    NEXT_NS.store(u64::MAX, Relaxed);
    let Some(mut all) = ALL.get().copied() else { return };
    if let Some((recorder, all)) = ready(mpi, all) {
        let _ = measure(mpi, recorder, all);
    }
    // SAFETY: it is ours, all ranks come here, and nobody uses it any more.
    let _ = unsafe { mpi.comm_free(&raw mut all) };
}

/// Measures the distance, and corrects the clock from now on. Collective over `all`.
fn measure(mpi: &Mpi, recorder: Recorder, all: Handle) -> Option<()> {
    let distance = hosts::compare(mpi, recorder, all)?;
    let mut drift = known_distance();
    drift.measured(distance.at_ns, distance.ns, distance.uncertainty_ns);
    go_by_monotonic(recorder, drift);
    UNCERTAINTY_NS.store(drift.uncertainty_ns(), Relaxed);
    Some(())
}

/// Returns what a comparison needs, if all ranks have it. Collective over `communicator`.
fn ready(mpi: &Mpi, communicator: Handle) -> Option<(Recorder, Handle)> {
    let ready = Recorder::make().zip(ALL.get().copied());
    let [is_missing] = maxima(mpi, communicator, &[u64::from(ready.is_none())])?;
    ready.filter(|_| is_missing == 0)
}
