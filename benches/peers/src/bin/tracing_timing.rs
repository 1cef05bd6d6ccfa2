//! `tracing` with the subscriber of `tracing-timing`: a histogram for each kind of event in each
//! span, where the end of a span is an event.

use tinyprof_peers::{VISITS, measure, work};
use tracing_timing::{Builder, Histogram};

fn region() {
    let _span = tracing::info_span!("region").entered();
    work();
}

fn main() {
    let subscriber = Builder::default()
        .no_span_recursion()
        .span_close_events()
        .build(|| Histogram::new_with_max(1_000_000_000, 2).unwrap());
    tracing::subscriber::set_global_default(subscriber).unwrap();
    measure(|| {
        let _span = tracing::info_span!("root").entered();
        for _ in 0..VISITS {
            region();
        }
    });
}
