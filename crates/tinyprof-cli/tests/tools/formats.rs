//! `--format` and `--metric` of the tables.

use serde_json::Value;

use crate::support::{done, json, run, scratch, write};

fn profile() -> tempfile::TempDir {
    let scratch = scratch();
    write(
        scratch.path(),
        "run",
        &[
            ("main", "0.5|0.3"),
            ("main<a", "0.4|0.2"),
            ("main<a<x", "0.3|0.19"),
            ("main<b", "0.05|"),
        ],
    );
    scratch
}

#[test]
fn each_table_is_there_as_csv() {
    let scratch = profile();
    assert_eq!(
        done(&["tree", "run.tprof", "--format", "csv", "--metric", "exclusive"], scratch.path()),
        "path,name,depth,ranks,visits,value\n\
         main,main,0,2,2,150000000\n\
         \"main<a\",a,1,2,2,110000000\n\
         \"main<a<x\",x,2,2,2,490000000\n\
         \"main<b\",b,1,1,1,50000000\n"
    );
    assert_eq!(
        done(&["top", "run.tprof", "--format", "csv", "-n", "1"], scratch.path()),
        "path,exclusive_ns,inclusive_ns,ranks,visits,total_inclusive_ns\n\"main<a<x\",490000000,490000000,2,2,800000000\n"
    );
    let report =
        done(&["report", "run.tprof", "--format", "csv", "--path", "main<b"], scratch.path());
    assert_eq!(
        report,
        "path,name,depth,ranks,visits,\
         inclusive_sum_ns,inclusive_standard_error_ns,inclusive_min_ns,inclusive_mean_ns,inclusive_max_ns,inclusive_max_rank,inclusive_max_host,inclusive_imbalance,inclusive_lost_ns,\
         exclusive_sum_ns,exclusive_standard_error_ns,exclusive_min_ns,exclusive_mean_ns,exclusive_max_ns,exclusive_max_rank,exclusive_max_host,exclusive_imbalance,exclusive_lost_ns,variation\n\
         \"main<b\",\"main<b\",0,1,1,50000000,,50000000,50000000,50000000,0,,0,0,50000000,,50000000,50000000,50000000,0,,0,0,\n"
    );
}

#[test]
fn a_metric_sorts_the_table_and_is_what_ranks_are_compared_by() {
    let scratch = profile();
    let names = |arguments: &[&str]| -> Vec<String> {
        let csv = done(&[arguments, &["--format", "csv"]].concat(), scratch.path());
        csv.lines()
            .skip(1)
            .map(|line| line.split(',').next().unwrap_or_default().replace('"', ""))
            .collect()
    };
    let top = |metric: &str| names(&["top", "run.tprof", "--metric", metric]);
    assert_eq!(top("inclusive"), ["main", "main<a", "main<a<x", "main<b"]);
    assert_eq!(top("exclusive"), ["main<a<x", "main", "main<a", "main<b"]);
    assert_eq!(top("visits").last().map(String::as_str), Some("main<b"));
    let report =
        done(&["report", "run.tprof", "--metric", "exclusive", "--width", "120"], scratch.path());
    assert!(report.contains(" exclusive, rank by rank "), "{report}");
    // Exclusive time of main: 50 ms on rank 0, 100 ms on rank 1.
    let main = report.lines().find(|line| line.starts_with("main")).expect("a line of main");
    assert!(main.contains("50.0ms  75.0ms   100ms        1      33.3%"), "{main}");
}

#[test]
fn json_is_short_for_its_format_and_stands_alone() {
    let scratch = profile();
    for command in ["report", "tree", "top", "info", "check"] {
        let long = done(&[command, "run.tprof", "--format", "json"], scratch.path());
        assert_eq!(long, done(&[command, "run.tprof", "--json"], scratch.path()), "{command}");
        assert!(serde_json::from_str::<Value>(&long).is_ok(), "{command}: {long}");
        let ran = run(&[command, "run.tprof", "--json", "--format", "text"], scratch.path());
        assert_eq!(ran.code, Some(2), "{command}");
    }
    assert_eq!(run(&["info", "run.tprof", "--format", "csv"], scratch.path()).code, Some(2));
    let tree = json(&["tree", "run.tprof", "--json", "--metric", "exclusive"], scratch.path());
    assert_eq!(
        (&tree["metric"], &tree["callpaths"][0]["value"]),
        (&"exclusive".into(), &150_000_000.into())
    );
}

#[test]
fn damage_is_a_table_too() {
    let scratch = profile();
    assert_eq!(
        done(&["check", "run.tprof", "--format", "csv"], scratch.path()),
        "file,offset,section,reason\n"
    );
    let part = scratch.path().join("run.tprof/part-00000");
    let mut bytes = std::fs::read(&part).expect("the part");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&part, bytes).expect("it is damaged");
    let ran = run(&["check", "run.tprof", "--format", "csv"], scratch.path());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(3), ""));
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        lines.len() == 2
            && lines[1].starts_with("\"part-00000\",")
            && lines[1].contains("checksum"),
        "{lines:?}"
    );
}

#[test]
fn what_was_recovered_is_told_to_programs_too() {
    let scratch = scratch();
    std::fs::create_dir(scratch.path().join("segments")).expect("a directory");
    std::fs::write(scratch.path().join("segments/other"), "something else").expect("a file");
    let found = json(&["recover", "segments", "--json"], scratch.path());
    assert_eq!(found["recovered"], Value::Array(Vec::new()));
    let left_alone = found["left_alone"][0].as_str().expect("a line");
    assert!(left_alone.starts_with("other: left alone: "), "{left_alone}");
}
