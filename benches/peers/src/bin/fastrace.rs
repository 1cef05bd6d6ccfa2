//! `fastrace`: local spans under a root span, handed to a reporter that throws them away.

use fastrace::collector::{Config, Reporter, SpanRecord};
use fastrace::prelude::*;
use tinyprof_peers::{VISITS, measure, work};

struct Nowhere;

impl Reporter for Nowhere {
    fn report(&mut self, spans: Vec<SpanRecord>) {
        drop(spans);
    }
}

fn region() {
    let _span = LocalSpan::enter_with_local_parent("region");
    work();
}

fn main() {
    fastrace::set_reporter(Nowhere, Config::default());
    measure(|| {
        let root = Span::root("root", SpanContext::random());
        let _root = root.set_local_parent();
        for _ in 0..VISITS {
            region();
        }
    });
    fastrace::flush();
}
