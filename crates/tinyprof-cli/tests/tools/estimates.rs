//! Output for profiles with an overhead budget, with metrics, or with executions so numerous that
//! they were folded.

use std::path::Path;

use tinyprof_format::file::ProfileWriter;
use tinyprof_format::model::{
    CallpathId, CallpathValues, EventMap, ExecutionSummary, MetricSummary, MetricValues, RankFacts,
    Region, SiteId,
};

use crate::support::{done, json, run, scratch};

/// Writes a program of one region, `main`.
fn write(directory: &Path, name: &str, values: CallpathValues) {
    let site = SiteId::from_bits(1);
    let region = Region::named(site, "main");
    let map = EventMap::from_records(
        [(CallpathId::root(site), None, region, values)],
        RankFacts::default(),
    );
    ProfileWriter::new().write(&directory.join(name), &[map]).expect("it is written");
}

/// Returns executions of 10 visits of which some were not timed: the sum is an estimate with this
/// variance.
fn estimated(sums_ns: &[u64], variance_ns2: f64) -> CallpathValues {
    let summary = |(execution, &sum_ns): (u32, &u64)| ExecutionSummary {
        visits: 10,
        sum_ns,
        sum_variance_ns2: variance_ns2,
        min_ns: 1,
        ..ExecutionSummary::of_one_visit(execution, sum_ns)
    };
    CallpathValues {
        executions: (0..).zip(sums_ns).map(summary).collect(),
        ..CallpathValues::default()
    }
}

#[test]
fn estimates_are_marked_and_their_variance_widens_the_interval() {
    let scratch = scratch();
    let (base, new) = ([1_000_000, 1_001_000, 999_000], [1_100_000, 1_101_000, 1_099_000]);
    write(scratch.path(), "a", estimated(&base, 0.0));
    write(scratch.path(), "b", estimated(&new, 0.0));
    write(scratch.path(), "vague", estimated(&new, 1e10));
    let exact = json(&["diff", "a.tprof", "b.tprof", "--json"], scratch.path());
    let vague = json(&["diff", "a.tprof", "vague.tprof", "--json"], scratch.path());
    assert_eq!(exact["callpaths"][0]["verdict"], "up");
    // A standard error of 100,000 ns each gives 57,735 for the mean of three, which is as much as
    // half the difference.
    assert_eq!(vague["callpaths"][0]["verdict"], "unclear");
    let error =
        vague["callpaths"][0]["new"]["standard_error_of_estimate"].as_f64().expect("a number");
    assert!((error - 57_735.026_918_962_58).abs() < 1e-6, "{error}");
    assert_eq!(exact["callpaths"][0]["new"]["standard_error_of_estimate"], serde_json::Value::Null);
    let text = run(&["diff", "a.tprof", "vague.tprof"], scratch.path()).stdout;
    assert!(text.contains(" ~1.10ms ") && text.contains("note: ~ is an estimate"), "{text}");
    // A single value has no interval, though its estimate has a standard error.
    let single =
        json(&["diff", "a.tprof", "vague.tprof", "--json", "--execution", "0"], scratch.path());
    let (verdict, interval) =
        (&single["callpaths"][0]["verdict"], &single["callpaths"][0]["interval"]);
    assert_eq!((verdict, interval), (&"unjudged".into(), &serde_json::Value::Null));
}

/// Returns eight executions of 10 ms, folded in pairs, and four of 12 ms.
fn folded() -> CallpathValues {
    let pair = |execution: u32| ExecutionSummary {
        executions: 2,
        visits: 2,
        min_ns: 10_000_000,
        max_ns: 10_000_000,
        ..ExecutionSummary::of_one_visit(execution, 20_000_000 + u64::from(execution))
    };
    let alone = |execution: u32| {
        ExecutionSummary::of_one_visit(execution, 12_000_000 + u64::from(execution))
    };
    let executions = (0..8).step_by(2).map(pair).chain((8..12).map(alone)).collect();
    CallpathValues { executions, ..CallpathValues::default() }
}

#[test]
fn folded_executions_are_compared_in_batches() {
    let scratch = scratch();
    write(scratch.path(), "a", folded());
    let diff = json(&["diff", "a.tprof", "a.tprof", "--json"], scratch.path());
    let main = &diff["callpaths"][0];
    assert_eq!((&main["folded"], &main["base"]["values"]), (&true.into(), &6.into()));
    // 80 ms and 0 + 2 + 4 + 6 ns in eight executions, 48 ms and 8 + 9 + 10 + 11 ns in four.
    let mean = main["base"]["mean"].as_f64().expect("a number");
    assert!((mean - 128_000_050.0 / 12.0).abs() < 1e-6, "{mean}");
    assert!(
        run(&["diff", "a.tprof", "a.tprof"], scratch.path())
            .stdout
            .contains("executions were folded")
    );
}

