//! Programs that are given commands while they run.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};

use tinyprof_format::model::Profile;

use crate::profiles::visits_by_rank;
use crate::watched::Watched;

pub(crate) const ON: (&str, &str) = ("TINYPROF_STEER", "on");

/// Returns a command to the program of a directory.
pub(crate) fn ctl(arguments: &[&str], directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tinyprof"));
    command.arg("ctl").args(arguments).arg("segments").current_dir(directory);
    command.env_remove("TINYPROF_SEGMENT_DIR").stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Gives a command, and waits for its end.
pub(crate) fn run(arguments: &[&str], directory: &Path) -> Output {
    ctl(arguments, directory).output().expect("tinyprof starts")
}

/// Returns what it has printed.
pub(crate) fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the visits of a region.
pub(crate) fn visits(profile: &Profile, name: &str) -> u64 {
    visits_by_rank(profile, name).iter().sum()
}

/// Has a program do steps until it is told to stop.
pub(crate) struct Stepping {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<(Watched, u64)>,
}

impl Stepping {
    pub(crate) fn begin(mut program: Watched) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let mut steps = 1;
            while !told.load(Relaxed) {
                program.step();
                steps += 1;
            }
            (program, steps)
        });
        Self { stop, thread }
    }

    /// Returns the program, and the number of its steps so far.
    pub(crate) fn end(self) -> (Watched, u64) {
        self.stop.store(true, Relaxed);
        self.thread.join().expect("it goes on")
    }
}
