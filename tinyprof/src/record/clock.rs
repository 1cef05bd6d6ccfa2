//! The one clock: ticks now, nanoseconds at flush.
//!
//! The time-stamp counter is read without a fence: a fenced read costs 1.9 times as much, and only regions
//! under about 100 ns would notice. It is used only where it runs at a constant rate through all power states
//! and the kernel has not found it unstable; otherwise `clock_gettime(CLOCK_MONOTONIC)`.

use std::time::Duration;

use tinyprof_format::ticks::Scale;

/// Where ticks come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The processor's counter: TSC on x86-64, CNTVCT on aarch64.
    Counter,
    /// `clock_gettime(CLOCK_MONOTONIC)`; a tick is a nanosecond.
    Monotonic,
    /// The test of the current thread says what time it is: [`set_manual`].
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
    /// The best clock of this machine.
    pub(crate) fn detect() -> Self {
        if counter_is_steady() { Self::Counter } else { Self::Monotonic }
    }

    /// The name that the profile carries.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Counter if cfg!(target_arch = "aarch64") => "cntvct",
            Self::Counter => "tsc",
            Self::Monotonic => "clock_monotonic",
            #[cfg(test)]
            Self::Manual => "manual",
        }
    }

    /// Ticks since some moment before the program began; never 0.
    #[inline]
    pub(crate) fn ticks(self) -> u64 {
        match self {
            Self::Counter => counter() | 1,
            Self::Monotonic => monotonic_ns() | 1,
            #[cfg(test)]
            Self::Manual => MANUAL.get(),
        }
    }
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result. The call cannot fail for this clock and address.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    let since_boot =
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0));
    u64::try_from(since_boot.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets user programs execute it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "x86_64")]
fn counter_is_steady() -> bool {
    use core::arch::x86_64::__cpuid;
    const INVARIANT_TSC: u32 = 1 << 8;
    let power = (__cpuid(0x8000_0000).eax >= 0x8000_0007).then(|| __cpuid(0x8000_0007).edx);
    let invariant = power.is_some_and(|edx| edx & INVARIANT_TSC != 0);
    // The kernel strikes the counter from this list as soon as it has seen it go wrong.
    let sources =
        std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    invariant && sources.is_ok_and(|list| list.split_whitespace().any(|name| name == "tsc"))
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that Linux and macOS make readable for user programs; touches no memory.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// The architecture promises a constant rate.
#[cfg(target_arch = "aarch64")]
fn counter_is_steady() -> bool {
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter() -> u64 {
    monotonic_ns()
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter_is_steady() -> bool {
    false
}

/// The same moment on both clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    ticks: u64,
    monotonic_ns: u64,
}

impl Moment {
    /// The moment in ticks, and in nanoseconds of `CLOCK_MONOTONIC`.
    pub(crate) const fn on_both_clocks(self) -> (u64, u64) {
        (self.ticks, self.monotonic_ns)
    }

    /// The rate of `clock` from this moment until now: both ends are known to some 20 ns.
    pub(crate) fn rate_until_now(self, clock: Clock) -> Scale {
        let now = Self::now(clock);
        match clock {
            Clock::Counter => Scale::of_interval(
                now.ticks.saturating_sub(self.ticks),
                now.monotonic_ns.saturating_sub(self.monotonic_ns),
            ),
            _ => Scale::NANOSECONDS,
        }
    }

    /// Now: the tightest of a few tries, as a try may be interrupted between its two clocks.
    pub(crate) fn now(clock: Clock) -> Self {
        let tries = (0..8).map(|_| {
            let before = clock.ticks();
            let monotonic_ns = monotonic_ns();
            let after = clock.ticks();
            let width = after.saturating_sub(before);
            (width, Self { ticks: before + width / 2, monotonic_ns })
        });
        let tightest = tries.min_by_key(|(width, _)| *width);
        tightest.map_or(Self { ticks: 0, monotonic_ns: 0 }, |(_, moment)| moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_run_forward_and_agree() {
        for clock in [Clock::detect(), Clock::Monotonic] {
            let start = Moment::now(clock);
            let (ticks, ns) = (clock.ticks(), monotonic_ns());
            while monotonic_ns() < ns + 5_000_000 {}
            let (ticks, ns) = (clock.ticks() - ticks, monotonic_ns() - ns);
            let measured = start.rate_until_now(clock).ns(ticks);
            // The thread may lose the processor between two reads, so only the order of size is sure.
            assert!(measured >= ns / 2 && measured < ns * 2 + 50_000_000, "{measured} ns against {ns} ns");
        }
    }
}
