//! The clocks whose ticks are in segments: the processor's counter, and `CLOCK_MONOTONIC`.
//!
//! A reader of a running program reads the same clocks as the program. Without the feature `clock`
//! there are only moments that somebody else has read.

#[cfg(feature = "clock")]
pub use read::{counter, counter_is_steady, fenced_counter, monotonic_ns};

/// One moment on both clocks. Two of them give the rate of the ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The ticks of the clock that records.
    pub ticks: u64,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
}

impl Moment {
    /// The beginning of both clocks.
    pub const ZERO: Self = Self { ticks: 0, monotonic_ns: 0 };

    /// Returns the current moment on a clock that `ticks` reads: the tightest of a few attempts,
    /// because one may be interrupted between its two clocks.
    #[cfg(feature = "clock")]
    pub fn now_of(ticks: impl Fn() -> u64) -> Self {
        let tries = (0..8).map(|_| {
            let before = ticks();
            let monotonic_ns = monotonic_ns();
            let width = ticks().saturating_sub(before);
            (width, Self { ticks: before + width / 2, monotonic_ns })
        });
        let tightest = tries.min_by_key(|(width, _)| *width);
        tightest.map_or(Self::ZERO, |(_, moment)| moment)
    }
}

#[cfg(feature = "clock")]
mod read;
