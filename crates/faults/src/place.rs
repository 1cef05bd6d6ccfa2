//! The directory in which a program under test runs, and its contents afterwards.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tinyprof_faults::truth::Truth;

use crate::configuration::Configuration;

/// The directory of one run:
///
/// ```text
/// out/        its working directory, where it writes its profile
/// segments/   the files of its threads
/// recovered/  what `tinyprof recover` made of them
/// truth       the program's own counts; `truth-R` for rank R
/// stdout, stderr
/// ```
pub(crate) struct Scratch {
    directory: TempDir,
    truths: Vec<Truth>,
}

impl Scratch {
    /// Creates a place for a program that visits a tree of this many levels, on one rank or `ranks`
    /// ranks.
    pub(crate) fn new(levels: u32, ranks: Option<usize>) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("tinyprof-faults-").tempdir_in(scratch())?;
        fs::create_dir(directory.path().join("out"))?;
        fs::create_dir(directory.path().join("recovered"))?;
        let names = match ranks {
            None => vec!["truth".to_owned()],
            Some(ranks) => (0..ranks).map(|rank| format!("truth-{rank}")).collect(),
        };
        let truths = names.iter().map(|name| Truth::create(&directory.path().join(name), levels));
        let truths = truths.collect::<io::Result<Vec<_>>>()?;
        Ok(Self { directory, truths })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Returns the counts of the program, or those of a job's ranks in order.
    pub(crate) fn truths(&self) -> &[Truth] {
        &self.truths
    }

    /// Returns the command that runs the program under test here.
    pub(crate) fn victim(&self, configuration: &Configuration) -> io::Result<Command> {
        let mut command = self.prepared(&executable("victim"))?;
        command.env("FAULTS_TRUTH", self.path("truth"));
        configuration.apply(&mut command);
        Ok(command)
    }

    /// Returns a command that runs here, without the settings that the loop itself runs under.
    pub(crate) fn prepared(&self, program: &Path) -> io::Result<Command> {
        let mut command = clean(program);
        command.current_dir(self.path("out"));
        command.env("TINYPROF_SEGMENT_DIR", self.path("segments")).env("TINYPROF_OUT", "p");
        command.stdin(File::open("/dev/null")?);
        command
            .stdout(File::create(self.path("stdout"))?)
            .stderr(File::create(self.path("stderr"))?);
        Ok(command)
    }

    pub(crate) fn stdout(&self) -> String {
        self.text("stdout")
    }

    pub(crate) fn stderr(&self) -> String {
        self.text("stderr")
    }

    fn text(&self, name: &str) -> String {
        fs::read(self.path(name))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    /// Keeps the directory, so that it can be inspected.
    pub(crate) fn keep(&mut self) -> &Path {
        self.directory.disable_cleanup(true);
        self.directory.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.truths.drain(..).for_each(Truth::close);
    }
}

/// Returns the command for a program that gets none of our own settings.
pub(crate) fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (variable, _) in std::env::vars_os() {
        let name = variable.to_string_lossy();
        let batch_system = ["JOB_ID", "JOBID"].iter().any(|end| name.ends_with(end));
        let ours = name.starts_with("TINYPROF") || name.starts_with("FAULTS");
        if ours || name == "COLUMNS" || name == "RUST_BACKTRACE" || batch_system {
            command.env_remove(&variable);
        }
    }
    command
}

/// Returns the path of a program that was built with this one.
pub(crate) fn executable(name: &str) -> PathBuf {
    let this = std::env::current_exe().unwrap_or_default();
    this.with_file_name(name)
}

/// Returns the directory for the directories of runs: in memory if possible, as each of thousands
/// syncs its files.
fn scratch() -> PathBuf {
    let named = std::env::var_os("FAULTS_SCRATCH").map(PathBuf::from);
    let in_memory = PathBuf::from("/dev/shm");
    named.unwrap_or_else(|| if in_memory.is_dir() { in_memory } else { std::env::temp_dir() })
}
