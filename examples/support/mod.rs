//! Runs an example under mpiexec at level `messages`, and reads why its ranks waited.

use std::process::Output;

use tempfile::TempDir;
use tinyprof_format::file::read_profile;
use tinyprof_format::model::Profile;
use tinyprof_why::Why;

#[path = "../../tinyprof-mpi/tests/support/mod.rs"]
mod mpi;

/// A run that has ended with the right result.
pub(crate) struct Run {
    scratch: TempDir,
    output: Output,
}

impl Run {
    /// Runs a program on `ranks` ranks in a directory of its own.
    pub(crate) fn of(program: &str, ranks: usize, arguments: &[&str]) -> Self {
        let scratch = tempfile::tempdir().expect("a directory");
        let output = mpi::mpiexec(ranks)
            .arg(program)
            .args(arguments)
            .current_dir(scratch.path())
            .env("TINYPROF_OUT", scratch.path().join("run"))
            .env("TINYPROF_REPORT", "off")
            .env("TINYPROF_MPI", "messages")
            .output()
            .expect("the launcher can be started");
        assert!(output.status.success(), "{ranks} ranks, {arguments:?}: {output:?}");
        Self { scratch, output }
    }

    /// Returns what the program says of its result: its last line, without the number of ranks.
    pub(crate) fn result(&self) -> String {
        let text = String::from_utf8_lossy(&self.output.stdout);
        let line = text.lines().last().unwrap_or_else(|| panic!("no result: {:?}", self.output));
        line.split_once("ranks, ").map_or(line, |(_, result)| result).to_owned()
    }

    /// Returns the profile.
    pub(crate) fn profile(&self) -> Profile {
        read_profile(&self.scratch.path().join("run.tprof")).expect("whole")
    }

    /// Returns the first sentence of `tinyprof why`.
    fn verdict(&self) -> String {
        Why::of_profile(&self.profile()).verdict()
    }
}

/// The attempts at a program whose ranks may lose their processors to each other.
const ATTEMPTS: usize = 3;

/// Checks that the first sentence of `tinyprof why` begins like this, and names this place.
pub(crate) fn finds(program: &str, ranks: usize, arguments: &[&str], begin: &str, place: &str) {
    let is_right = |verdict: &String| verdict.starts_with(begin) && verdict.contains(place);
    let mut verdicts: Vec<String> = Vec::new();
    while !verdicts.last().is_some_and(is_right) {
        assert!(verdicts.len() < ATTEMPTS, "{arguments:?}: {verdicts:#?}");
        verdicts.push(Run::of(program, ranks, arguments).verdict());
    }
}
