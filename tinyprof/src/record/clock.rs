//! The one clock: ticks while recording, nanoseconds at flush.
//!
//! The time-stamp counter is read without a fence: a fenced read costs 1.9 times as much, and makes
//! a difference only for regions under about 100 ns. To measure such regions, users can ask for the
//! fences. The counter is used only if it runs at a constant rate through all power states and the
//! kernel has not found it unstable; otherwise `clock_gettime(CLOCK_MONOTONIC)` is used.

use std::time::Duration;

use tinyprof_format::ticks::Scale;

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

/// The clock that the user asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockChoice {
    /// The processor's counter where it is steady, otherwise `CLOCK_MONOTONIC`.
    #[default]
    Auto,
    /// `CLOCK_MONOTONIC`, at 2.3 times the cost of the counter.
    Monotonic,
    /// The processor's counter between fences, for regions under 100 ns, at 1.9 times the cost;
    /// `CLOCK_MONOTONIC` where the counter is not steady.
    Fenced,
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

/// Returns the nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result. The call cannot fail for this clock and
    // address.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    let since_boot = Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    );
    u64::try_from(since_boot.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets user programs execute it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Reads the counter between two fences. The first lets all earlier instructions end, the second
/// keeps later ones from beginning early.
#[cfg(target_arch = "x86_64")]
#[inline]
fn fenced_counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_mm_lfence() };
    let ticks = counter();
    // SAFETY: as above.
    unsafe { core::arch::x86_64::_mm_lfence() };
    ticks
}

#[cfg(target_arch = "x86_64")]
fn counter_is_steady() -> bool {
    use core::arch::x86_64::__cpuid;
    const INVARIANT_TSC: u32 = 1 << 8;
    let power = (__cpuid(0x8000_0000).eax >= 0x8000_0007).then(|| __cpuid(0x8000_0007).edx);
    let invariant = power.is_some_and(|edx| edx & INVARIANT_TSC != 0);
    let sources = std::fs::read_to_string(
        "/sys/devices/system/clocksource/clocksource0/available_clocksource",
    );
    invariant && sources.is_ok_and(|list| kernel_trusts_counter(&list))
}

/// Returns whether the counter is in the kernel's list of clock sources. The kernel removes it as
/// soon as it has seen it go wrong.
#[cfg(target_arch = "x86_64")]
fn kernel_trusts_counter(sources: &str) -> bool {
    sources.split_whitespace().any(|name| name == "tsc")
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that Linux and macOS make readable for user programs; touches no
    // memory.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// Reads the counter between barriers, which keep the read in program order.
#[cfg(target_arch = "aarch64")]
#[inline]
fn fenced_counter() -> u64 {
    // SAFETY: a barrier; touches no memory of ours.
    unsafe { core::arch::asm!("isb", options(nostack)) };
    let ticks = counter();
    // SAFETY: as above.
    unsafe { core::arch::asm!("isb", options(nostack)) };
    ticks
}

/// Returns true, because the architecture guarantees a constant rate.
#[cfg(target_arch = "aarch64")]
fn counter_is_steady() -> bool {
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter() -> u64 {
    monotonic_ns()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn fenced_counter() -> u64 {
    monotonic_ns()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter_is_steady() -> bool {
    false
}

/// One moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    ticks: u64,
    monotonic_ns: u64,
}

impl Moment {
    /// The beginning of both clocks.
    pub(crate) const ZERO: Self = Self { ticks: 0, monotonic_ns: 0 };

    /// Returns the moment in ticks, and in nanoseconds of `CLOCK_MONOTONIC`.
    pub(crate) const fn on_both_clocks(self) -> (u64, u64) {
        (self.ticks, self.monotonic_ns)
    }

    /// Returns the rate of `clock` from this moment until now; both ends are known to about 20 ns.
    pub(crate) fn rate_until_now(self, clock: Clock) -> Scale {
        let now = Self::now(clock);
        if clock.is_counter() {
            Scale::of_interval(
                now.ticks.saturating_sub(self.ticks),
                now.monotonic_ns.saturating_sub(self.monotonic_ns),
            )
        } else {
            Scale::NANOSECONDS
        }
    }

    /// Returns the current moment: the tightest of a few attempts, because one may be interrupted
    /// between its two clocks.
    pub(crate) fn now(clock: Clock) -> Self {
        let tries = (0..8).map(|_| {
            let before = clock.ticks();
            let monotonic_ns = monotonic_ns();
            let after = clock.ticks();
            let width = after.saturating_sub(before);
            (width, Self { ticks: before + width / 2, monotonic_ns })
        });
        let tightest = tries.min_by_key(|(width, _)| *width);
        tightest.map_or(Self::ZERO, |(_, moment)| moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHOICES: [ClockChoice; 3] =
        [ClockChoice::Auto, ClockChoice::Monotonic, ClockChoice::Fenced];

    #[test]
    fn every_clock_runs_forward_and_they_agree() {
        for clock in CHOICES.map(Clock::detect) {
            let start = Moment::now(clock);
            let (ticks, ns) = (clock.ticks(), monotonic_ns());
            let mut last = ticks;
            while monotonic_ns() < ns + 5_000_000 {
                let now = clock.ticks();
                assert!(now >= last, "{clock:?} went from {last} to {now}");
                last = now;
            }
            let (ticks, ns) = (clock.ticks() - ticks, monotonic_ns() - ns);
            let measured = start.rate_until_now(clock).ns(ticks);
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

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_kernel_decides_whether_the_counter_is_steady() {
        for (sources, trusted) in [
            ("tsc kvm-clock acpi_pm \n", true),
            ("kvm-clock tsc", true),
            ("hpet acpi_pm \n", false),
            ("", false),
        ] {
            assert_eq!(kernel_trusts_counter(sources), trusted, "{sources}");
        }
        assert!(!kernel_trusts_counter("tsc-early hpet"), "another clock of a similar name");
    }
}
