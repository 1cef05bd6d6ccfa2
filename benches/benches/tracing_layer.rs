//! A span through `tinyprof::tracing::layer`, beside the registry that all layers need, and beside
//! the subscriber, which needs none.
//!
//! Each is the default of the thread while it is measured. Compared with a default of the whole
//! program, this costs all of them one more read of a thread-local.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{Bencher, BenchmarkGroup, Criterion, criterion_group, criterion_main};
use tinyprof::profile_scope;
use tinyprof::tracing::{Subscriber, layer};
use tinyprof_benches::{baseline, settings};
use tracing_core::{Dispatch, dispatcher};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry;

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

fn both(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, dispatch: &Dispatch) {
    dispatcher::with_default(dispatch, || {
        group.bench_function(format!("{name}/entered"), entered);
        group.bench_function(format!("{name}/made_and_entered"), made_and_entered);
    });
}

fn tracing_layer(c: &mut Criterion) {
    assert!(tinyprof::collect::take_over(tinyprof::collect::Ending::default));
    let mut group = c.benchmark_group("tracing_layer");
    settings(&mut group);
    group.bench_function("baseline", baseline);
    both(&mut group, "subscriber", &Dispatch::new(Subscriber));
    both(&mut group, "registry", &Dispatch::new(registry()));
    both(&mut group, "layer", &Dispatch::new(registry().with(layer())));
    // A filter of `tracing-subscriber` around the layer.
    let filtered = layer().with_filter(LevelFilter::INFO);
    both(&mut group, "with_filter", &Dispatch::new(registry().with(filtered)));
    // Spans that the layer leaves out, without and with another layer that wants them.
    let warnings = layer().with_max_level(LevelFilter::WARN);
    both(&mut group, "left_out", &Dispatch::new(registry().with(warnings)));
    let other = tracing_subscriber::layer::Identity::new();
    let warnings = layer().with_max_level(LevelFilter::WARN);
    both(&mut group, "left_out_by_us", &Dispatch::new(registry().with(other).with(warnings)));
    group.finish();
}

criterion_group!(benches, tracing_layer);
criterion_main!(benches);
