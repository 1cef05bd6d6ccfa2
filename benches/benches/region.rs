//! A visit of a region, and an iteration of a loop, beside two bare reads of the clock.
//!
//! Every number is for one pair of entry and exit, or one iteration. `TINYPROF=off` measures the same with
//! recording switched off.

#![expect(clippy::disallowed_types, reason = "a bench times with criterion's clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use tinyprof::{profile, profile_loop, profile_scope};

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

/// The least that any timer can cost.
fn baseline(b: &mut Bencher<'_>) {
    b.iter(|| {
        black_box(timestamp());
        black_box(timestamp());
    });
}

fn scope() {
    profile_scope!("region");
    black_box(());
}

/// `b` inside of a root region and `depth - 1` regions inside of that.
#[profile(name = "root")]
fn inside(depth: u32, b: impl FnOnce()) {
    match depth {
        0 | 1 => b(),
        2 => {
            profile_scope!("two");
            b();
        }
        _ => {
            profile_scope!("two");
            profile_scope!("three");
            profile_scope!("four");
            profile_scope!("five");
            b();
        }
    }
}

/// Each visit is an execution of its own.
fn root(b: &mut Bencher<'_>) {
    b.iter(scope);
}

fn nesting_1(b: &mut Bencher<'_>) {
    inside(1, || b.iter(scope));
}

fn nesting_5(b: &mut Bencher<'_>) {
    inside(5, || b.iter(scope));
}

/// Five regions inside of each other, all entered and left every time.
fn chain_of_5(b: &mut Bencher<'_>) {
    inside(1, || {
        per_visit(b, 5, || {
            profile_scope!("a");
            profile_scope!("b");
            profile_scope!("c");
            profile_scope!("d");
            profile_scope!("e");
            black_box(());
        });
    });
}

macro_rules! ten_times {
    ($macro:ident) => {
        $macro!();
        $macro!();
        $macro!();
        $macro!();
        $macro!();
        $macro!();
        $macro!();
        $macro!();
        $macro!();
        $macro!();
    };
}

macro_rules! one_sibling {
    () => {{
        profile_scope!("sibling");
        black_box(());
    }};
}

macro_rules! ten_siblings {
    () => {
        ten_times!(one_sibling)
    };
}

/// A hundred regions side by side.
fn siblings_100(b: &mut Bencher<'_>) {
    inside(1, || {
        per_visit(b, 100, || {
            ten_times!(ten_siblings);
        });
    });
}

/// One region that is entered from two places in turn: the cache of a site remembers only one.
fn two_parents(b: &mut Bencher<'_>) {
    inside(1, || {
        per_visit(b, 4, || {
            {
                profile_scope!("left");
                scope();
            }
            {
                profile_scope!("right");
                scope();
            }
        });
    });
}

fn loop_total(b: &mut Bencher<'_>) {
    inside(1, || {
        b.iter_custom(|iterations| {
            let start = Instant::now();
            profile_loop!(
                "loop",
                mode = total,
                for i in 0..iterations {
                    black_box(i);
                }
            );
            start.elapsed()
        });
    });
}

fn loop_each(b: &mut Bencher<'_>) {
    inside(1, || {
        b.iter_custom(|iterations| {
            let start = Instant::now();
            profile_loop!(
                "loop",
                mode = each,
                for i in 0..iterations {
                    black_box(i);
                }
            );
            start.elapsed()
        });
    });
}

/// Measures `work`, which makes `visits` visits, and reports the time of one.
fn per_visit(b: &mut Bencher<'_>, visits: u32, work: impl Fn()) {
    b.iter_custom(|times| -> Duration {
        let start = Instant::now();
        for _ in 0..times {
            work();
        }
        start.elapsed() / visits
    });
}

fn region(c: &mut Criterion) {
    // The numbers are criterion's: no profile is to be written.
    assert!(tinyprof::collect::take_over(|| ()));
    let mut group = c.benchmark_group("region");
    group.sample_size(50).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    group.bench_function("baseline", baseline);
    group.bench_function("nesting_1", nesting_1);
    group.bench_function("nesting_5", nesting_5);
    group.bench_function("chain_of_5", chain_of_5);
    group.bench_function("siblings_100", siblings_100);
    group.bench_function("two_parents", two_parents);
    group.bench_function("root", root);
    group.bench_function("loop_total", loop_total);
    group.bench_function("loop_each", loop_each);
    group.bench_function("baseline_again", baseline);
    group.finish();
}

criterion_group!(benches, region);
criterion_main!(benches);
