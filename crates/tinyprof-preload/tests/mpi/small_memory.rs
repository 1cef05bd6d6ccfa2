//! Containers have little memory for files, all of which MPI itself may need.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::{compile, library, mpiexec};

/// The size that Docker gives `/dev/shm`.
const SIZE: &str = "64m";

/// Returns a command that runs another one, its arguments, with a small `/dev/shm` of its own.
///
/// # Errors
/// The reason, if this machine allows no mount.
fn small_memory(size: &str) -> Result<Command, String> {
    let script = format!(r#"mount -t tmpfs -o size={size} tinyprof-test /dev/shm && exec "$@""#);
    let mut said = String::new();
    for options in [&["--mount"][..], &["--user", "--map-root-user", "--mount"]] {
        let command = || {
            let mut command = Command::new("unshare");
            command.args(options).args(["sh", "-c", &script, "sh"]);
            command
        };
        let Output { status, stderr, .. } =
            command().arg("true").output().map_err(|error| format!("unshare: {error}"))?;
        if status.success() {
            return Ok(command());
        }
        said.push_str(&String::from_utf8_lossy(&stderr));
    }
    Err(said)
}

/// Runs a program on many ranks in a small memory. Returns the exit code and the output.
fn run(program: &Path, ranks: usize, level: Option<&str>) -> Result<(Option<i32>, String), String> {
    let mut inner = mpiexec(ranks);
    inner.arg(program);
    let mut command = small_memory(SIZE)?;
    command.arg(inner.get_program()).args(inner.get_args());
    for (variable, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(variable, value),
            None => command.env_remove(variable),
        };
    }
    // The files of threads are where MPI has its own.
    command.env_remove("TINYPROF_SEGMENT_DIR").env("TINYPROF_REPORT", "off");
    if let Some(level) = level {
        command.env("TINYPROF_OUT", program.with_file_name(level)).env("TINYPROF_MPI", level);
        command.env("LD_PRELOAD", library());
    }
    let output = command.output().map_err(|error| format!("unshare: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok((output.status.code(), text))
}

#[test]
fn as_many_ranks_as_fit_into_a_small_memory_fit_with_the_library_too() {
    let scratch = tempfile::tempdir().expect("a directory can be made");
    let program = compile("adds.c", scratch.path());
    // With 15 ranks MPICH leaves 2 MiB of 64. Open MPI's files have holes.
    for ranks in [14, 15, 24] {
        let without = match run(&program, ranks, None) {
            Err(reason) => {
                eprintln!("skipped: no file system can be mounted here: {reason}");
                return;
            }
            Ok(without) => without,
        };
        if without.0 != Some(0) {
            eprintln!("skipped: {ranks} ranks do not fit without the library: {without:?}");
            return;
        }
        for level in ["calls", "messages"] {
            let with = run(&program, ranks, Some(level)).expect("it could be mounted before");
            assert_eq!(with, without, "{ranks} ranks at level {level}");
            let profile = program.with_file_name(format!("{level}.tprof"));
            std::fs::remove_dir_all(profile).expect("all ranks have written one");
        }
    }
}
