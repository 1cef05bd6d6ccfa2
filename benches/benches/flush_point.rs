//! A flush point at which no interim profile is due, without an interval and with one, beside two
//! bare reads of the clock.
//!
//! Every number is for one execution, or one iteration.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use tinyprof::{profile, profile_loop, profile_scope};
use tinyprof_benches::{baseline, iterations, settings};

#[profile(name = "around")]
fn inside(b: impl FnOnce()) {
    b();
}

fn root(b: &mut Bencher<'_>) {
    b.iter(|| {
        profile_scope!("root");
        black_box(());
    });
}

fn unmarked(b: &mut Bencher<'_>) {
    inside(|| {
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

fn marked(b: &mut Bencher<'_>) {
    inside(|| {
        iterations(b, |count| {
            profile_loop!(
                "loop",
                mode = total,
                flush_point,
                for i in 0..count {
                    black_box(i);
                }
            );
        });
    });
}

fn interim_profile(c: &mut Criterion) {
    let mut group = c.benchmark_group("flush_point");
    settings(&mut group);
    group.bench_function("baseline", baseline);
    group.bench_function("root", root);
    group.bench_function("unmarked", unmarked);
    group.bench_function("marked", marked);
    let interval = Duration::from_secs(1_000_000);
    tinyprof::Builder::new().interim_interval(interval).start().expect("the only settings");
    group.bench_function("root_interval", root);
    group.bench_function("marked_interval", marked);
    group.finish();
    // Criterion reports the numbers, so no profile is written.
    assert!(tinyprof::collect::take_over(tinyprof::collect::Ending::default));
}

criterion_group!(benches, interim_profile);
criterion_main!(benches);
