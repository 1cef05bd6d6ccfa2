//! Running the command and showing the result.

use std::path::Path;
use std::process::{Command, Output};

pub(crate) fn tinyprof(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.args(arguments).current_dir(directory);
    command
}

pub(crate) fn run(arguments: &[&str], directory: &Path) -> Output {
    tinyprof(arguments, directory).output().expect("tinyprof starts")
}

/// Returns the output of a run by stream, and its exit code.
pub(crate) fn shown(output: &Output) -> String {
    let code = output.status.code().map_or_else(|| "none".to_owned(), |code| code.to_string());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!(
        "exit code {code}\n--- stdout\n{}--- stderr\n{}",
        text(&output.stdout),
        text(&output.stderr)
    )
}
