//! A span of a program that uses `tracing`, through `tinyprof::tracing`.

use std::hint::black_box;

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use tinyprof::profile_scope;
use tinyprof_benches::{baseline, settings};
use tracing_core::Dispatch;

/// Measures a span that is made once and entered every time.
fn entered(b: &mut Bencher<'_>) {
    profile_scope!("root");
    let span = tracing::info_span!("span");
    b.iter(|| {
        let _inside = span.enter();
        black_box(());
    });
}

/// Measures a span that is made every time, as `#[tracing::instrument]` does.
fn made_and_entered(b: &mut Bencher<'_>) {
    profile_scope!("root");
    b.iter(|| {
        let _inside = tracing::info_span!("span").entered();
        black_box(());
    });
}

/// Measures a region of TinyProf's own.
fn region(b: &mut Bencher<'_>) {
    profile_scope!("root");
    b.iter(|| {
        profile_scope!("region");
        black_box(());
    });
}

fn tracing(c: &mut Criterion) {
    assert!(tinyprof::collect::take_over(tinyprof::collect::Ending::default));
    let subscriber = Dispatch::new(tinyprof::tracing::Subscriber);
    assert!(tracing_core::dispatcher::set_global_default(subscriber).is_ok());
    let mut group = c.benchmark_group("tracing");
    settings(&mut group);
    group.bench_function("baseline", baseline);
    group.bench_function("region", region);
    group.bench_function("entered", entered);
    group.bench_function("made_and_entered", made_and_entered);
    group.finish();
}

criterion_group!(benches, tracing);
criterion_main!(benches);
