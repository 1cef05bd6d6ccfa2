//! Differences on a terminal: colours, and the width of tables. The terminal is `script` (of
//! bsdutils, which every Linux has).

use std::path::Path;
use std::process::Command;

use crate::support::{Ran, scratch, tinyprof, write};

const BOLD: &str = "\u{1b}[1m";

fn profile() -> tempfile::TempDir {
    let scratch = scratch();
    write(
        scratch.path(),
        "run",
        &[("main", "0.5"), ("main<a_callpath_of_a_rather_long_name_indeed", "0.4")],
    );
    write(
        scratch.path(),
        "slow",
        &[("main", "0.6"), ("main<a_callpath_of_a_rather_long_name_indeed", "0.3")],
    );
    scratch
}

/// Runs the command on a terminal of 40 columns.
fn on_terminal(arguments: &str, environment: &[(&str, &str)], directory: &Path) -> String {
    let command =
        format!("stty cols 40 rows 24 && exec '{}' {arguments}", env!("CARGO_BIN_EXE_tinyprof"));
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-c", &command, "/dev/null"]).current_dir(directory);
    script.env("TERM", "xterm").env("SHELL", "/bin/sh");
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        script.env_remove(variable);
    }
    script.envs(environment.iter().copied()).stdin(std::process::Stdio::null());
    let ran =
        Ran::from(script.output().expect("script starts: it is in bsdutils or util-linux-script"));
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    ran.stdout.replace("\r\n", "\n")
}

#[test]
fn a_table_is_as_wide_as_the_terminal() {
    let scratch = profile();
    let table = on_terminal("tree run.tprof --color never", &[], scratch.path());
    assert!(table.lines().all(|line| line.len() <= 40), "{table}");
    assert!(table.contains("..."), "what does not fit is cut: {table}");
    let elsewhere = crate::support::done(&["tree", "run.tprof"], scratch.path());
    assert!(!elsewhere.contains("..."), "{elsewhere}");
}

#[test]
fn colours_are_for_terminals_unless_no_color_says_otherwise() {
    let scratch = profile();
    let check = |arguments: &str, environment: &[(&str, &str)], colored: bool| {
        let output = on_terminal(arguments, environment, scratch.path());
        assert_eq!(output.contains(BOLD), colored, "{arguments} {environment:?}: {output}");
    };
    check("tree run.tprof", &[], true);
    check("--color never tree run.tprof", &[], false);
    check("tree run.tprof", &[("NO_COLOR", "1")], false);
    check("tree run.tprof --color always", &[("NO_COLOR", "1")], true);
    check("tree run.tprof", &[("TERM", "dumb")], false);
    // Output for programs is never coloured.
    check("tree run.tprof --json --color always", &[], false);
    check("tree run.tprof --format csv --color always", &[], false);
}

#[test]
fn a_pipe_has_colours_only_where_they_are_asked_for() {
    let scratch = profile();
    let printed = |arguments: &[&str]| {
        let output = tinyprof(arguments, scratch.path()).env("TERM", "xterm").output();
        Ran::from(output.expect("tinyprof starts"))
    };
    assert!(!printed(&["report", "run.tprof"]).stdout.contains('\u{1b}'));
    let always = printed(&["report", "run.tprof", "--color", "always"]).stdout;
    assert!(always.starts_with(BOLD), "{always}");
    let diff =
        printed(&["diff", "run.tprof", "slow.tprof", "--fail-above", "5%", "--color", "always"]);
    assert_eq!(diff.code, Some(4));
    // A failure is red and bold, and the mark shows it without colours too.
    assert!(
        diff.stdout.contains("\u{1b}[1m\u{1b}[31munjudged") && diff.stdout.contains("+20.0%!"),
        "{}",
        diff.stdout
    );
    let error = printed(&["report", "nowhere.tprof", "--color", "always"]).stderr;
    assert!(error.starts_with("\u{1b}[1m\u{1b}[31merror:\u{1b}[0m "), "{error}");
    assert!(printed(&["report", "nowhere.tprof"]).stderr.starts_with("error: "));
}

/// The output is longer than a pipe holds, so that the writer sees the closed end.
#[test]
fn a_reader_that_leaves_early_ends_every_table_quietly() {
    let scratch = scratch();
    let many: Vec<(String, &str)> = std::iter::once(("main".to_owned(), "1"))
        .chain((0..4_000).map(|n| (format!("main<leaf_{n}"), "0.0001")))
        .collect();
    let many: Vec<(&str, &str)> =
        many.iter().map(|(path, times)| (path.as_str(), *times)).collect();
    write(scratch.path(), "run", &many);
    let commands: [&[&str]; 5] = [
        &["report", "run.tprof", "--all"],
        &["tree", "run.tprof", "--format", "csv"],
        &["top", "run.tprof", "-n", "4000"],
        &["diff", "run.tprof", "run.tprof", "--all"],
        &["diff", "run.tprof", "run.tprof", "--json"],
    ];
    for arguments in commands {
        let mut command = tinyprof(arguments, scratch.path());
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = command.spawn().expect("tinyprof starts");
        drop(child.stdout.take());
        let ran = Ran::from(child.wait_with_output().expect("tinyprof ends"));
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    }
}
