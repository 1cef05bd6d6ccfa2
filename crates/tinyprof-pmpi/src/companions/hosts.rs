//! The distances between the clocks of several hosts.
//!
//! One rank of each host asks rank 0 for its time. Of all answers the quickest tells most: it was
//! given in the middle of the exchange, but for half of what that took.

use std::ffi::c_int;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::ptr;

use tinyprof::__calls::{Recorder, boot_id};

use super::group::{maxima, rank_and_size};
use crate::abi::Handle;
use crate::library::Mpi;

/// The times that rank 0 is asked at least, and in vain before it is left alone.
const EXCHANGES: u32 = 20;
/// How long it is asked more often than that, in ns, on hosts whose processors are busy.
const LONGEST_NS: u64 = 100_000_000;
/// What a rank that has asked often enough sends instead of its time.
const DONE: u64 = u64::MAX;
/// Added to a distance, so that none is negative: ranks combine the largest. 73 years.
const BIAS_NS: i64 = 1 << 61;
/// The tag of the messages.
const TAG: c_int = 0;

/// The distance of rank 0's clock from that of this rank's host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Distance {
    /// The ns to be added to a time of this host to get that of rank 0.
    pub(super) ns: i64,
    /// By how much that may be wrong, in either direction, in ns.
    pub(super) uncertainty_ns: u64,
    /// When that was, in ns on the clock of this host.
    pub(super) at_ns: u64,
    /// The first rank on this host.
    pub(super) first: c_int,
}

/// Returns a number that tells hosts apart, above 0 and below 2^63: of the random number of their
/// last start, and of their clock. Containers of one machine may have clocks of their own
/// (`time_namespaces(7)`).
#[expect(clippy::cast_possible_truncation, reason = "a part of a random number is one, too")]
pub(super) fn host() -> u64 {
    let clock = fs::metadata("/proc/self/ns/time").map_or(0, |clock| clock.ino());
    (boot_id().unwrap_or_default() as u64 ^ clock.rotate_left(32)) >> 1 | 1
}

/// Compares the clocks of all hosts, on a communicator of our own with all ranks of the world.
/// Returns the distance for this rank; `None` if MPI returns an error. Collective.
pub(super) fn compare(mpi: &Mpi, recorder: Recorder, all: Handle) -> Option<Distance> {
    let (rank, size) = rank_and_size(mpi, all);
    let own = host();
    let mut known = None;
    loop {
        // The first rank of which nobody knows the distance, counted from the last.
        let from_last = if known.is_none() { (size - rank).unsigned_abs().into() } else { 0 };
        let [first] = maxima(mpi, all, &[from_last])?;
        if first == 0 {
            return known;
        }
        let asking = size - c_int::try_from(first).ok()?;
        let is_asking = asking == rank;
        let measured = match (asking, rank) {
            (0, _) => Some(Distance::default()),
            (_, 0) => answer(mpi, recorder, all, asking).then(Distance::default),
            _ if is_asking => ask(mpi, recorder, all),
            _ => Some(Distance::default()),
        };
        // All learn of an error.
        let told = match measured {
            Some(of_asking) if is_asking => [
                host(),
                of_asking.ns.saturating_add(BIAS_NS).max(0).unsigned_abs(),
                of_asking.uncertainty_ns,
                of_asking.at_ns,
                0,
            ],
            Some(_) => [0; 5],
            None => [0, 0, 0, 0, 1],
        };
        let [host, biased, uncertainty_ns, at_ns, is_error] = maxima(mpi, all, &told)?;
        if is_error != 0 {
            return None;
        }
        if host == own {
            let ns = biased.cast_signed() - BIAS_NS;
            known = Some(Distance { ns, uncertainty_ns, at_ns, first: asking });
        }
    }
}

/// Asks rank 0.
fn ask(mpi: &Mpi, recorder: Recorder, all: Handle) -> Option<Distance> {
    let mut best: Option<Distance> = None;
    let (_, begin_ns) = recorder.moment();
    let (mut asked, mut in_vain) = (0_u32, 0_u32);
    while asked < EXCHANGES
        || (in_vain < EXCHANGES && recorder.moment().1.saturating_sub(begin_ns) < LONGEST_NS)
    {
        let (_, sent_ns) = recorder.moment();
        if !send(mpi, all, 0, sent_ns) {
            return None;
        }
        let answered_ns = receive(mpi, all, 0)?;
        let (_, received_ns) = recorder.moment();
        let taken_ns = received_ns.saturating_sub(sent_ns);
        let middle_ns = sent_ns + taken_ns / 2;
        let ns = answered_ns.cast_signed().wrapping_sub(middle_ns.cast_signed());
        let uncertainty_ns = taken_ns.div_ceil(2);
        let this = Distance { ns, uncertainty_ns, at_ns: middle_ns, first: 0 };
        let is_better = best.is_none_or(|best| uncertainty_ns < best.uncertainty_ns);
        best = if is_better { Some(this) } else { best };
        asked += 1;
        in_vain = if is_better { 0 } else { in_vain + 1 };
    }
    send(mpi, all, 0, DONE).then_some(best)?
}

/// Answers a rank, on rank 0.
fn answer(mpi: &Mpi, recorder: Recorder, all: Handle, asking: c_int) -> bool {
    loop {
        match receive(mpi, all, asking) {
            Some(DONE) => return true,
            Some(_) if send(mpi, all, asking, recorder.moment().1) => {}
            _ => return false,
        }
    }
}

fn send(mpi: &Mpi, all: Handle, to: c_int, word: u64) -> bool {
    // SAFETY: the communicator is ours, the other rank receives, and the place holds a word.
    unsafe { mpi.send((&raw const word).cast(), 1, mpi.abi.word, to, TAG, all) == 0 }
}

fn receive(mpi: &Mpi, all: Handle, from: c_int) -> Option<u64> {
    let mut word = 0_u64;
    let ignored = ptr::with_exposed_provenance_mut(mpi.abi.status_ignore);
    let place = (&raw mut word).cast();
    // SAFETY: the communicator is ours, the other rank sends, and the place holds a word.
    let code = unsafe { mpi.recv(place, 1, mpi.abi.word, from, TAG, all, ignored) };
    (code == 0).then_some(word)
}
