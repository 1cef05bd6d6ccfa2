//! Measures the missing parts, one after the other.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tinyprof::collect::monotonic_ns;

use crate::application::Programs;
use crate::context::Context;
use crate::kept::{self, Conditions, Head, Kept, Wanted};
use crate::parts::Part;
use crate::progress::{Expected, left_s, say, say_part};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The directory for the rows
    #[arg(long)]
    results: PathBuf,
    /// Which parts, parted by commas; all of them otherwise
    #[arg(long, value_enum, value_delimiter = ',')]
    parts: Vec<Part>,
    /// Measure them again, even if there are rows of the same commit
    #[arg(long)]
    fresh: bool,
    /// How often each case of Table II; half as often what is no difference of two runs
    #[arg(long, default_value_t = 7)]
    repetitions: u32,
    /// How long the run takes that is always on
    #[arg(long, value_name = "S", default_value_t = 600)]
    always_on_s: u64,
    /// Sizes of a trial, which say nothing
    #[arg(long)]
    small: bool,
    /// The launcher with its flags, parted by spaces; without it no program is run
    #[arg(long, default_value = "")]
    mpiexec: String,
    /// The directory of the examples built with the feature `enable`
    #[arg(long, default_value = ".")]
    on: PathBuf,
    /// The directory of those built without
    #[arg(long, default_value = ".")]
    off: PathBuf,
    /// Where the profiles are that the authors of the paper published
    #[arg(long)]
    shared_data: Option<PathBuf>,
    /// The commit that is measured
    #[arg(long)]
    commit: String,
    /// What the page says of the machine
    #[arg(long, default_value = "")]
    machine: String,
    /// What it says of kernel and compiler
    #[arg(long, default_value = "")]
    system: String,
    /// What it says of the MPI
    #[arg(long, default_value = "")]
    mpi: String,
    /// The day
    #[arg(long, default_value = "")]
    date: String,
    /// What else is to be known of these numbers
    #[arg(long, default_value = "")]
    note: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let chosen =
        if arguments.parts.is_empty() { Part::ALL.to_vec() } else { arguments.parts.clone() };
    let wanted = |part| wanted(arguments, part);
    let is_there = |part: Part| kept::is_there(&arguments.results, part.name(), &wanted(part));
    let left: Vec<Part> =
        chosen.iter().copied().filter(|&part| arguments.fresh || !is_there(part)).collect();
    if left.len() < chosen.len() {
        let there = chosen.len() - left.len();
        say(&format!(
            "{there} of {} parts are there already; --fresh measures them again",
            chosen.len()
        ));
    }
    let start_ns = monotonic_ns();
    let processors = processors();
    let expected = |part: Part| part.expected(arguments.always_on_s);
    let mut done: Vec<(Expected, u64)> = Vec::new();
    for (at, &part) in left.iter().enumerate() {
        let to_come: Vec<Expected> = left[at..].iter().map(|&part| expected(part)).collect();
        say_part(at + 1, left.len(), part.name(), since(start_ns), left_s(&done, &to_come));
        let (begun_ns, load) = (monotonic_ns(), load_average());
        let rows = part.measure(&context(arguments, processors, part))?;
        let took_s = since(begun_ns).as_secs();
        let head = Head { wanted: wanted(part), place: place(arguments, processors), load, took_s };
        kept::write(&arguments.results, part.name(), &Kept { head, rows })?;
        done.push((expected(part), took_s));
    }
    Ok(())
}

fn wanted(arguments: &Arguments, part: Part) -> Wanted {
    Wanted {
        commit: arguments.commit.clone(),
        repetitions: arguments.repetitions,
        always_on_s: if part == Part::AlwaysOn { arguments.always_on_s } else { 0 },
        small: arguments.small,
    }
}

fn place(arguments: &Arguments, processors: u32) -> Conditions {
    Conditions {
        date: arguments.date.clone(),
        machine: arguments.machine.clone(),
        processors,
        system: arguments.system.clone(),
        mpi: arguments.mpi.clone(),
        note: arguments.note.clone(),
    }
}

fn context(arguments: &Arguments, processors: u32, part: Part) -> Context {
    Context {
        programs: Programs {
            mpiexec: arguments.mpiexec.clone(),
            on: arguments.on.clone(),
            off: arguments.off.clone(),
        },
        ranks: ranks_for(processors),
        repetitions: arguments.repetitions,
        always_on_s: arguments.always_on_s,
        small: arguments.small,
        shared_data: arguments.shared_data.clone(),
        part: part.name(),
        visit_ps: OnceCell::new(),
    }
}

/// Returns the greatest power of two of ranks that each have a processor, up to 16: the sizes of
/// the transform are divisible by it.
fn ranks_for(processors: u32) -> u32 {
    1 << processors.clamp(1, 16).ilog2()
}

fn processors() -> u32 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rank_shares_its_processor() {
        assert_eq!([1, 2, 3, 6, 16, 100].map(ranks_for), [1, 2, 2, 4, 16, 16]);
    }
}
