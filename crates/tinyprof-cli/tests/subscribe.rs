//! `tinyprof ctl subscribe`: the facts of a running job for another program, until the job ends.

#![cfg(feature = "top")]

#[path = "support/watched.rs"]
mod watched;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use watched::Watched;

fn subscribed(place: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.args(["ctl", "subscribe", "segments"]).args(options).current_dir(place);
    command.env_remove("TINYPROF_SEGMENT_DIR").stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn documents(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

/// Returns the callpaths of a document.
fn paths(document: &Value) -> Vec<&str> {
    let rows = document["callpaths"].as_array().expect("a list");
    rows.iter().map(|row| row["callpath"].as_str().expect("text")).collect()
}

#[test]
fn a_program_that_is_not_ours_gets_what_it_wants_until_the_job_ends() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut program = Watched::start(place.path(), &[]);
    let options = ["--facts", "efficiency,callpaths", "--callpath", "-*,+step"];
    let mut chosen = subscribed(place.path(), &options).spawn().expect("it runs");
    let mut all = subscribed(place.path(), &[]).spawn().expect("it runs");
    // Both have seen it before it ends.
    let mut seen = [&mut chosen, &mut all].map(|child| {
        let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        reader.read_line(&mut line).expect("a document");
        (reader, serde_json::from_str::<Value>(&line).expect(&line))
    });
    program.step();
    program.end();
    let last = seen.each_mut().map(|(reader, _)| {
        let line = reader.lines().map_while(Result::ok).last().expect("another document");
        serde_json::from_str::<Value>(&line).expect(&line)
    });
    assert!(chosen.wait().expect("ours").success() && all.wait().expect("ours").success());
    for (first, last) in seen.iter().map(|(_, first)| first).zip(&last) {
        assert_eq!((&first["has_ended"], &last["has_ended"]), (&false.into(), &true.into()));
        assert_eq!(first["name"], "job.tprof");
    }
    assert_eq!(paths(&last[0]), ["run<step"]);
    assert!(last[0]["callpaths"][0]["parent"].is_null() && last[0].get("still").is_none());
    assert!(last[0].get("efficiency").is_some());
    assert_eq!(paths(&last[1]).first(), Some(&"run"));
    assert!(last[1].get("still").is_some() && last[1].get("causes").is_some());
}

#[test]
fn a_reader_that_leaves_has_all_it_wants() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let program = Watched::start(place.path(), &[]);
    let mut left = subscribed(place.path(), &[]).spawn().expect("it runs");
    drop(left.stdout.take());
    assert_eq!(left.wait().expect("ours").code(), Some(0));
    program.end();
}

#[test]
fn a_program_in_plug_gets_what_is_chosen_for_it() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let program = Watched::start(place.path(), &[]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.args(["plug", "--directory", "segments", "--facts", "still", "sh", "-c"]);
    let script = r#"read -r line; echo "{\"finding\": \"$(echo "$line" | grep -c callpaths)\"}""#;
    let output = command.arg(script).current_dir(place.path()).output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sh: 0\n");
    program.end();
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = tempfile::tempdir().expect("a temporary directory");
    for (options, expected) in [
        (["--facts", "weather"], "invalid value 'weather' for '--facts <LIST>'"),
        (["--callpath", "solve,,"], "expected patterns with commas between them"),
        (["--interval", "0"], "0 is not in 1.."),
    ] {
        let output = subscribed(place.path(), &options).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(expected), "{said}");
        assert!(documents(&output).is_empty());
    }
}
