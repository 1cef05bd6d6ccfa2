//! The measurement of all parts: the place of their rows, the machine, and the parts that are
//! missing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tinyprof::collect::monotonic_ns;

use crate::kept::{self, Conditions, Head, Kept, Wanted};
use crate::progress::{Expected, left_s, say, say_part};

#[derive(Debug, clap::Args)]
pub(crate) struct How {
    /// The directory for the rows
    #[arg(long)]
    pub(crate) results: PathBuf,
    /// Measure them again, even if there are rows of the same commit
    #[arg(long)]
    fresh: bool,
    /// The runs of each case; in evaluation.md half as many for what is no difference of two runs
    #[arg(long, default_value_t = 7)]
    pub(crate) repetitions: u32,
    /// Sizes of a trial, which say nothing
    #[arg(long)]
    pub(crate) small: bool,
    /// The launcher with its flags, parted by spaces; without it no program is run
    #[arg(long, default_value = "")]
    pub(crate) mpiexec: String,
    /// The directory of the examples built with the feature `enable`
    #[arg(long, default_value = ".")]
    pub(crate) on: PathBuf,
    /// The directory of those built without
    #[arg(long, default_value = ".")]
    pub(crate) off: PathBuf,
    /// The commit that is measured
    #[arg(long)]
    pub(crate) commit: String,
    /// The machine, for the page
    #[arg(long, default_value = "")]
    machine: String,
    /// Kernel and compiler, for the page
    #[arg(long, default_value = "")]
    system: String,
    /// The MPI, for the page
    #[arg(long, default_value = "")]
    mpi: String,
    /// The day
    #[arg(long, default_value = "")]
    date: String,
    /// A warning about these numbers, for the page
    #[arg(long, default_value = "")]
    note: String,
}

/// A part to measure.
#[derive(Clone, Debug)]
pub(crate) struct Task<P> {
    pub(crate) part: P,
    /// The name of its file.
    pub(crate) name: &'static str,
    pub(crate) wanted: Wanted,
    pub(crate) expected: Expected,
}

impl How {
    /// Measures those of the parts that are not there yet, one after the other, and keeps each when
    /// it is complete.
    ///
    /// # Errors
    /// If a part cannot be measured: those before it are kept.
    pub(crate) fn each_missing<P: Copy>(
        &self,
        tasks: &[Task<P>],
        measure: impl Fn(P) -> Result<Vec<Value>, String>,
    ) -> Result<(), String> {
        let is_there = |task: &&Task<P>| kept::is_there(&self.results, task.name, &task.wanted);
        let left: Vec<&Task<P>> =
            tasks.iter().filter(|task| self.fresh || !is_there(task)).collect();
        if left.len() < tasks.len() {
            let there = tasks.len() - left.len();
            let all = tasks.len();
            say(&format!("{there} of {all} parts are there already; --fresh measures them again"));
        }
        let start_ns = monotonic_ns();
        let mut done: Vec<(Expected, u64)> = Vec::new();
        for (at, task) in left.iter().enumerate() {
            let to_come: Vec<Expected> = left[at..].iter().map(|task| task.expected).collect();
            say_part(at + 1, left.len(), task.name, since(start_ns), left_s(&done, &to_come));
            let (begun_ns, load) = (monotonic_ns(), load_average());
            let rows = measure(task.part)?;
            let took_s = since(begun_ns).as_secs();
            let head = Head { wanted: task.wanted.clone(), place: self.place(), load, took_s };
            kept::write(&self.results, task.name, &Kept { head, rows })?;
            done.push((task.expected, took_s));
        }
        Ok(())
    }

    fn place(&self) -> Conditions {
        Conditions {
            date: self.date.clone(),
            machine: self.machine.clone(),
            processors: processors(),
            system: self.system.clone(),
            mpi: self.mpi.clone(),
            note: self.note.clone(),
        }
    }
}

/// Returns the number of processors that this process may use.
pub(crate) fn processors() -> u32 {
    std::thread::available_parallelism()
        .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX))
}

fn since(start_ns: u64) -> Duration {
    Duration::from_nanos(monotonic_ns() - start_ns)
}

fn load_average() -> String {
    let load = std::fs::read_to_string(Path::new("/proc/loadavg")).unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}
