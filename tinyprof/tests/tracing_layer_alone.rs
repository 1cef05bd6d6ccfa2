//! A layer must not affect other layers: it enables no span and no event for them.
//!
//! This runs in a separate process, since `tracing` asks all subscribers that exist at the same
//! time whether any takes an event. If they differ, `event_enabled!` may be true for those that do
//! not.

use std::io;

use tinyprof::tracing::layer;
use tracing::subscriber::with_default;
use tracing::{Level, Subscriber, debug_span, span_enabled};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, fmt, registry};

/// Returns a layer for warnings and errors.
fn logs<S: Subscriber + for<'span> LookupSpan<'span>>() -> impl Layer<S> {
    fmt::layer().with_writer(io::sink).with_filter(LevelFilter::WARN)
}

#[test]
fn nothing_is_switched_on_for_others() {
    let check = |recorded: bool| {
        assert_eq!(span_enabled!(Level::DEBUG), recorded);
        assert!(!tracing::event_enabled!(Level::INFO), "an event that nobody takes");
        assert!(tracing::event_enabled!(Level::WARN));
        assert_eq!(!debug_span!("switched").is_disabled(), recorded);
    };
    // In either order, and with the layers as a tree.
    with_default(registry().with(logs()).with(layer()), || check(true));
    with_default(registry().with(layer()).with(logs()), || check(true));
    with_default(registry().with(logs().and_then(layer())), || check(true));
    with_default(registry().with(layer().with_max_level(Level::INFO)).with(logs()), || {
        check(false);
    });
    with_default(registry().with(layer().with_target_prefixes(["else"])).with(logs()), || {
        check(false);
    });
    with_default(registry().with(logs()), || check(false));
}
