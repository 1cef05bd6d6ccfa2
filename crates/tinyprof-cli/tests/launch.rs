//! `tinyprof run`: the environment, the exit code and the signals of the program that it starts.
//! The library is a text file, which the loader ignores with a complaint.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the command with these arguments, in a directory.
fn tinyprof(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.args(arguments).current_dir(directory);
    command
}

/// Makes a file in the place of the library.
fn library(scratch: &Path) -> PathBuf {
    let path = scratch.canonicalize().expect("it is there").join("preload.so");
    fs::write(&path, "no library").expect("a file");
    path
}

/// Runs a script under `tinyprof run` with these options.
fn run(options: &[&str], script: &str, scratch: &Path) -> Output {
    library(scratch);
    let first = ["run", "--library", "preload.so"];
    let command = ["--", "/bin/sh", "-c", script];
    let arguments: Vec<&str> = first.iter().chain(options).chain(&command).copied().collect();
    let mut tinyprof = tinyprof(&arguments, scratch);
    for variable in ["LD_PRELOAD", "TINYPROF_OUT", "TINYPROF_INTERVAL", "TINYPROF_REPORT"] {
        tinyprof.env_remove(variable);
    }
    tinyprof.output().expect("tinyprof starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[test]
fn the_exit_code_is_that_of_the_program() {
    let scratch = scratch();
    for code in [0, 1, 7, 255] {
        let output = run(&[], &format!("exit {code}"), scratch.path());
        assert_eq!(output.status.code(), Some(code));
    }
}

#[test]
fn a_program_that_is_killed_is_seen_as_killed() {
    let output = run(&[], "kill -TERM $$", scratch().path());
    assert_eq!(output.status.signal(), Some(libc::SIGTERM));
}

#[test]
fn a_broken_pipe_ends_the_program_as_usual() {
    // 141 is 128 + SIGPIPE: the signal is not ignored, as it is in the command itself.
    let script =
        "( /bin/sh -c 'while echo y; do :; done'; echo $? >&2 ) 2>code | head -n 1; cat code";
    let output = run(&[], script, scratch().path());
    assert!(stdout(&output).lines().any(|line| line == "141"), "{}", stdout(&output));
}

#[test]
fn the_program_sees_the_library_and_the_settings() {
    let scratch = scratch();
    let settings = ["--out", "my run", "-o", "interval=5s", "-o", "report=off"];
    let output = run(&settings, "env", scratch.path());
    let environment = stdout(&output);
    let has = |line: &str| assert!(environment.lines().any(|l| l == line), "{line}: {environment}");
    has(&format!("LD_PRELOAD={}", library(scratch.path()).display()));
    has("TINYPROF_OUT=my run");
    has("TINYPROF_INTERVAL=5s");
    has("TINYPROF_REPORT=off");
    let plain = stdout(&run(&[], "env", scratch.path()));
    assert!(!plain.contains("TINYPROF_OUT=") && !plain.contains("TINYPROF_INTERVAL="), "{plain}");
}

#[test]
fn libraries_that_are_preloaded_already_stay() {
    let scratch = scratch();
    let library = library(scratch.path());
    let arguments = ["run", "--library", "preload.so", "--", "/bin/sh", "-c", "echo $LD_PRELOAD"];
    let output = tinyprof(&arguments, scratch.path())
        .env("LD_PRELOAD", "/no/other.so")
        .output()
        .expect("it");
    assert_eq!(stdout(&output), format!("{}:/no/other.so\n", library.display()));
}

#[test]
fn arguments_of_the_program_are_its_own() {
    let scratch = scratch();
    library(scratch.path());
    let arguments =
        ["run", "--library", "preload.so", "/bin/echo", "--out", "x", "-o", "--help", "--", "-n"];
    let output = tinyprof(&arguments, scratch.path()).output().expect("tinyprof starts");
    assert_eq!(stdout(&output), "--out x -o --help -- -n\n");
}

#[test]
fn a_setting_that_is_none_is_refused_with_what_was_meant() {
    let scratch = scratch();
    let check = |setting: &str, expected: &str| {
        let output = run(&["-o", setting], "echo started", scratch.path());
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
    };
    check("intervall=5s", "did you mean interval?");
    check("interval=5", "expected a time from 1ms to 1000h with its unit, as in 5s, 500ms or 2m");
    check("keep", "expected KEY=VALUE");
    check("frequency=1", "settings: recording, out, ");
}

#[test]
fn a_program_that_cannot_be_started_has_the_exit_code_of_shells() {
    let scratch = scratch();
    library(scratch.path());
    fs::write(scratch.path().join("text"), "no program").expect("a file");
    for (program, code) in
        [("./nowhere", 127), ("no-such-program", 127), ("./text", 126), ("/", 126)]
    {
        let arguments = ["run", "--library", "preload.so", "--", program];
        let output = tinyprof(&arguments, scratch.path()).output().expect("tinyprof starts");
        assert_eq!(output.status.code(), Some(code), "{program}");
        let message = stderr(&output);
        assert!(message.starts_with(&format!("error: cannot start {program}: ")), "{message}");
    }
}

#[test]
fn a_missing_library_says_so_before_anything_starts() {
    let scratch = scratch();
    let arguments = ["run", "--library", "nowhere.so", "--", "/bin/echo", "started"];
    let output = tinyprof(&arguments, scratch.path()).output().expect("tinyprof starts");
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""));
    assert!(stderr(&output).contains("cannot preload nowhere.so"), "{}", stderr(&output));
}

#[test]
fn wrong_arguments_exit_with_2() {
    let scratch = scratch();
    let wrong: [&[&str]; 4] = [
        &["run"],
        &["run", "--"],
        &["run", "--ot", "x", "--", "true"],
        &["run", "--out", "", "true"],
    ];
    for arguments in wrong {
        let output = tinyprof(arguments, scratch.path()).output().expect("tinyprof starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

/// Compiles a program that is linked to `AddressSanitizer`, if there is a compiler that can.
#[expect(clippy::print_stderr, reason = "says why a test is skipped")]
fn sanitized(scratch: &Path) -> bool {
    fs::write(scratch.join("a.c"), "int main(void) { return 7; }\n").expect("a file");
    let mut compiler = Command::new("gcc");
    compiler.args(["-fsanitize=address", "-o", "a.out", "a.c"]).current_dir(scratch);
    let is_made = compiler.output().is_ok_and(|output| output.status.success());
    if !is_made {
        eprintln!("skipped: there is no gcc with libasan");
    }
    is_made
}

#[test]
fn a_program_with_address_sanitizer_runs_and_behind_a_launcher_is_told_how_to() {
    let scratch = scratch();
    if !sanitized(scratch.path()) {
        return;
    }
    library(scratch.path());
    let run = |command: &[&str]| {
        let arguments = [&["run", "--library", "preload.so", "--"][..], command].concat();
        let mut tinyprof = tinyprof(&arguments, scratch.path());
        tinyprof.env_remove("LD_PRELOAD").env_remove("ASAN_OPTIONS");
        tinyprof.output().expect("tinyprof starts")
    };
    let output = run(&["./a.out"]);
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    let output = run(&["env", "A=1", "./a.out"]);
    assert_eq!(output.status.code(), Some(1));
    let advice = "as in env A=1 tinyprof run -- ./a.out";
    assert!(stderr(&output).contains(advice), "{}", stderr(&output));
    let output = run(&["env", "LD_PRELOAD=libasan.so.8:preload.so", "./a.out"]);
    assert!(!stderr(&output).contains(advice), "{}", stderr(&output));
}
