//! Programs that are built as users have them, and the instructions that valgrind counts in them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Builds a package with the release profile, as far as it counts: without optimising the packages
/// that are `not_entered`, which takes most of the time of a build. Returns the file of this name.
pub(crate) fn build(package: &str, not_entered: &[&str], file: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    // Other flags give other code: the figures are for the default flags.
    cargo
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    for package in not_entered {
        cargo.args(["--config", &format!("profile.release.package.{package}.opt-level=0")]);
    }
    let build = ["build", "--locked", "--release", "-p", package];
    run(cargo.args(build).arg("--target-dir").arg(target));
    target.join("release").join(file)
}

/// Returns valgrind as it counts the instructions of the program that is its next argument.
pub(crate) fn valgrind() -> Command {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind
}

/// Runs a program under [`valgrind`], and returns its instructions.
pub(crate) fn instructions(valgrind: &mut Command) -> u64 {
    collected(&run(valgrind))
}

/// Returns the instructions of a run under [`valgrind`].
pub(crate) fn collected(output: &Output) -> u64 {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    collected
        .and_then(|(_, number)| number.trim().parse().ok())
        .unwrap_or_else(|| panic!("valgrind counted nothing:\n{text}"))
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Output {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().unwrap_or_else(|error| {
        panic!("cannot run {name}: {error}. Install it (Debian, Ubuntu, Fedora: package `{name}`), or run `make test`")
    });
    assert!(output.status.success(), "{name} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    output
}
