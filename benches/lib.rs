//! Code shared by the benches.

#![expect(clippy::disallowed_types, reason = "a bench times with criterion's clock")]

use std::hint::black_box;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{Bencher, BenchmarkGroup};

#[cfg(target_arch = "x86_64")]
fn timestamp() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

#[cfg(target_arch = "aarch64")]
fn timestamp() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that user programs may read; touches no memory.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// Measures the lowest cost of any timer: two reads of the clock.
pub fn baseline(b: &mut Bencher<'_>) {
    b.iter(|| {
        black_box(timestamp());
        black_box(timestamp());
    });
}

/// Measures the smallest record with the content of ours.
///
/// Two reads of the clock, then count, sum, minimum, maximum and squares under a sequence counter,
/// as relaxed atomics. No callpath is looked up, and no setting is checked.
pub fn smallest_record(b: &mut Bencher<'_>) {
    let record: [AtomicU64; 7] = [0, 0, 0, u64::MAX, 0, 0, 0].map(AtomicU64::new);
    let record = black_box(&record);
    let get = |word: usize| record[word].load(Relaxed);
    let set = |word: usize, value| record[word].store(value, Relaxed);
    b.iter(|| {
        let start = timestamp();
        black_box(());
        let ticks = timestamp().wrapping_sub(start);
        set(0, get(0).wrapping_add(1));
        fence(Release);
        set(1, get(1).wrapping_add(1));
        set(2, get(2).wrapping_add(ticks));
        if ticks < get(3) {
            set(3, ticks);
        }
        if ticks > get(4) {
            set(4, ticks);
        }
        let (squares, carry) = get(5).overflowing_add(ticks.wrapping_mul(ticks));
        set(5, squares);
        if carry {
            set(6, get(6).wrapping_add(1));
        }
        record[0].store(get(0).wrapping_add(1), Release);
    });
}

/// Measures `work`, which makes `visits` visits, and reports the time of one.
pub fn per_visit(b: &mut Bencher<'_>, visits: u32, work: impl Fn()) {
    b.iter_custom(|times| -> Duration {
        let start = Instant::now();
        for _ in 0..times {
            work();
        }
        start.elapsed() / visits
    });
}

/// Measures a loop that makes the given number of iterations.
pub fn iterations(b: &mut Bencher<'_>, mut make: impl FnMut(u64)) {
    b.iter_custom(|count| {
        let start = Instant::now();
        make(count);
        start.elapsed()
    });
}

/// Sets the duration of each bench of a group.
pub fn settings(group: &mut BenchmarkGroup<'_, WallTime>) {
    group
        .sample_size(50)
        .measurement_time(Duration::from_secs(2))
        .warm_up_time(Duration::from_millis(500));
}
