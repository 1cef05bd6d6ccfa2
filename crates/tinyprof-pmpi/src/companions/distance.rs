//! How far the clock of this rank's host is from that of rank 0's.

use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof::__calls::Recorder;

use super::common_clock::go_by_monotonic;
use super::group::{maxima, split};
use super::hosts::{self, Distance};
use crate::abi::Handle;
use crate::library::Mpi;

/// The distance when MPI has begun, if there are several hosts.
static BEFORE: OnceLock<Distance> = OnceLock::new();
/// A communicator with all ranks of the world. Not its twin: there companions may still wait that
/// nobody has taken.
static ALL: OnceLock<Handle> = OnceLock::new();
static UNCERTAINTY_NS: AtomicU64 = AtomicU64::new(0);
/// Half of the shortest exchange between two hosts, in ns.
static LATENCY_NS: AtomicU64 = AtomicU64::new(0);

/// Compares the clocks of several hosts, and sets this rank's. `None` on all ranks if that is not
/// possible. Collective over the world.
pub(super) fn begin(mpi: &Mpi) -> Option<Distance> {
    if let Some(all) = split(mpi, mpi.abi.world, 0) {
        ALL.get_or_init(|| all);
    }
    let distance = compare(mpi)?;
    UNCERTAINTY_NS.store(distance.uncertainty_ns, Relaxed);
    // Rank 0 has asked nobody, and those of its host have not, either.
    let [latency_ns] = maxima(mpi, mpi.abi.world, &[distance.uncertainty_ns])?;
    LATENCY_NS.store(latency_ns, Relaxed);
    Some(*BEFORE.get_or_init(|| distance))
}

/// Returns by how much times may be wrong, in ns: 0 on one host.
pub(super) fn uncertainty_ns() -> u64 {
    UNCERTAINTY_NS.load(Relaxed)
}

/// Returns the time that a message takes to another host, in ns: 0 if there is but one.
#[inline]
pub(super) fn latency_ns() -> u64 {
    LATENCY_NS.load(Relaxed)
}

/// Compares the clocks of several hosts again, when all ranks have come to the end: by as much as
/// they went apart times may be wrong. Collective over the world, if it has several.
pub(crate) fn compare_again(mpi: &Mpi) {
    if let Some(before) = BEFORE.get()
        && let Some(after) = compare(mpi)
    {
        let apart_ns = before.ns.abs_diff(after.ns);
        let most_ns = before.uncertainty_ns.max(after.uncertainty_ns);
        UNCERTAINTY_NS.store(most_ns.saturating_add(apart_ns), Relaxed);
    }
    if let Some(mut all) = ALL.get().copied() {
        // SAFETY: it is ours, all ranks come here, and nobody uses it any more.
        let _ = unsafe { mpi.comm_free(&raw mut all) };
    }
}

fn compare(mpi: &Mpi) -> Option<Distance> {
    let ready = Recorder::make().zip(ALL.get().copied());
    let [is_missing] = maxima(mpi, mpi.abi.world, &[u64::from(ready.is_none())])?;
    let (recorder, all) = ready.filter(|_| is_missing == 0)?;
    let distance = hosts::compare(mpi, recorder, all)?;
    go_by_monotonic(recorder, distance.ns);
    Some(distance)
}
