//! Reads of the clocks.

use std::time::Duration;

/// Returns the nanoseconds of `CLOCK_MONOTONIC`.
#[must_use]
pub fn monotonic_ns() -> u64 {
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

/// Returns the processor's counter.
#[cfg(target_arch = "x86_64")]
#[inline]
#[must_use]
pub fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets user programs execute it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// Returns the counter, read between two fences. The first lets all earlier instructions end, the
/// second keeps later ones from beginning early.
#[cfg(target_arch = "x86_64")]
#[inline]
#[must_use]
pub fn fenced_counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_mm_lfence() };
    let ticks = counter();
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_mm_lfence() };
    ticks
}

/// Returns true if the counter runs at a constant rate in all power states, and the kernel has not
/// found it unstable.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn counter_is_steady() -> bool {
    use core::arch::x86_64::__cpuid;
    const INVARIANT_TSC: u32 = 1 << 8;
    let power = (__cpuid(0x8000_0000).eax >= 0x8000_0007).then(|| __cpuid(0x8000_0007).edx);
    let invariant = power.is_some_and(|edx| edx & INVARIANT_TSC != 0);
    let sources = std::fs::read_to_string(
        "/sys/devices/system/clocksource/clocksource0/available_clocksource",
    );
    invariant && sources.is_ok_and(|list| kernel_trusts_counter(&list))
}

/// Returns true if the counter is in the kernel's list of clock sources. The kernel removes it as
/// soon as it has seen it go wrong.
#[cfg(target_arch = "x86_64")]
fn kernel_trusts_counter(sources: &str) -> bool {
    sources.split_whitespace().any(|name| name == "tsc")
}

/// Returns the processor's counter.
#[cfg(target_arch = "aarch64")]
#[inline]
#[must_use]
pub fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that Linux and macOS make readable for user programs; touches no
    // memory.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// Returns the counter, read between barriers, which keep the read in program order.
#[cfg(target_arch = "aarch64")]
#[inline]
#[must_use]
pub fn fenced_counter() -> u64 {
    // SAFETY: a barrier; touches no memory of ours.
    unsafe { core::arch::asm!("isb", options(nostack)) };
    let ticks = counter();
    // SAFETY: a barrier; touches no memory of ours.
    unsafe { core::arch::asm!("isb", options(nostack)) };
    ticks
}

/// Returns true, because the architecture guarantees a constant rate.
#[cfg(target_arch = "aarch64")]
#[must_use]
pub fn counter_is_steady() -> bool {
    true
}

/// Returns the nanoseconds of the system's clock, for want of a counter.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[must_use]
pub fn counter() -> u64 {
    monotonic_ns()
}

/// Returns the nanoseconds of the system's clock, for want of a counter.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[must_use]
pub fn fenced_counter() -> u64 {
    monotonic_ns()
}

/// Returns false, because there is no counter.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[must_use]
pub fn counter_is_steady() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

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
