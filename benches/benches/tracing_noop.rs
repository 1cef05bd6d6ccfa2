//! The cost of `tracing` itself: spans for a subscriber that ignores them.

use std::hint::black_box;

use criterion::{Bencher, Criterion, criterion_group, criterion_main};
use tinyprof_benches::{baseline, settings};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Dispatch, Event, Metadata, Subscriber};

struct Noop;

impl Subscriber for Noop {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn entered(b: &mut Bencher<'_>) {
    let span = tracing::info_span!("span");
    b.iter(|| {
        let _inside = span.enter();
        black_box(());
    });
}

fn made_and_entered(b: &mut Bencher<'_>) {
    b.iter(|| {
        let _inside = tracing::info_span!("span").entered();
        black_box(());
    });
}

fn tracing_noop(c: &mut Criterion) {
    assert!(tracing_core::dispatcher::set_global_default(Dispatch::new(Noop)).is_ok());
    let mut group = c.benchmark_group("tracing_noop");
    settings(&mut group);
    group.bench_function("baseline", baseline);
    group.bench_function("entered", entered);
    group.bench_function("made_and_entered", made_and_entered);
    group.finish();
}

criterion_group!(benches, tracing_noop);
criterion_main!(benches);
