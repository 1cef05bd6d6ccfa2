//! The pager on a terminal. The terminal is `script` (of bsdutils, which every Linux has).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Ran, run, scratch, write};

/// Writes a profile whose report has more than 24 lines, and a pager that puts a mark around what
/// it reads.
fn profile() -> tempfile::TempDir {
    let scratch = scratch();
    let names: Vec<String> = (0..60).map(|at| format!("main<leaf_{at}")).collect();
    let leaves = names.iter().map(|name| (name.as_str(), "0.01"));
    write(scratch.path(), "long", &[("main", "0.9")].into_iter().chain(leaves).collect::<Vec<_>>());
    write(scratch.path(), "short", &[("main", "0.5")]);
    let pager = scratch.path().join("pager");
    fs::write(&pager, "#!/bin/sh\necho \"[$LESS $*\"; cat; echo ]\n").expect("it is written");
    fs::set_permissions(&pager, fs::Permissions::from_mode(0o755)).expect("it is executable");
    scratch
}

/// Runs the command on a terminal of 24 lines.
fn on_terminal(arguments: &str, environment: &[(&str, &str)], directory: &Path) -> Ran {
    let command =
        format!("stty cols 120 rows 24 && '{}' {arguments}", env!("CARGO_BIN_EXE_tinyprof"));
    let mut script = Command::new("script");
    script.args(["-q", "-e", "-c", &command, "/dev/null"]).current_dir(directory);
    script.env("TERM", "xterm").env("SHELL", "/bin/sh").env("NO_COLOR", "1");
    for variable in ["PAGER", "TINYPROF_PAGER", "LESS"] {
        script.env_remove(variable);
    }
    script.envs(environment.iter().copied()).stdin(Stdio::null());
    Ran::from(script.output().expect("script starts: it is in bsdutils or util-linux-script"))
}

const ALL: &str = "tree long.tprof";

#[test]
fn long_reports_go_through_the_pager() {
    let scratch = profile();
    let printed = run(&["tree", "long.tprof", "--width", "120"], scratch.path()).stdout;
    let check = |arguments: &str, environment: &[(&str, &str)], expected: Option<&str>| {
        let ran = on_terminal(arguments, environment, scratch.path());
        let text = ran.stdout.replace("\r\n", "\n");
        assert_eq!(ran.code, Some(0), "{arguments} {environment:?}: {text}");
        match expected {
            Some(first) => assert_eq!(text, format!("[{first}\n{printed}]\n")),
            None => assert!(!text.starts_with('[') && !text.ends_with("]\n"), "{text}"),
        }
    };
    check(ALL, &[("PAGER", "./pager")], Some("FRX "));
    check(ALL, &[("PAGER", "./pager -N"), ("LESS", "S")], Some("S -N"));
    check(ALL, &[("PAGER", "A='a b' ./pager \"$A\"")], Some("FRX "));
    check(ALL, &[("PAGER", "more"), ("TINYPROF_PAGER", "./pager")], Some("FRX "));
    check(ALL, &[("PAGER", "./pager"), ("TINYPROF_PAGER", "")], None);
    check(ALL, &[("PAGER", "cat")], None);
    check("--no-pager tree long.tprof", &[("PAGER", "./pager")], None);
    check("tree short.tprof", &[("PAGER", "./pager")], None);
    check("tree long.tprof > out && tail -n 3 out", &[("PAGER", "./pager")], None);
}

#[test]
fn a_pager_that_ends_early_is_no_error_and_a_missing_one_none() {
    let scratch = profile();
    let on = |arguments: &str, pager| on_terminal(arguments, &[("PAGER", pager)], scratch.path());
    for pager in ["true", "false", "kill -9 $$", "head -n 1"] {
        let ran = on(ALL, pager);
        assert_eq!(ran.code, Some(0), "{pager}: {}", ran.stdout);
        assert!(!ran.stdout.contains("error"), "{pager}: {}", ran.stdout);
    }
    let ran = on(ALL, "no-such-pager");
    assert!(ran.stdout.contains("note: the pager no-such-pager cannot be started"));
    assert!(ran.stdout.contains("leaf_59"), "{}", ran.stdout);
}

#[test]
fn the_exit_code_is_that_of_the_command() {
    let scratch = profile();
    let environment = [("PAGER", "./pager")];
    let diff = "diff long.tprof short.tprof --all --fail-above 1%";
    let ran = on_terminal(diff, &environment, scratch.path());
    assert_eq!(ran.code, run(&diff.split(' ').collect::<Vec<_>>(), scratch.path()).code);
    assert!(ran.stdout.starts_with("[FRX"), "{}", ran.stdout);
    let ran = on_terminal("waits long.tprof", &environment, scratch.path());
    assert_eq!(ran.code, Some(1), "{}", ran.stdout);
}

/// The pager waits for a key until it is told that the report has been seen.
#[test]
fn less_shows_the_first_page_and_leaves_at_q() {
    if Command::new("less").arg("--version").output().is_err() {
        eprintln!("less is not installed: its part of the test is left out");
        return;
    }
    let scratch = profile();
    let ran = on_terminal("tree long.tprof", &[("LESS", "FRX +q")], scratch.path());
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    let printed = run(&["tree", "long.tprof"], scratch.path()).stdout;
    assert!(ran.stdout.lines().count() < printed.lines().count(), "{}", ran.stdout);
}
