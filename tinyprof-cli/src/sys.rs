//! The clocks of this machine, for the rate of a dead program's ticks: the only unsafe code of the command.

use tinyprof_format::segment::TicksNow;

/// This moment on both clocks: the tightest of a few tries, as a try may be interrupted between its two clocks.
pub(crate) fn now() -> TicksNow {
    let tries = (0..8).map(|_| {
        let before = counter();
        let monotonic_ns = monotonic_ns();
        let width = counter().saturating_sub(before);
        (width, TicksNow { ticks: before + width / 2, monotonic_ns })
    });
    let tightest = tries.min_by_key(|(width, _)| *width);
    tightest.map_or(TicksNow { ticks: 0, monotonic_ns: 0 }, |(_, now)| now)
}

fn monotonic_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result. The call cannot fail for this clock and address.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    let (seconds, ns) = (u64::try_from(time.tv_sec).unwrap_or(0), u64::try_from(time.tv_nsec).unwrap_or(0));
    seconds * 1_000_000_000 + ns
}

#[cfg(target_arch = "x86_64")]
fn counter() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets user programs execute it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that Linux and macOS make readable for user programs; touches no memory.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn counter() -> u64 {
    monotonic_ns()
}

/// The user whose rights this process has.
pub(crate) fn user_id() -> u32 {
    // SAFETY: takes nothing and always succeeds.
    unsafe { libc::geteuid() }
}
