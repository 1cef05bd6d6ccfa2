//! The output of each format for a small profile.

use std::path::Path;

use insta::assert_snapshot;

use super::{BINARIES, TEXTS, empty, export, golden, imported, json, text, xml};

/// A profile of two ranks, two executions, a loop with a series, and a callpath only on rank 1.
const SMALL: &str = "main,null,null,0,0.5-0.25|0.4-0.2\n\
    main<step,main,null,1,0.1+0.2-0.05+0.06|0.1+0.1-0.03+0.03\n\
    main<io,main,IO,0,|0.000000007\n";

fn small(format: &str) -> String {
    let scratch = imported(SMALL);
    text(&scratch.path().join("run.tprof"), format, &[])
}

/// Breaks JSON into one line per element, to make a snapshot readable.
fn broken(json: &str) -> String {
    json.replace("],[", "],\n[").replace("},{", "},\n{").replace(",\"", ",\n\"")
}

#[test]
fn folded() {
    assert_snapshot!(small("folded"), @r"
    main 679999993
    main;io 7
    main;step 670000000
    ");
}

#[test]
fn hatchet() {
    assert_snapshot!(broken(&small("hatchet")));
}

#[test]
fn speedscope() {
    assert_snapshot!(broken(&small("speedscope")));
}

#[test]
fn chrome() {
    assert_snapshot!(small("chrome"));
}

#[test]
fn extrap() {
    assert_snapshot!(broken(&small("extrap")));
}

#[test]
fn graphml() {
    assert_snapshot!(small("graphml"));
}

#[test]
fn openmetrics() {
    assert_snapshot!(small("openmetrics").replace(env!("CARGO_PKG_VERSION"), "VERSION"));
}

#[test]
fn a_flame_graph_names_each_callpath_with_its_time() {
    let scratch = imported(SMALL);
    let svg = text(&scratch.path().join("run.tprof"), "flamegraph", &[]);
    let found = xml(&svg);
    for expected in [
        "run.tprof: time on 2 ranks",
        "main (1,350,000,000 ns, 100.00%)",
        "step (670,000,000 ns, 49.63%)",
    ] {
        assert!(found.iter().any(|text| text == expected), "{expected}: {found:?}");
    }
}

#[test]
fn the_anchor_of_an_archive_describes_each_rank_and_callpath() {
    let (archive, _) = export(&golden(), "cubex", &[]);
    let size = std::str::from_utf8(&archive[124..135]).expect("digits");
    let size = usize::from_str_radix(size, 8).expect("octal digits");
    let anchor = std::str::from_utf8(&archive[512..512 + size]).expect("UTF-8");
    let found = xml(anchor);
    for expected in ["main", "steps", "rank 2", "node1", "metric.bytes", "UINT64", "src/golden.rs"]
    {
        assert!(found.iter().any(|text| text == expected), "{expected}: {found:?}");
    }
    assert_eq!(archive.len() % 512, 0);
    assert!(archive.ends_with(&[0; 1024]));
}

#[test]
fn equal_profiles_give_equal_files() {
    for format in TEXTS.iter().chain(&BINARIES) {
        assert_eq!(export(&golden(), format, &[]), export(&golden(), format, &[]), "{format}");
    }
}

#[test]
fn what_has_no_place_in_a_format_is_said() {
    let said = |format: &str| export(&golden(), format, &[]).1;
    for format in ["graphml", "extrap", "pprof", "tinyprof-csv"] {
        assert!(
            said(format).contains("note: not in this format: varying metrics (1)\n"),
            "{format}"
        );
    }
    assert!(said("chrome").contains(
        "note: not in this format: values of metrics without a place on the time line (1)\n"
    ));
    for format in ["hatchet", "parquet", "cubex", "openmetrics"] {
        assert_eq!(said(format), "", "{format}");
    }
}

#[test]
fn metrics_come_along() {
    let hatchet = json(&golden(), "hatchet", &[]);
    assert_eq!(hatchet["columns"][8], "metric bytes");
    let metrics = text(&golden(), "openmetrics", &[]);
    let line =
        metrics.lines().find(|line| line.starts_with("tinyprof_metric_sum{")).expect("the metric");
    assert!(
        line.starts_with("tinyprof_metric_sum{callpath=\"main<io\",id=\"")
            && line.ends_with(",metric=\"bytes\"} 1.5")
    );
}

#[test]
fn an_empty_profile_gives_empty_files() {
    let scratch = empty();
    let profile = scratch.path().join("run.tprof");
    check_empty(&profile);
}

fn check_empty(profile: &Path) {
    assert_eq!(json(profile, "hatchet", &[])["data"], serde_json::json!([]));
    assert_eq!(json(profile, "speedscope", &[])["shared"]["frames"], serde_json::json!([]));
    assert_eq!(json(profile, "extrap", &[])["measurements"], serde_json::json!({}));
    assert!(json(profile, "chrome", &[])["traceEvents"].is_array());
    assert_eq!(text(profile, "folded", &[]), "");
    assert!(text(profile, "openmetrics", &[]).ends_with("# EOF\n"));
    assert!(!text(profile, "graphml", &[]).contains("<node"));
    assert!(export(profile, "parquet", &[]).0.ends_with(b"PAR1"));
    assert!(!export(profile, "cubex", &[]).0.is_empty());
    assert!(export(profile, "pprof", &[]).0.starts_with(&[0x1f, 0x8b]), "compressed by gzip");
}