#[test]
fn executions_that_were_folded_are_taken_together_or_not_at_all() {
    let scratch = scratch();
    write(scratch.path(), "a", folded());
    let sum = |list: &str| {
        let report = json(&["report", "a.tprof", "--json", "--execution", list], scratch.path());
        (report["executions"].as_u64(), report["callpaths"][0]["inclusive_ns"]["sum"].as_u64())
    };
    assert_eq!(sum("2-3,8"), (Some(3), Some(32_000_010)));
    assert_eq!(sum("10-11"), (Some(2), Some(24_000_021)));
    let check = |list: &str, code: i32, expected: &str| {
        let ran = run(&["tree", "a.tprof", "--execution", list], scratch.path());
        assert!(ran.code == Some(code) && ran.stderr.contains(expected), "{list}: {}", ran.stderr);
    };
    check("3", 1, "executions 2 to 3 were folded into one");
    check("12", 1, "there is no execution 12: the profile has 12, the first is execution 0");
    check("5-3", 2, "expected the lower number first");
}

/// Returns one visit that recorded this under `bytes`, and 7 under `visits`.
fn recorded(bytes: f64) -> CallpathValues {
    let of = |key: &str, value| {
        let executions = vec![MetricSummary::of_one_value(0, value)];
        (key.to_owned(), MetricValues { executions, series: Vec::new() })
    };
    let metrics = [of("bytes", bytes), of("visits", 7.0)].into();
    CallpathValues {
        executions: vec![ExecutionSummary::of_one_visit(0, 5)],
        metrics,
        ..CallpathValues::default()
    }
}

#[test]
fn numbers_that_are_none_are_told_as_such() {
    let scratch = scratch();
    write(scratch.path(), "a", recorded(f64::INFINITY));
    write(scratch.path(), "b", recorded(1.0));
    for (base, new) in [("a.tprof", "a.tprof"), ("a.tprof", "b.tprof"), ("b.tprof", "a.tprof")] {
        let arguments = ["diff", base, new, "--metric", "bytes"];
        let diff = json(&[&arguments[..], &["--json"]].concat(), scratch.path());
        let main = &diff["callpaths"][0];
        assert_eq!(
            (&main["verdict"], &main["difference"]),
            (&"unjudged".into(), &serde_json::Value::Null),
            "{main}"
        );
        assert!(done(&arguments, scratch.path()).contains("main"));
    }
    let top = json(&["tree", "a.tprof", "--metric", "bytes", "--json"], scratch.path());
    assert_eq!(top["callpaths"][0]["value"], serde_json::Value::Null);
}

#[test]
fn a_key_of_the_program_is_a_metric_everywhere() {
    let scratch = scratch();
    write(scratch.path(), "a", recorded(4096.0));
    write(scratch.path(), "b", recorded(8192.0));
    let diff = json(&["diff", "a.tprof", "b.tprof", "--metric", "bytes", "--json"], scratch.path());
    let main = &diff["callpaths"][0];
    assert_eq!(
        (&main["base"]["mean"], &main["change"], &diff["unit"]),
        (&4096.0.into(), &1.0.into(), &"as recorded".into())
    );
    // A key with the name of a built-in metric.
    let diff =
        json(&["diff", "a.tprof", "b.tprof", "--metric", "key:visits", "--json"], scratch.path());
    assert_eq!(
        (&diff["metric"], &diff["callpaths"][0]["base"]["mean"]),
        (&"key:visits".into(), &7.0.into())
    );
    let top = done(&["top", "a.tprof", "--metric", "bytes"], scratch.path());
    assert!(
        top.contains("bytes  mean   max  values  callpath\n 4096  4096  4096       1  main\n"),
        "{top}"
    );
    let csv = done(&["top", "a.tprof", "--metric", "bytes", "--format", "csv"], scratch.path());
    assert_eq!(csv, "path,values,sum,min,mean,max\nmain,1,4096,4096,4096,4096\n");
    let tree = done(&["tree", "a.tprof", "--metric", "bytes"], scratch.path());
    assert!(
        tree.contains("visits  ranks  bytes  callpath\n     1      1   4096  main\n"),
        "{tree}"
    );
    let report = done(&["report", "a.tprof", "--metric", "bytes"], scratch.path());
    assert!(
        report.contains("bytes")
            && !report.contains("key:visits")
            && report.matches("4096").count() == 4,
        "{report}"
    );
    let ran = run(&["report", "a.tprof", "--metric", "memory"], scratch.path());
    let expected =
        "error: there is no metric memory: expected inclusive, exclusive, visits, bytes, visits\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(2), expected));
}
