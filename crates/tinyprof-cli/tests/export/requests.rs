//! Requests: selections, several profiles, and arguments that conflict.

use std::fs;

use serde_json::json;

use super::{BINARIES, TEXTS, empty, import, imported, json, run, text};

const ROWS: &str = "main,null,null,0,0.5|0.25|0.125\n\
    main<a,main,null,0,0.1|0.2|0.1\n\
    main<a<x,main<a,null,0,0.05|0.1|0.05\n";

#[test]
fn ranks_and_paths_are_selected_as_everywhere() {
    let scratch = imported(ROWS);
    let profile = scratch.path().join("run.tprof");
    assert_eq!(
        text(&profile, "folded", &["--rank", "1-2", "--path", "main<a"]),
        "main<a 150000000\nmain<a;x 150000000\n"
    );
    let hatchet = json(&profile, "hatchet", &["--rank", "2"]);
    let ranks: Vec<_> =
        hatchet["data"].as_array().expect("rows").iter().map(|row| row[2].clone()).collect();
    assert_eq!(ranks, [2, 2, 2]);
    let wrong = run(&["export", "run.tprof", "--to", "folded", "--rank", "3"], scratch.path());
    assert_eq!(wrong.status.code(), Some(1));
}

#[test]
fn several_profiles_are_points_of_a_model() {
    let scratch = imported(ROWS);
    import("main,null,null,0,1.0|1.0\n", "two", scratch.path());
    import("main,null,null,0,3.0|5.0\n", "again", scratch.path());
    let arguments = ["export", "two.tprof", "run.tprof", "again.tprof", "--to", "extrap"];
    let model = |more: &[&str]| -> serde_json::Value {
        let output = run(&[&arguments, more].concat(), scratch.path());
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let by_ranks = model(&[]);
    assert_eq!(by_ranks["parameters"], json!(["ranks"]));
    let points = |metric: &str| by_ranks["measurements"]["main"][metric].clone();
    assert_eq!(
        points("inclusive_max_ns"),
        json!([{"point": [2.0], "values": [1e9, 5e9]}, {"point": [3.0], "values": [5e8]}])
    );
    assert_eq!(
        points("visits"),
        json!([{"point": [2.0], "values": [2.0, 2.0]}, {"point": [3.0], "values": [3.0]}])
    );
    let absent = &by_ranks["measurements"]["main->a->x"]["inclusive_mean_ns"];
    assert_eq!(absent[0], json!({"point": [2.0], "values": [0.0, 0.0]}));
    let by_size = model(&["--parameter", "size=8,16,32", "--parameter", "ranks"]);
    assert_eq!(by_size["parameters"], json!(["size", "ranks"]));
    assert_eq!(by_size["measurements"]["main"]["visits"][2]["point"], json!([32.0, 2.0]));
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    let scratch = imported(ROWS);
    for (arguments, expected) in [
        (
            &["run.tprof", "run.tprof", "--to", "folded"][..],
            "only extrap and callflow take several",
        ),
        (
            &["run.tprof", "--to", "folded", "--parameter", "ranks"],
            "--parameter is for extrap only",
        ),
        (
            &["run.tprof", "--to", "hatchet", "--max-ranks", "3"],
            "--max-ranks is for speedscope, chrome, perfetto, otf2 and paraver only",
        ),
        (&["run.tprof", "--to", "parquet"], "name a file to write with -o FILE"),
        (&["run.tprof", "--to", "cubex", "-o", "-"], "name a file to write with -o FILE"),
        (&["run.tprof", "--to", "extrap", "--parameter", "n=1,2"], "n has 2 values for 1 profiles"),
        (&["run.tprof", "--to", "extrap", "--parameter", "n=x"], "expected numbers"),
        (&["run.tprof", "--to", "speedscope", "--max-ranks", "0"], "--max-ranks"),
        (&["run.tprof", "--to", "folded", "--window", "1s-2s"], "--window and --class are for"),
        (&["run.tprof", "--to", "folded", "--class", "call"], "--window and --class are for"),
        (&["run.tprof", "--to", "perfetto", "--window", "2s"], "expected two times"),
        (&["run.tprof", "--to", "otf2", "-o", "-"], "name a directory to write with -o DIR"),
        (&["run.tprof", "--to", "vampir"], "openmetrics"),
    ] {
        let output = run(&[&["export"], arguments].concat(), scratch.path());
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && message.contains(expected),
            "{arguments:?}: {message}"
        );
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn what_could_not_be_written_leaves_no_file() {
    let scratch = empty();
    let output =
        run(&["export", "run.tprof", "--to", "flamegraph", "-o", "out.svg"], scratch.path());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.code() == Some(1) && message.contains("there is no flame graph to draw"),
        "{message}"
    );
    assert!(!scratch.path().join("out.svg").exists());
    fs::write(scratch.path().join("taken"), "mine").expect("it is written");
    for format in TEXTS.iter().chain(&BINARIES) {
        let output = run(&["export", "run.tprof", "--to", format, "-o", "taken"], scratch.path());
        assert_eq!(output.status.code(), Some(1), "{format}");
    }
    assert_eq!(fs::read_to_string(scratch.path().join("taken")).expect("the file"), "mine");
}

#[test]
fn the_help_says_which_viewer_reads_what() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let help = String::from_utf8(run(&["export", "--help"], scratch.path()).stdout).expect("UTF-8");
    for format in TEXTS.iter().chain(&BINARIES).chain(&["tinyprof-csv"]) {
        let line = help.lines().find(|line| line.trim_start().starts_with(&format!("- {format}:")));
        assert!(
            line.is_some_and(|line| line.matches(": ").count() == 2),
            "a line for {format}: {help}"
        );
    }
}
