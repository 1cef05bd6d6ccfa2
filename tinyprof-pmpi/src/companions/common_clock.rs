//! The clock that the ranks of a host share.
//!
//! All ranks convert the ticks of the processor's counter with one factor. Factors that each rank
//! has measured for itself differ by a millionth, which is a microsecond after a second.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use tinyprof::__calls::Recorder;
use tinyprof_messages::time::Call;

/// The ns of a tick, in units of 2^-32 ns.
static FACTOR: AtomicU64 = AtomicU64::new(0);

/// The factor of a clock whose ticks are nanoseconds.
pub(super) const NANOSECONDS: u64 = 1 << 32;

/// A call between two moments of the common clock.
pub(crate) type Span = Call;

/// Returns the factor for so many ns a tick.
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

/// Returns the time in ns.
#[inline]
pub(crate) fn now_ns(recorder: Recorder) -> u64 {
    let units = u128::from(recorder.ticks()) * u128::from(FACTOR.load(Relaxed));
    u64::try_from(units >> 32).unwrap_or(u64::MAX)
}
