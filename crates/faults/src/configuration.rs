//! The configurations of the program under test.

use std::process::Command;

/// The work of the program, and its settings of the profiler.
#[derive(Clone, Debug)]
pub(crate) struct Configuration {
    pub(crate) name: &'static str,
    pub(crate) threads: u32,
    pub(crate) levels: u32,
    /// The number of rounds, or `None` to run until killed.
    pub(crate) rounds: Option<u32>,
    pub(crate) pause_us: u32,
    pub(crate) end: &'static str,
    pub(crate) settings: &'static [(&'static str, &'static str)],
    /// True if the table is printed.
    pub(crate) report: bool,
}

/// One thread, a few callpaths, no table.
pub(crate) const PLAIN: Configuration = Configuration {
    name: "plain",
    threads: 1,
    levels: 1,
    rounds: Some(3),
    pause_us: 0,
    end: "exit",
    settings: &[],
    report: false,
};

const THREADS: Configuration =
    Configuration { name: "threads", threads: 3, end: "return", report: true, ..PLAIN };

/// With interim profiles.
const INTERIM: Configuration = Configuration {
    name: "interim",
    pause_us: 3_000,
    rounds: Some(4),
    settings: &[("TINYPROF_INTERVAL", "1ms")],
    ..PLAIN
};

/// The configurations in which allocations fail. The number of allocations grows with that of
/// callpaths.
pub(crate) const ALLOCATING: &[Configuration] = &[
    PLAIN,
    THREADS,
    INTERIM,
    Configuration { name: "growth", levels: 2, rounds: Some(1), report: true, ..PLAIN },
];

/// The configurations into which faults are injected.
pub(crate) const ALL: &[Configuration] = &[
    PLAIN,
    THREADS,
    INTERIM,
    // Lists of past executions grow with the rounds, and the files of threads with them.
    Configuration { name: "growth", levels: 3, rounds: Some(12), report: true, ..PLAIN },
];

impl Configuration {
    pub(crate) fn apply(&self, command: &mut Command) {
        command.arg(self.threads.to_string()).arg(self.levels.to_string());
        command.arg(self.rounds.map_or_else(|| "forever".to_owned(), |rounds| rounds.to_string()));
        command.arg(self.pause_us.to_string()).arg(self.end);
        command.env("TINYPROF_REPORT", if self.report { "on" } else { "off" });
        command.envs(self.settings.iter().copied());
    }
}
