//! `TINYPROF_ON`: a condition that `tinyprof run` watches, and that nothing else changes. The
//! library is a text file, which the loader ignores with a complaint: the program has its own.

#[path = "support/profiles.rs"]
mod profiles;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use profiles::{profile, visits_by_rank};

/// Starts the program of `tests/programs/watched.rs` under `tinyprof run` with these options.
fn start(place: &Path, options: &[&str], variables: &[(&str, &str)]) -> Child {
    fs::write(place.join("preload.so"), "no library").expect("a file");
    let exe = Path::new(env!("CARGO_BIN_EXE_tinyprof"));
    let mut command = Command::new(exe);
    command.args(["run", "--library", "preload.so", "--out", "job", "-o", "report=off"]);
    command.args(options).arg("--").arg(exe.with_file_name("examples").join("watched"));
    command.current_dir(place).env("TINYPROF_SEGMENT_DIR", "segments");
    command.env_remove("TINYPROF_OUT").env_remove("LD_PRELOAD").envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("tinyprof starts")
}

fn steps(child: &mut Child, count: usize) {
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut input = child.stdin.as_ref().expect("a pipe");
    for _ in 0..count {
        input.write_all(b"\n").expect("it reads");
        let mut line = String::new();
        lines.read_line(&mut line).expect("it writes");
        assert_eq!(line, "done\n");
    }
    child.stdout = Some(lines.into_inner());
}

/// Reads the lines of standard error up to one that contains `text`.
fn wait_for(errors: &mut BufReader<ChildStderr>, text: &str) {
    let mut all = String::new();
    while !all.contains(text) {
        let read = errors.read_line(&mut all).expect("it can be read");
        assert!(read > 0, "{text}: {all}");
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_profile_is_saved_each_time_that_the_condition_begins_to_hold() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let condition = r#"on=visits("step") >= 3: notify,save times 2"#;
    let mut child = start(place.path(), &["-o", condition], &[]);
    let mut errors = BufReader::new(child.stderr.take().expect("a pipe"));
    steps(&mut child, 3);
    wait_for(&mut errors, "saved as job-saved.tprof");
    let saved = profile(place.path(), "job-saved.tprof");
    assert_eq!(visits_by_rank(&saved, "step"), [3]);
    steps(&mut child, 4);
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    // It has held all the time since: that is once.
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut errors, &mut rest).expect("it ends with the job");
    assert_eq!(rest, "");
    assert!(!place.path().join("job-saved-1.tprof").exists());
    assert_eq!(visits_by_rank(&profile(place.path(), "job.tprof"), "step"), [7]);
}

#[test]
fn a_condition_that_never_holds_is_said_to_and_the_exit_code_is_the_programs() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let mut child = start(place.path(), &[], &[("TINYPROF_ON", "ranks > 1: save")]);
    steps(&mut child, 2);
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    // It may end before anybody has looked.
    let notes = ["has never held", "was not watched: the job has ended before "];
    let notes = notes.map(|note| format!("note: TINYPROF_ON: ranks > 1 {note}"));
    assert!(notes.iter().any(|note| said(&output).contains(note)), "{}", said(&output));
}

#[test]
fn a_wrong_condition_is_an_error_as_an_option_and_a_note_as_a_variable() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let check = |condition: &str, expected: &str| {
        let option = format!("on={condition}");
        let output =
            start(place.path(), &["-o", &option], &[]).wait_with_output().expect("it ends");
        assert!(matches!(output.status.code(), Some(1 | 2)), "{:?}", output.status);
        assert!(said(&output).contains(expected) && output.stdout.is_empty(), "{}", said(&output));
        let variables = [("TINYPROF_ON", condition), ("TINYPROF_OUT", "other")];
        let mut child = start(place.path(), &[], &variables);
        steps(&mut child, 1);
        drop(child.stdin.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(said(&output).contains(expected), "{}", said(&output));
    };
    check("efficency < 0.5: save", "a condition knows no efficency");
    check("efficiency < 0.5: record", "the job will not obey record: start it with -o steer=on");
    check("efficiency < 0.5: stop", "expected a condition and what to do");
}

#[test]
fn who_is_not_started_by_tinyprof_run_is_told_that_nobody_watches() {
    let place = tempfile::tempdir().expect("a temporary directory");
    let exe = Path::new(env!("CARGO_BIN_EXE_tinyprof")).with_file_name("examples/watched");
    let mut command = Command::new(exe);
    command.current_dir(&place).env("TINYPROF_ON", "ranks > 1: save").stdin(Stdio::null());
    command.env("TINYPROF_OUT", "job").env("TINYPROF_REPORT", "off").env_remove("TINYPROF_RUN");
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(0));
    assert!(
        said(&output).contains("nobody watches the condition in TINYPROF_ON"),
        "{}",
        said(&output)
    );
}
