//! Profiles of more ranks than a viewer can hold.

use serde_json::Value;

use super::{command, export, imported, json, run};
use std::process::Stdio;

/// Creates 100 ranks: most alike, ten twice as slow, and rank 77 unlike any other.
fn wide() -> tempfile::TempDir {
    let times = |of: fn(u32) -> u32| {
        (0..100).map(|rank| format!("0.{:09}", of(rank))).collect::<Vec<_>>().join("|")
    };
    let main = times(|rank| {
        if rank == 77 {
            900_000
        } else if rank % 10 == 3 {
            200_000
        } else {
            100_000 + rank
        }
    });
    let step = times(|rank| if rank == 77 { 1 } else { 50_000 });
    imported(&format!("main,null,null,0,{main}\nmain<step,main,null,1,{step}\n"))
}

#[test]
fn speedscope_gets_mean_minimum_maximum_and_representatives() {
    let scratch = wide();
    let profile = scratch.path().join("run.tprof");
    let (file, message) = export(&profile, "speedscope", &["--max-ranks", "3"]);
    assert_eq!(
        message,
        "note: 100 ranks are shown as their mean, minimum and maximum and 3 representatives; \
         --max-ranks shows more, --rank those that you name\n"
    );
    let file: Value = serde_json::from_slice(&file).expect("JSON");
    let profiles = file["profiles"].as_array().expect("a list");
    let names: Vec<&str> = profiles.iter().map(|p| p["name"].as_str().expect("a name")).collect();
    assert_eq!(names[..3], ["mean of 100 ranks", "minimum of 100 ranks", "maximum of 100 ranks"]);
    assert_eq!(
        names[3..],
        ["rank 3, for 10 ranks like it", "rank 77", "rank 99, for 89 ranks like it"]
    );
    let report = run(&["report", "run.tprof", "--json"], scratch.path());
    let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    for (position, statistic) in ["mean", "min", "max"].into_iter().enumerate() {
        for row in 0..2 {
            let expected = report["callpaths"][row]["exclusive_ns"][statistic].as_f64();
            assert_eq!(
                profiles[position]["weights"][row].as_f64(),
                expected,
                "{statistic} of row {row}"
            );
        }
    }
}

#[test]
fn a_time_line_gets_the_same() {
    let scratch = wide();
    let profile = scratch.path().join("run.tprof");
    let chrome = json(&profile, "chrome", &["--max-ranks", "1"]);
    let events = chrome["traceEvents"].as_array().expect("a list");
    let names: Vec<&Value> =
        events.iter().filter(|e| e["name"] == "process_name").map(|e| &e["args"]["name"]).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(names[2], "maximum of 100 ranks, each execution by itself");
    let slowest = events.iter().find(|e| e["pid"] == 3 && e["name"] == "main").expect("the slice");
    assert_eq!((&slowest["dur"], &slowest["args"]["sum_ns"]), (&900.0.into(), &900_000.into()));
}

#[test]
fn ranks_that_are_few_or_named_are_all_shown() {
    let scratch = wide();
    let profile = scratch.path().join("run.tprof");
    let names = |options: &[&str]| -> Vec<String> {
        let (file, message) = export(&profile, "speedscope", options);
        assert_eq!(message, "");
        let file: Value = serde_json::from_slice(&file).expect("JSON");
        let profiles = file["profiles"].as_array().expect("a list");
        profiles.iter().map(|p| p["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(&["--max-ranks", "100"]).len(), 100);
    assert_eq!(names(&["--rank", "3,77"]), ["rank 3", "rank 77"]);
    assert!(!export(&profile, "speedscope", &[]).1.is_empty(), "64 unless told otherwise");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let scratch = wide();
    let mut child =
        command(&["export", "run.tprof", "--to", "chrome", "--max-ranks", "100"], scratch.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("tinyprof starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("tinyprof ends");
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
