//! Runs of the command in temporary directories, and profiles for them.

use std::path::Path;
use std::process::{Command, Output};

use tinyprof_format::file::{Permissions, save_profile};
use tinyprof_format::text::read_text;

/// The output of a run of the command, and its exit code.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("what is printed is UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// Returns the command, without the colour settings of the caller's environment.
pub(crate) fn tinyprof(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.args(arguments).current_dir(directory);
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(variable);
    }
    // Rules of whoever runs the tests are none of theirs.
    command.env("XDG_CONFIG_HOME", "/nowhere");
    command
}

pub(crate) fn run(arguments: &[&str], directory: &Path) -> Ran {
    tinyprof(arguments, directory).output().expect("tinyprof starts").into()
}

/// Returns standard output of a command that must succeed.
pub(crate) fn done(arguments: &[&str], directory: &Path) -> String {
    let ran = run(arguments, directory);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{arguments:?}");
    ran.stdout
}

pub(crate) fn json(arguments: &[&str], directory: &Path) -> serde_json::Value {
    serde_json::from_str(&run(arguments, directory).stdout).expect("standard output is JSON")
}

/// Writes a profile of callpaths with times in the notation of the paper's text format: seconds,
/// with `|` between ranks and `-` between executions.
pub(crate) fn write(directory: &Path, name: &str, callpaths: &[(&str, &str)]) {
    let mut text = "id,parent,tag,is_loop,times\n".to_owned();
    for (path, times) in callpaths {
        let parent = path.rsplit_once('<').map_or("null", |(parent, _)| parent);
        text.push_str(&format!("{path},{parent},null,0,{times}\n"));
    }
    let profile = read_text(text.as_bytes()).expect("it is read").profile;
    save_profile(Permissions::Private, &directory.join(name), &profile).expect("it is written");
}
