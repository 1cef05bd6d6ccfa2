//! Helpers that run the programs of `tests/programs` and read their profiles.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tinyprof_format::file::read_profile;
use tinyprof_format::model::{CallpathValues, Profile};

use crate::support::mpiexec;

/// Returns the executable of a test program: cargo puts examples beside the directory of the tests.
pub(crate) fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let target = test.parent().and_then(Path::parent).expect("tests lie in target/PROFILE/deps");
    target.join("examples").join(name)
}

/// Returns the `mpiexec` command for a test program, with a name for its profile.
pub(crate) fn launch(ranks: usize, name: &str, out: &Path) -> Command {
    let mut command = mpiexec(ranks);
    command.arg(program(name)).env("TINYPROF_OUT", out);
    command
}

/// The output of a command, and its exit status.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn run(command: &mut Command) -> Ended {
    let Output { status, stdout, stderr } = command.output().expect("the launcher can be started");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
}

/// Reads the profile, which must exist.
#[track_caller]
pub(crate) fn profile(path: &Path) -> Profile {
    read_profile(path).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the values of a callpath on a rank.
#[track_caller]
pub(crate) fn values<'a>(profile: &'a Profile, path: &str, rank: usize) -> &'a CallpathValues {
    let index = profile.find(path).unwrap_or_else(|| panic!("there is no callpath {path}"));
    profile.values(index, rank)
}

/// Returns the visits of each execution of a callpath on a rank.
#[track_caller]
pub(crate) fn visits(profile: &Profile, path: &str, rank: usize) -> Vec<u64> {
    values(profile, path, rank).executions.iter().map(|e| e.visits).collect()
}

/// Returns every callpath of a profile, sorted.
pub(crate) fn paths(profile: &Profile) -> Vec<String> {
    let mut paths: Vec<_> =
        profile.callpaths.iter().map(|(index, _)| profile.callpaths.path(index)).collect();
    paths.sort();
    paths
}
