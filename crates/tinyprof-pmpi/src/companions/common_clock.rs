//! The clock that all ranks share.
//!
//! The ranks of a host convert the ticks of the processor's counter with one factor. Factors that
//! each rank has measured for itself differ by a millionth, which is a microsecond after a second.
//!
//! Ranks of several hosts go by `CLOCK_MONOTONIC`, and by the distance of their host's from that of
//! rank 0, which [changes](Drift) with time. Its ticks are compared with the counter again and
//! again. So do ranks of one host of which some do not read the counter.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize};

use tinyprof::__calls::Recorder;
use tinyprof_messages::drift::Drift;
use tinyprof_messages::time::Call;

/// The ns of a tick, in units of 2^-32 ns.
static FACTOR: AtomicU64 = AtomicU64::new(0);
/// The ns to be added.
static OFFSET_NS: AtomicI64 = AtomicI64::new(0);
/// The distance of the first host's clock from that of this one, as it was set last: every other
/// time in the same place, so that threads that read it need no lock.
static DISTANCE: [[AtomicU64; 4]; 2] = [const { [const { AtomicU64::new(0) }; 4] }; 2];
/// How often it was set.
static TIMES_SET: AtomicUsize = AtomicUsize::new(0);
/// True if the ranks go by `CLOCK_MONOTONIC`.
static IS_MONOTONIC: AtomicBool = AtomicBool::new(false);

/// The factor of a clock whose ticks are nanoseconds.
pub(super) const NANOSECONDS: u64 = 1 << 32;

/// A call between two moments of the common clock.
pub(crate) type Span = Call;

/// Returns the factor for this many ns a tick.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a tick has a few ns, of which 32 bits behind the point are kept"
)]
pub(super) fn factor(ns_per_tick: f64) -> u64 {
    (ns_per_tick * NANOSECONDS as f64).round() as u64
}

/// Sets the factor, before the first time is read.
pub(super) fn set_factor(factor: u64) {
    FACTOR.store(factor, Relaxed);
}

/// Makes this rank go by `CLOCK_MONOTONIC`, with what is to be added to that of its host.
pub(super) fn go_by_monotonic(recorder: Recorder, distance: Drift) {
    let next = TIMES_SET.load(Relaxed).wrapping_add(1);
    let place = &DISTANCE[next % 2];
    place.iter().zip(distance.to_words()).for_each(|(place, word)| place.store(word, Relaxed));
    TIMES_SET.store(next, Release);
    IS_MONOTONIC.store(true, Relaxed);
    set_again(recorder);
}

/// Returns the distance that was set last.
pub(super) fn known_distance() -> Drift {
    let place = &DISTANCE[TIMES_SET.load(Acquire) % 2];
    Drift::from_words(place.each_ref().map(|word| word.load(Relaxed)))
}

/// Returns whether the clock is to be [set again](set_again) from time to time.
pub(super) fn is_monotonic() -> bool {
    IS_MONOTONIC.load(Relaxed)
}

/// Sets the clock of a rank that goes by `CLOCK_MONOTONIC` again.
pub(super) fn set_again(recorder: Recorder) {
    let (ticks, monotonic_ns) = recorder.moment();
    let distance_ns = known_distance().distance_ns(monotonic_ns);
    let common_ns = monotonic_ns.cast_signed().wrapping_add(distance_ns);
    let by_ticks_ns = ns_by_factor(ticks).cast_signed();
    OFFSET_NS.store(common_ns.wrapping_sub(by_ticks_ns), Relaxed);
}

/// Returns the time in ns.
#[inline]
pub(crate) fn now_ns(recorder: Recorder) -> u64 {
    ns_of(recorder.ticks())
}

/// Returns a time in ns, given in ticks.
#[inline]
pub(crate) fn ns_of(ticks: u64) -> u64 {
    ns_by_factor(ticks).wrapping_add_signed(OFFSET_NS.load(Relaxed))
}

#[inline]
fn ns_by_factor(ticks: u64) -> u64 {
    let units = u128::from(ticks) * u128::from(FACTOR.load(Relaxed));
    #[expect(clippy::cast_possible_truncation, reason = "584 years")]
    let ns = (units >> 32) as u64;
    ns
}
