//! How a profiler is measured: the same work for each, in a process of its own.
//!
//! A batch is one root region with [`VISITS`] visits of one region inside of it. A round measures
//! batches and bare pairs of timestamp reads in turn, so that whatever disturbs the machine
//! disturbs both.

use std::hint::black_box;
use std::time::Instant;

/// Visits inside of one root region.
pub const VISITS: u32 = 1_000;
/// Root regions of one sample.
const ROOTS: u32 = 20;
/// Samples of a round. An odd number has a middle.
const SAMPLES: usize = 31;

/// Measures a round, and prints the median nanoseconds of a bare pair and of a visit.
///
/// `batch` opens a root region and makes [`VISITS`] visits in it; what a profiler asks for once in
/// a while, say once a frame, belongs in it.
pub fn measure(mut batch: impl FnMut()) {
    let mut samples = [(0.0, 0.0); SAMPLES];
    for _ in 0..3 {
        sample(&mut batch);
    }
    for pair in &mut samples {
        *pair = (sample(&mut bare_pairs), sample(&mut batch));
    }
    println!("{} {}", median(samples.map(|s| s.0)), median(samples.map(|s| s.1)));
}

/// The least that any timer can cost: two unfenced reads of the processor's counter.
pub fn bare_pairs() {
    for _ in 0..VISITS {
        black_box(timestamp());
        black_box(timestamp());
    }
}

/// Does the work that every region has inside.
#[inline(always)]
pub fn work() {
    black_box(());
}

/// The nanoseconds of one visit.
fn sample(batch: &mut impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..ROOTS {
        batch();
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(ROOTS * VISITS)
}

/// The middle value.
pub fn median<const N: usize>(mut values: [f64; N]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[N / 2]
}

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
