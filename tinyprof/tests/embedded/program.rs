//! Running of a test program in its own directory, and reading of its profile.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;
use tinyprof_format::file::read_profile;
use tinyprof_format::model::{CallpathValues, Profile};

/// A directory in which a test program runs.
pub(crate) struct Scratch {
    directory: TempDir,
    segments: TempDir,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), segments: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the command that runs test program `name` here, free of settings that the tests
    /// themselves run under.
    pub(crate) fn command(&self, name: &str) -> Command {
        self.prepared(&executable(name))
    }

    /// Returns the command that has a shell run `script`, in which `"$0"` is the test program.
    pub(crate) fn shell(&self, script: &str, name: &str) -> Command {
        let mut command = self.prepared(Path::new("/bin/sh"));
        command.arg("-c").arg(script).arg(executable(name));
        command
    }

    fn prepared(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path());
        // A separate directory, where the leftovers of a program harm nobody, outside all
        // directories that tests list.
        command.env("TINYPROF_SEGMENT_DIR", self.segments.path().join("segments"));
        for (variable, _) in std::env::vars_os() {
            let name = variable.to_string_lossy();
            let batch_system = ["JOB_ID", "JOBID"].iter().any(|end| name.ends_with(end));
            let is_ours = name.starts_with("TINYPROF") && name != "TINYPROF_SEGMENT_DIR";
            if is_ours || name == "COLUMNS" || name == "RUST_BACKTRACE" || batch_system {
                command.env_remove(&variable);
            }
        }
        command
    }

    /// Returns the names of all files here, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        names(self.path())
    }

    /// Returns the only profile here.
    pub(crate) fn profile(&self) -> Profile {
        let names = self.names();
        assert_eq!(names.len(), 1, "{names:?}");
        self.read(&names[0])
    }

    pub(crate) fn read(&self, name: &str) -> Profile {
        read_profile(&self.path().join(name)).unwrap()
    }
}

/// Returns the names of all files in a directory, in order.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn executable(name: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap();
    let target = this.parent().and_then(Path::parent).unwrap();
    let path = target.join("examples").join(name);
    assert!(path.exists(), "{} is missing: `cargo test -p tinyprof` builds it", path.display());
    path
}

/// Runs a test program with one argument and no table, and reads its profile.
pub(crate) fn profile_of(name: &str, argument: &str) -> (Output, Profile) {
    let place = Scratch::new();
    let output = place.command(name).arg(argument).env("TINYPROF_REPORT", "off").output().unwrap();
    (output, place.profile())
}

/// Returns each callpath with its values on the only rank.
pub(crate) fn values(profile: &Profile) -> BTreeMap<String, &CallpathValues> {
    assert_eq!(profile.ranks.len(), 1);
    let all = profile.callpaths.iter();
    all.map(|(index, _)| (profile.callpaths.path(index), profile.values(index, 0))).collect()
}

/// Returns each callpath with its visits over all executions.
pub(crate) fn visits(profile: &Profile) -> Vec<(String, u64)> {
    values(profile).into_iter().map(|(path, values)| (path, values.visits())).collect()
}

/// Compares callpaths and visits, in any order.
pub(crate) fn check_visits(profile: &Profile, expected: &[(&str, u64)]) {
    let mut expected: Vec<_> =
        expected.iter().map(|&(path, visits)| (path.to_owned(), visits)).collect();
    expected.sort();
    assert_eq!(visits(profile), expected);
}

pub(crate) fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Returns all files of a directory with their contents, to detect any change.
pub(crate) fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| (name.clone(), fs::read(directory.join(OsStr::new(&name))).unwrap());
    names(directory).into_iter().map(read).collect()
}
