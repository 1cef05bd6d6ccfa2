//! A job of a program, and what is seen of one run of it.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use crate::support::{library, mpiexec};

/// One start of a program by `mpiexec`.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) program: String,
    pub(crate) executable: PathBuf,
    pub(crate) ranks: usize,
    /// The one case that the job runs. Otherwise it runs all cases that share a job.
    pub(crate) case: Option<String>,
}

/// The level of the library in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Off,
    Calls,
    Messages,
    Enforce,
}

/// What is seen of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) code: Option<i32>,
    /// The lines of each process, by its name.
    pub(crate) lines: BTreeMap<String, Vec<String>>,
    /// Sorted, as ranks write in any order.
    pub(crate) output: Vec<String>,
    /// Not compared: launchers name processes there.
    pub(crate) errors: String,
    pub(crate) has_profile: bool,
}

impl Job {
    /// Returns whether all cases without a job of their own are run.
    pub(crate) fn is_shared(&self) -> bool {
        self.case.is_none()
    }

    /// Runs the job, without the library if there is no level. A job of several cases leaves out
    /// those up to `after`.
    pub(crate) fn run(&self, level: Option<Level>, after: Option<&str>) -> Seen {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let lines = directory.path().join("lines");
        fs::create_dir(&lines).expect("a fresh directory");
        let mut command = mpiexec(self.ranks);
        // Half a second is usual.
        command.env("MPIEXEC_TIMEOUT", "60").env("CONFORMANCE_LINES", &lines);
        command.current_dir(&directory).stdin(Stdio::null());
        if let Some(level) = level {
            command.env("LD_PRELOAD", library()).env("TINYPROF_OUT", directory.path().join("p"));
            command.env("TINYPROF_SEGMENT_DIR", directory.path().join("segments"));
            command.env("TINYPROF_REPORT", "off").env("TINYPROF_MPI", level.setting());
            command.envs(env::var_os("CONFORMANCE_STEER").map(|steer| ("TINYPROF_STEER", steer)));
            if level == Level::Enforce {
                command.env("TINYPROF_ORDER", "enforce");
            }
        }
        command.arg(&self.executable).args(&self.case);
        if let Some(after) = after {
            command.args(["after", after]);
        }
        let run = command.output().expect("mpiexec starts");
        let mut output: Vec<String> = String::from_utf8_lossy(&run.stdout)
            .lines()
            // MPICH's launcher says in a frame how a job ended, with the number of a process.
            .filter(|line| !line.is_empty() && !line.starts_with('='))
            .map(str::to_owned)
            .collect();
        output.sort();
        Seen {
            code: run.status.code(),
            lines: read_lines(&lines),
            output,
            errors: String::from_utf8_lossy(&run.stderr).into_owned(),
            has_profile: directory.path().join("p.tprof").exists(),
        }
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program)?;
        self.case.iter().try_for_each(|case| write!(f, " {case}"))
    }
}

impl Level {
    pub(crate) const ALL: [Self; 4] = [Self::Off, Self::Calls, Self::Messages, Self::Enforce];
    pub(crate) const QUICK: [Self; 2] = [Self::Calls, Self::Enforce];

    fn setting(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Calls => "calls",
            Self::Messages | Self::Enforce => "messages",
        }
    }

    /// Returns whether the library may make objects of MPI while the program runs, so that MPI
    /// gives other numbers to those of the program.
    pub(crate) fn makes_objects(self) -> bool {
        matches!(self, Self::Messages | Self::Enforce)
    }
}

fn read_lines(directory: &PathBuf) -> BTreeMap<String, Vec<String>> {
    let entries = fs::read_dir(directory).expect("just made").flatten();
    let read = |path: PathBuf| {
        let text = String::from_utf8_lossy(&fs::read(path).expect("a process has written it"))
            .into_owned();
        text.lines().map(str::to_owned).collect()
    };
    entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), read(entry.path())))
        .collect()
}
