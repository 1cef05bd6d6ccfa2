//! A job whose hosts are directories.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use crate::watched::Watched;

/// A stand-in for ssh: `bad` cannot be reached, and `liar` sends nonsense.
const SHELL: &str = r#"#!/bin/sh
case $1 in
bad) echo "shell: no route to $1" >&2; exit 255 ;;
liar) echo "what is no picture"; exec cat ;;
esac
TINYPROF_SEGMENT_DIR=$(dirname "$0")/$1/segments
export TINYPROF_SEGMENT_DIR
exec sh -c "$2"
"#;

/// A job of two ranks on hosts `n0` and `n1`.
pub(crate) struct Job {
    pub(crate) place: tempfile::TempDir,
    pub(crate) ranks: [Watched; 2],
}

impl Job {
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    pub(crate) fn start_with(variables: &[(&str, &str)]) -> Self {
        let place = tempfile::tempdir().expect("a temporary directory");
        let shell = place.path().join("shell");
        fs::write(&shell, SHELL).expect("it is written");
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let rank = |number: &str| {
            let host = place.path().join(format!("n{number}"));
            fs::create_dir(&host).expect("a directory");
            let rank = [("PMI_RANK", number), ("PMI_SIZE", "2")];
            Watched::start(&host, &[&rank, variables].concat())
        };
        let ranks = [rank("0"), rank("1")];
        Self { place, ranks }
    }

    /// Returns what is shown of hosts.
    pub(crate) fn top(&self, hosts: &str) -> (Option<i32>, String) {
        self.top_with(hosts, &["--once"])
    }

    pub(crate) fn top_with(&self, hosts: &str, options: &[&str]) -> (Option<i32>, String) {
        self.run(hosts, &[&["top"], options].concat())
    }

    pub(crate) fn command(&self, hosts: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
        command.args(arguments).args(["--hosts", hosts, "--rsh"]).current_dir(self.place.path());
        command.arg(self.place.path().join("shell")).env("TINYPROF_WIDTH", "200");
        command
    }

    pub(crate) fn run(&self, hosts: &str, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.command(hosts, arguments).output().expect("tinyprof starts");
        let both = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(both).expect("text"))
    }

    pub(crate) fn end(self) {
        self.ranks.into_iter().for_each(Watched::end);
    }
}
