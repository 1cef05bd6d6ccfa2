//! The one clock: ticks while recording, nanoseconds at flush.
//!
//! The time-stamp counter is read without a fence: a fenced read costs 1.9 times as much, and makes
//! a difference only for regions under about 100 ns. To measure such regions, users can ask for the
//! fences. The counter is used only if it runs at a constant rate through all power states and the
//! kernel has not found it unstable; otherwise `clock_gettime(CLOCK_MONOTONIC)` is used.

use tinyprof_format::ticks::Scale;
use tinyprof_segment::clock::{Moment, counter, counter_is_steady, fenced_counter, monotonic_ns};
use tinyprof_settings::ClockChoice;

/// A source of ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The processor's counter: TSC on x86-64, CNTVCT on aarch64.
    Counter,
    /// The processor's counter, read after all earlier instructions have ended and before any later
    /// one begins.
    Fenced,
    /// `clock_gettime(CLOCK_MONOTONIC)`; a tick is a nanosecond.
    Monotonic,
    /// A time set by the test on the current thread: [`set_manual`].
    #[cfg(test)]
    Manual,
}

#[cfg(test)]
thread_local! {
    static MANUAL: std::cell::Cell<u64> = const { std::cell::Cell::new(1) };
}

/// Sets [`Clock::Manual`] for the current thread.
#[cfg(test)]
pub(super) fn set_manual(ticks: u64) {
    MANUAL.set(ticks);
}

impl Clock {
    /// Returns the best clock of this machine that fits `choice`.
    pub(crate) fn detect(choice: ClockChoice) -> Self {
        // Miri has no counter.
        Self::of_choice(choice, || !cfg!(miri) && counter_is_steady())
    }

    fn of_choice(choice: ClockChoice, counter_is_steady: impl FnOnce() -> bool) -> Self {
        match choice {
            ClockChoice::Monotonic => Self::Monotonic,
            _ if !counter_is_steady() => Self::Monotonic,
            ClockChoice::Auto => Self::Counter,
            ClockChoice::Fenced => Self::Fenced,
        }
    }

    /// Returns whether ticks are those of the processor's counter, whose rate must be measured.
    pub(crate) const fn is_counter(self) -> bool {
        matches!(self, Self::Counter | Self::Fenced)
    }

    /// Returns the clock's name in the profile.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Counter if cfg!(target_arch = "aarch64") => "cntvct",
            Self::Counter => "tsc",
            Self::Fenced if cfg!(target_arch = "aarch64") => "cntvct_fenced",
            Self::Fenced => "tsc_fenced",
            Self::Monotonic => "clock_monotonic",
            #[cfg(test)]
            Self::Manual => "manual",
        }
    }

    /// Returns the ticks since some time before the program began; never 0.
    #[inline]
    pub(crate) fn ticks(&self) -> u64 {
        if matches!(self, Self::Counter) { counter() | 1 } else { self.slow_ticks() }
    }

    /// Returns the ticks of any clock. Out of line, so that the default clock costs one comparison,
    /// however many clocks there are. By reference, because a value would have to be loaded before
    /// the comparison, one more instruction in every case.
    #[cold]
    #[inline(never)]
    fn slow_ticks(&self) -> u64 {
        match self {
            Self::Counter => counter() | 1,
            Self::Fenced => fenced_counter() | 1,
            Self::Monotonic => monotonic_ns() | 1,
            #[cfg(test)]
            Self::Manual => MANUAL.get(),
        }
    }
}

/// Returns the ticks of [`Clock::Counter`], for callers that know it is the clock; never 0.
#[inline(always)]
pub(super) fn counter_ticks() -> u64 {
    counter() | 1
}

/// Returns the rate of `clock` from a moment until now; both ends are known to about 20 ns.
pub(crate) fn rate_since(moment: Moment, clock: Clock) -> Scale {
    if clock.is_counter() { Scale::between(moment, now(clock)) } else { Scale::NANOSECONDS }
}

/// Returns the current moment.
pub(crate) fn now(clock: Clock) -> Moment {
    Moment::now_of(|| clock.ticks())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHOICES: [ClockChoice; 3] =
        [ClockChoice::Auto, ClockChoice::Monotonic, ClockChoice::Fenced];

    #[test]
    fn every_clock_runs_forward_and_they_agree() {
        for clock in CHOICES.map(Clock::detect) {
            let start = now(clock);
            let (ticks, ns) = (clock.ticks(), monotonic_ns());
            let mut last = ticks;
            while monotonic_ns() < ns + 5_000_000 {
                let next = clock.ticks();
                assert!(next >= last, "{clock:?} went from {last} to {next}");
                last = next;
            }
            let (ticks, ns) = (clock.ticks() - ticks, monotonic_ns() - ns);
            let measured = rate_since(start, clock).ns(ticks);
            // The thread may lose the processor between two reads, so only the order of magnitude
            // is certain.
            assert!(
                measured >= ns / 2 && measured < ns * 2 + 50_000_000,
                "{measured} ns against {ns} ns"
            );
        }
    }

    #[test]
    fn a_counter_that_is_not_steady_is_never_used() {
        let clocks = |steady: bool| CHOICES.map(|choice| Clock::of_choice(choice, || steady));
        assert_eq!(clocks(true), [Clock::Counter, Clock::Monotonic, Clock::Fenced]);
        assert_eq!(clocks(false), [Clock::Monotonic; 3]);
    }
}
