//! `tracing` with the registry of `tracing-subscriber` alone: spans have parents and data, but no
//! times.

use tinyprof_peers::{VISITS, measure, work};
use tracing_subscriber::util::SubscriberInitExt;

fn region() {
    let _span = tracing::info_span!("region").entered();
    work();
}

fn main() {
    tracing_subscriber::registry().init();
    measure(|| {
        let _span = tracing::info_span!("root").entered();
        for _ in 0..VISITS {
            region();
        }
    });
}
