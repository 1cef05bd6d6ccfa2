//! Runs of the programs under mpiexec, and what `tinyprof` says of their profiles.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use tinyprof::collect::monotonic_ns;
use tinyprof_bench_collective::launch::{launcher, output};

use crate::how::How;

/// The level at which a run is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Nothing: built without the feature `enable`.
    Off,
    Messages,
    /// Messages, and as many events as fit into 32 MiB of each thread.
    Events,
}

impl Level {
    fn settings(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Off => &[],
            Self::Messages => &[("TINYPROF_MPI", "messages")],
            Self::Events => &[
                ("TINYPROF_MPI", "messages"),
                ("TINYPROF_EVENTS", "ring"),
                ("TINYPROF_EVENTS_MEMORY", "32MiB"),
            ],
        }
    }
}

/// A program with its arguments, separated by spaces.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) program: &'static str,
    pub(super) ranks: u32,
    pub(super) arguments: String,
    pub(super) level: Level,
}

impl Job {
    pub(super) fn new(program: &'static str, ranks: u32, arguments: &str, level: Level) -> Self {
        Self { program, ranks, arguments: arguments.to_owned(), level }
    }
}

/// A run that has ended well.
#[derive(Debug)]
pub(super) struct Run {
    /// From the start of the launcher to its end.
    pub(super) took_ns: u64,
    pub(super) printed: String,
    scratch: TempDir,
}

impl Run {
    pub(super) fn profile(&self) -> PathBuf {
        self.scratch.path().join("run.tprof")
    }

    /// Returns the number after these words in what the program has printed.
    pub(super) fn seconds_after(&self, words: &str) -> Result<f64, String> {
        let found =
            self.printed.split(words).nth(1).and_then(|rest| rest.split_whitespace().next());
        let seconds = found.and_then(|text| text.parse().ok());
        seconds.ok_or_else(|| format!("expected \"{words} N s\", found {:?}", self.printed))
    }
}

/// The programs and the command, and how they are started.
#[derive(Debug)]
pub(super) struct Jobs {
    mpiexec: String,
    on: PathBuf,
    off: PathBuf,
    tinyprof: PathBuf,
    pub(super) repetitions: u32,
    small: bool,
}

impl Jobs {
    pub(super) fn new(how: &How, tinyprof: &Path) -> Self {
        Self {
            mpiexec: how.mpiexec.clone(),
            on: how.on.clone(),
            off: how.off.clone(),
            tinyprof: tinyprof.to_owned(),
            repetitions: how.repetitions,
            small: how.small,
        }
    }

    /// Returns the arguments of a case: the second ones in a trial.
    pub(super) fn size(&self, full: &'static str, small: &'static str) -> &'static str {
        if self.small { small } else { full }
    }

    /// Runs it once, in a directory of its own.
    pub(super) fn run(&self, job: &Job) -> Result<Run, String> {
        let scratch =
            tempfile::tempdir().map_err(|error| format!("cannot make a directory: {error}"))?;
        let directory = if job.level == Level::Off { &self.off } else { &self.on };
        let mut command = launcher(&self.mpiexec, job.ranks)?;
        let program = directory.canonicalize().unwrap_or_else(|_| directory.clone());
        command.arg(program.join(job.program)).args(job.arguments.split_whitespace());
        command.current_dir(scratch.path());
        // The user's settings are for other programs.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("TINYPROF") {
                command.env_remove(name);
            }
        }
        command.env("TINYPROF_OUT", scratch.path().join("run")).env("TINYPROF_REPORT", "off");
        command.envs(job.level.settings().iter().copied());
        let start_ns = monotonic_ns();
        let printed = output(command)?;
        let took_ns = monotonic_ns() - start_ns;
        Ok(Run { took_ns, printed: String::from_utf8_lossy(&printed).into_owned(), scratch })
    }

    /// Returns what `tinyprof COMMAND PROFILE` prints.
    pub(super) fn ask(&self, words: &[&str], run: &Run) -> Result<Vec<u8>, String> {
        let mut command = Command::new(&self.tinyprof);
        command.args(words).arg(run.profile());
        output(command)
    }

    /// Returns how the second runs differ from the first, as JSON.
    pub(super) fn diff(&self, base: &[Run], new: &[Run]) -> Result<Value, String> {
        let mut command = Command::new(&self.tinyprof);
        command.args(["diff", "--json", "--base"]).args(base.iter().map(Run::profile));
        command.arg("--new").args(new.iter().map(Run::profile));
        serde_json::from_slice(&output(command)?).map_err(|error| format!("tinyprof diff: {error}"))
    }

    /// Returns what it prints as JSON.
    pub(super) fn json(&self, words: &[&str], run: &Run) -> Result<Value, String> {
        let printed = self.ask(&[words, &["--json"]].concat(), run)?;
        serde_json::from_slice(&printed).map_err(|error| format!("tinyprof {words:?}: {error}"))
    }
}

/// Returns the number at this place, such as `/overhead/timing_ns`.
pub(super) fn number(value: &Value, place: &str) -> Result<f64, String> {
    let found = value.pointer(place).and_then(Value::as_f64);
    found.ok_or_else(|| format!("expected a number at {place}, found {:?}", value.pointer(place)))
}

/// Returns the rows of a list; none if it is missing.
pub(super) fn rows<'a>(value: &'a Value, place: &str) -> impl Iterator<Item = &'a Value> {
    value.pointer(place).and_then(Value::as_array).into_iter().flatten()
}

pub(super) fn text<'a>(value: &'a Value, place: &str) -> &'a str {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the sum of a number over the callpaths of a report whose last region has this name.
pub(super) fn sum_of(report: &Value, name: &str, place: &str) -> f64 {
    let named = rows(report, "/callpaths").filter(|row| text(row, "/name") == name);
    // An empty sum would be -0.
    named.filter_map(|row| row.pointer(place)?.as_f64()).sum::<f64>() + 0.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_found_by_their_place_and_missing_ones_are_told() {
        let report = json!({"mpi": {"calls": 3}, "callpaths": [
            {"name": "send", "inclusive_ns": {"sum": 4}}, {"name": "send", "inclusive_ns": {"sum": 5}},
            {"name": "other", "inclusive_ns": {"sum": 90}}]});
        assert_eq!(number(&report, "/mpi/calls"), Ok(3.0));
        assert!(number(&report, "/mpi/none").unwrap_err().contains("/mpi/none"));
        assert_eq!(sum_of(&report, "send", "/inclusive_ns/sum"), 9.0);
        assert_eq!(rows(&report, "/none").count(), 0);
    }
}
