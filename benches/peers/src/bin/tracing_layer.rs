//! `tracing` with the least layer that measures time: an `Instant` in each span, a sum for each
//! span's name.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tinyprof_peers::{VISITS, measure, work};
use tracing::Subscriber;
use tracing::span::{Attributes, Id};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;

#[derive(Default)]
struct Timing {
    totals: Mutex<HashMap<&'static str, Duration>>,
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Timing {
    fn on_new_span(&self, _: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Instant::now());
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let elapsed = span.extensions().get::<Instant>().map(Instant::elapsed);
        *self.totals.lock().unwrap().entry(span.name()).or_default() += elapsed.unwrap_or_default();
    }
}

fn region() {
    let _span = tracing::info_span!("region").entered();
    work();
}

fn main() {
    tracing_subscriber::registry().with(Timing::default()).init();
    measure(|| {
        let _span = tracing::info_span!("root").entered();
        for _ in 0..VISITS {
            region();
        }
    });
}
