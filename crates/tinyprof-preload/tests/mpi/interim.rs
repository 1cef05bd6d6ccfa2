//! Interim profiles of programs that are not rebuilt, at collective operations on the world.

use std::path::Path;
use std::process::Output;

use tinyprof_format::file::read_profile;

use crate::support::{compile, library, mpiexec};

/// Runs three ranks whose steps end with an operation on `communicator`, with an interval.
fn run(communicator: &str, directory: &Path, variables: &[(&str, &str)]) -> Output {
    let program = compile("interim.c", directory);
    let mut command = mpiexec(3);
    command.env("TINYPROF_INTERVAL", "50ms").env("TINYPROF_KEEP", "all");
    command.env("TINYPROF_OUT", directory.join("p")).env("LD_PRELOAD", library());
    command.env("TINYPROF_REPORT", "off").envs(variables.iter().copied());
    let interim = directory.join("p-interim-0002.tprof/manifest.json");
    let output = command.arg(program).arg(communicator).arg(interim).output();
    output.expect("mpiexec starts")
}

fn said(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().filter(|line| line.starts_with("tinyprof: ")).map(str::to_owned).collect()
}

#[test]
fn interim_profiles_of_a_program_that_is_not_rebuilt() {
    for level in ["calls", "messages"] {
        let scratch = tempfile::tempdir().expect("a directory can be made");
        let output = run("world", scratch.path(), &[("TINYPROF_MPI", level)]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(said(&output), [""; 0], "{level}");
        for name in ["p-interim-0001", "p-interim-0002", "p"] {
            let path = scratch.path().join(name).with_extension("tprof");
            let profile = read_profile(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(profile.ranks.len(), 3, "{name}");
            let are_known = profile.ranks.iter().all(|rank| rank.causes.is_some());
            assert_eq!(are_known, level == "messages", "causes of {name}");
        }
    }
}

#[test]
fn a_program_without_flush_points_is_told_so_once() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let output = run("other", scratch.path(), &[]);
    assert!(output.status.success(), "{output:?}");
    let said = said(&output);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("has passed no flush point"), "{said:?}");
    // Where no calls are recorded, they are no flush points either.
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let output = run("other", scratch.path(), &[("TINYPROF_MPI", "off")]);
    assert!(output.status.success(), "{output:?}");
    assert!(!scratch.path().join("p-interim-0001.tprof").exists());
}
