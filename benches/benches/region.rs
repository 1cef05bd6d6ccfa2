//! A visit of a region, and an iteration of a loop, beside two bare reads of the clock.
//!
//! Every number is for one pair of entry and exit, or one iteration. `TINYPROF=off` measures the
//! same benches with recording switched off.

#![expect(clippy::disallowed_types, reason = "a bench times with criterion's clock")]

use std::hint::black_box;
use std::sync::{Barrier, Once};
use std::time::{Duration, Instant};

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use tinyprof::{profile, profile_loop, profile_scope};
use tinyprof_benches::{baseline, iterations, per_visit, settings, smallest_record};

fn scope() {
    profile_scope!("region");
    black_box(());
}

/// Runs `b` inside a root region and `depth - 1` regions inside that.
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

/// Measures a root region: each visit is an execution of its own.
fn root(b: &mut Bencher<'_>) {
    b.iter(scope);
}

fn nesting_1(b: &mut Bencher<'_>) {
    inside(1, || b.iter(scope));
}

fn nesting_5(b: &mut Bencher<'_>) {
    inside(5, || b.iter(scope));
}

/// Measures five nested regions, all entered and left every time.
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

/// Measures a hundred sibling regions.
fn siblings_100(b: &mut Bencher<'_>) {
    inside(1, || {
        per_visit(b, 100, || {
            ten_times!(ten_siblings);
        });
    });
}

/// A thousand regions in a function of their own, numbered so that the functions differ.
macro_rules! a_thousand_siblings {
    ($($name:ident)*) => {$(
        fn $name() {
            ten_times!(a_hundred_siblings);
        }
    )*};
}

macro_rules! a_hundred_siblings {
    () => {
        ten_times!(ten_siblings)
    };
}

a_thousand_siblings!(thousand_0 thousand_1 thousand_2 thousand_3 thousand_4);
a_thousand_siblings!(thousand_5 thousand_6 thousand_7 thousand_8 thousand_9);

/// Measures ten thousand sibling regions: records, sites and cache take some 3 MB together.
fn siblings_10000(b: &mut Bencher<'_>) {
    inside(1, || {
        per_visit(b, 10_000, || {
            thousand_0();
            thousand_1();
            thousand_2();
            thousand_3();
            thousand_4();
            thousand_5();
            thousand_6();
            thousand_7();
            thousand_8();
            thousand_9();
        });
    });
}

/// Measures two threads that visit the same region at the same time; the time is that of the
/// slower.
fn two_threads(b: &mut Bencher<'_>) {
    b.iter_custom(|times| {
        let together = Barrier::new(2);
        let one = || {
            let mut taken = Duration::ZERO;
            inside(1, || {
                together.wait();
                let start = Instant::now();
                (0..times).for_each(|_| scope());
                taken = start.elapsed();
            });
            taken
        };
        std::thread::scope(|threads| {
            let other = threads.spawn(one);
            one().max(other.join().unwrap_or(Duration::MAX))
        })
    });
}

/// Measures a region that is entered from two places in turn: the cache of a site remembers only
/// one.
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

/// Measures the loop of the other benches without a region.
fn loop_bare(b: &mut Bencher<'_>) {
    inside(1, || {
        iterations(b, |count| {
            for i in 0..count {
                black_box(i);
            }
        });
    });
}

/// Measures the function of the other benches without a region.
fn nothing(b: &mut Bencher<'_>) {
    b.iter(|| black_box(()));
}

fn loop_total(b: &mut Bencher<'_>) {
    inside(1, || {
        iterations(b, |count| {
            profile_loop!(
                "loop",
                mode = total,
                for i in 0..count {
                    black_box(i);
                }
            );
        });
    });
}

fn loop_each(b: &mut Bencher<'_>) {
    inside(1, || {
        iterations(b, |count| {
            profile_loop!(
                "loop",
                mode = each,
                for i in 0..count {
                    black_box(i);
                }
            );
        });
    });
}

/// Measures an iteration after 10^8 others: each element of the series then stands for 4,096 of
/// them.
fn loop_each_late(b: &mut Bencher<'_>) {
    const BEFORE: u64 = 100_000_000;
    // Criterion does not know of the preceding iterations and would be content with one.
    const MEASURED: u32 = 10_000_000;
    inside(1, || {
        b.iter_custom(|iterations| {
            let mut start = Instant::now();
            profile_loop!(
                "late",
                mode = each,
                for i in 0..BEFORE + u64::from(MEASURED) {
                    if i == BEFORE {
                        start = Instant::now();
                    }
                    black_box(i);
                }
            );
            start.elapsed().mul_f64(as_f64(iterations) / f64::from(MEASURED))
        });
    });
}

#[expect(clippy::cast_precision_loss, reason = "criterion does not ask for 2^53 iterations")]
fn as_f64(iterations: u64) -> f64 {
    iterations as f64
}

/// Measures a region after 10^8 visits.
fn nesting_1_late(b: &mut Bencher<'_>) {
    static BEFORE: Once = Once::new();
    inside(1, || {
        BEFORE.call_once(|| (0..100_000_000).for_each(|_| scope()));
        b.iter(scope);
    });
}

fn region(c: &mut Criterion) {
    // Criterion reports the numbers, so no profile is written.
    assert!(tinyprof::collect::take_over(tinyprof::collect::Ending::default));
    let mut group = c.benchmark_group("region");
    settings(&mut group);
    group.bench_function("baseline", baseline);
    group.bench_function("smallest_record", smallest_record);
    group.bench_function("nothing", nothing);
    group.bench_function("loop_bare", loop_bare);
    group.bench_function("nesting_1", nesting_1);
    group.bench_function("nesting_5", nesting_5);
    group.bench_function("chain_of_5", chain_of_5);
    group.bench_function("two_threads", two_threads);
    group.bench_function("siblings_100", siblings_100);
    group.bench_function("siblings_10000", siblings_10000);
    group.bench_function("nesting_1_late", nesting_1_late);
    group.bench_function("two_parents", two_parents);
    group.bench_function("root", root);
    group.bench_function("loop_total", loop_total);
    group.bench_function("loop_each", loop_each);
    group.bench_function("baseline_again", baseline);
    // Each sample begins with 10^8 iterations.
    group.sample_size(10);
    group.bench_function("loop_each_late", loop_each_late);
    group.finish();
}

criterion_group!(benches, region);
criterion_main!(benches);
