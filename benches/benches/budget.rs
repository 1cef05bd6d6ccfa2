//! A visit that is counted but not timed, because of a budget.

use std::hint::black_box;

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use tinyprof::{profile, profile_loop, profile_scope};
use tinyprof_benches::{baseline, per_visit, settings};

fn scope() {
    profile_scope!("region");
    black_box(());
}

#[profile]
fn inside(b: impl FnOnce()) {
    b();
}

fn region(b: &mut Bencher<'_>) {
    inside(|| b.iter(scope));
}

/// Measures two nested regions.
fn chain_of_2(b: &mut Bencher<'_>) {
    inside(|| {
        per_visit(b, 2, || {
            profile_scope!("outer");
            scope();
        });
    });
}

fn iteration(b: &mut Bencher<'_>) {
    inside(|| {
        per_visit(b, 10_000, || {
            profile_loop!(
                "loop",
                mode = each,
                for i in 0..10_000 {
                    black_box(i);
                }
            );
        });
    });
}

/// Measures the bench's own work, without a region.
fn nothing(b: &mut Bencher<'_>) {
    b.iter(|| black_box(()));
}

fn budget(c: &mut Criterion) {
    assert!(tinyprof::collect::take_over(tinyprof::collect::Ending::default));
    tinyprof::Builder::new().budget(0.001).start().expect("the only settings");
    let mut group = c.benchmark_group("budget");
    settings(&mut group);
    group.bench_function("baseline", baseline);
    group.bench_function("nothing", nothing);
    group.bench_function("region", region);
    group.bench_function("chain_of_2", chain_of_2);
    group.bench_function("iteration", iteration);
    group.finish();
    let losses = tinyprof::collect::snapshot().facts.losses;
    assert!(losses.visits_not_timed > 1_000_000, "the budget has held visits back");
}

criterion_group!(benches, budget);
criterion_main!(benches);
