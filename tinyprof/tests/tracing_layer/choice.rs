//! The choice of spans that are recorded.

use tracing::subscriber::with_default;
use tracing::{Level, debug, debug_span, info, info_span, trace_span};
use tracing_subscriber::filter::{LevelFilter, Targets, filter_fn};
use tracing_subscriber::prelude::*;
use tracing_subscriber::{Layer, fmt, registry};

use super::{Log, check, write_no_profile};
use tinyprof::tracing::layer;

#[test]
fn a_program_has_logs_and_a_profile() {
    write_no_profile();
    let log = Log::default();
    let logs = fmt::layer().with_writer(log.clone()).without_time().with_ansi(false);
    with_default(registry().with(logs.with_filter(LevelFilter::INFO)).with(layer()), || {
        for cell in 0..2 {
            let _both = info_span!("both", cell).entered();
            debug_span!("profile_only").in_scope(|| info!("solved"));
            debug!("not logged");
        }
    });
    check("both", &[("both", 2), ("both<profile_only", 2)]);
    // The logs show the spans that they take, and no others.
    let expected = ["both{cell=0}: ", "both{cell=1}: "]
        .map(|spans| format!(" INFO {spans}tracing_layer::choice: solved\n"));
    assert_eq!(log.text(), expected.concat());
}

#[test]
fn spans_are_left_out_by_level() {
    write_no_profile();
    // The log layer takes all of them, so that they exist.
    let logs = fmt::layer().with_writer(Log::default());
    with_default(registry().with(layer().with_max_level(Level::DEBUG)).with(logs), || {
        let _root = info_span!("levels").entered();
        trace_span!("left_out").in_scope(|| debug_span!("taken").in_scope(|| ()));
        debug_span!("taken").in_scope(|| ());
    });
    check("levels", &[("levels", 1), ("levels<taken", 1), ("levels<taken", 1)]);
}

#[test]
fn spans_are_left_out_by_target() {
    write_no_profile();
    let log = Log::default();
    let only = layer().with_target_prefixes(["tracing_layer::choice", "solver"]);
    with_default(registry().with(fmt::layer().with_writer(log.clone())).with(only), || {
        let _root = info_span!("targets").entered();
        info_span!(target: "solver::mesh", "taken").in_scope(|| ());
        let left_out = info_span!(target: "network", "left_out").entered();
        info_span!(target: "solver", "inside").in_scope(|| info!("logged"));
        drop(left_out);
    });
    check("targets", &[("targets", 1), ("targets<inside", 1), ("targets<taken", 1)]);
    assert!(log.text().contains("left_out"));
}

#[test]
fn filters_of_the_subscriber_crate_work() {
    write_no_profile();
    let targets =
        Targets::new().with_target("solver", Level::DEBUG).with_target("filtered", Level::INFO);
    let dynamic = filter_fn(|metadata| metadata.name() != "by_name");
    // Our layer has its own level and is wrapped in two filters. `tracing` has to ask the dynamic
    // one again for each span.
    let ours = layer().with_max_level(Level::DEBUG).with_filter(targets).with_filter(dynamic);
    with_default(registry().with(ours).with(fmt::layer().with_writer(Log::default())), || {
        let _root = info_span!(target: "filtered", "filters").entered();
        debug_span!(target: "filtered", "by_level").in_scope(|| ());
        debug_span!("by_target").in_scope(|| ());
        debug_span!(target: "solver", "by_name").in_scope(|| ());
        trace_span!(target: "solver", "by_layer").in_scope(|| ());
        debug_span!(target: "solver", "taken").in_scope(|| ());
    });
    check("filters", &[("filters", 1), ("filters<taken", 1)]);
    for left_out in ["by_level", "by_target", "by_name", "by_layer"] {
        check(left_out, &[]);
    }
}
