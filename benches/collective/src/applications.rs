//! The paper's Table II: what profiling adds to an application.
//!
//! Annotation is counted and multiplied: the visits of the busiest rank, times what a visit costs on this machine,
//! measured in the same run. The difference of two runs of the application would drown in their noise.

use std::hint::black_box;
use std::path::{Path, PathBuf};

use tinyprof::collect::monotonic_ns;
use tinyprof_bench_collective::rows::{ApplicationRow, median};
use tinyprof_format::file::read_profile;
use tinyprof_format::model::{CallpathValues, Profile};

use crate::measure::{launcher, output};
use crate::print_row;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The launcher with its flags, parted by spaces
    #[arg(long)]
    mpiexec: String,
    /// The program `fft`
    #[arg(long)]
    fft: PathBuf,
    /// What to run: runs of the transform, ranks and points, as in 20:4:4194304
    #[arg(long, value_delimiter = ',', default_value = "20:4:4194304,20:16:4194304,3000:4:65536")]
    runs: Vec<String>,
    /// How often each
    #[arg(long, default_value_t = 3)]
    repetitions: u32,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let visit_ps = visit_ps();
    for text in &arguments.runs {
        let words: Vec<Option<u32>> = text.split(':').map(|word| word.parse().ok()).collect();
        let &[Some(runs), Some(ranks), Some(size)] = words.as_slice() else {
            return Err(format!("--runs {text}: expected RUNS:RANKS:POINTS, three numbers"));
        };
        for repetition in 0..arguments.repetitions {
            let scratch = tempfile::tempdir().map_err(|error| format!("cannot make a directory: {error}"))?;
            let name = scratch.path().join("fft.tprof");
            let mut command = launcher(&arguments.mpiexec, ranks)?;
            command
                .arg(&arguments.fft)
                .arg("--runs")
                .arg(runs.to_string())
                .arg("--size")
                .arg(size.to_string());
            command.env("TINYPROF_OUT", &name).env("TINYPROF_REPORT", "off").env_remove("TINYPROF");
            output(command)?;
            print_row(&row(&name, runs, ranks, size, repetition, visit_ps)?)?;
        }
    }
    Ok(())
}

fn row(
    profile: &Path,
    runs: u32,
    ranks: u32,
    size: u32,
    repetition: u32,
    visit_ps: u64,
) -> Result<ApplicationRow, String> {
    let profile = read_profile(profile).map_err(|error| error.to_string())?;
    let most = |of: fn(&CallpathValues) -> u64, which: fn(&Profile, usize) -> bool| -> u64 {
        let rows = || (0..profile.callpaths.len()).filter(|&row| which(&profile, row));
        let of_rank = |rank: usize| rows().map(|row| of(&profile.values[row][rank])).sum();
        (0..profile.ranks.len()).map(of_rank).max().unwrap_or_default()
    };
    let visits = most(CallpathValues::visits, |_, _| true);
    let root = |profile: &Profile, row: usize| profile.callpaths.rows()[row].parent.is_none();
    let flush = profile.manifest.flush;
    Ok(ApplicationRow {
        name: format!("FFT-{runs}"),
        ranks,
        repetition,
        size: u64::from(size),
        application_ns: most(CallpathValues::inclusive_ns, root),
        visits,
        annotation_ns: visits * visit_ps / 1000,
        io_ns: flush.snapshot_ns + flush.synchronise_ns + flush.aggregate_ns + flush.write_ns,
    })
}

#[tinyprof::profile]
fn measured(number: u64) -> u64 {
    black_box(number)
}

#[tinyprof::profile]
fn around(visits: u64) -> u64 {
    (0..visits).map(measured).sum()
}

/// What a visit costs, in picoseconds: the median of some rounds in which nothing else is done.
fn visit_ps() -> u64 {
    const VISITS: u64 = 100_000;
    let rounds = (0..51).map(|_| {
        let start_ns = monotonic_ns();
        black_box(around(VISITS));
        (monotonic_ns() - start_ns) * 1000 / VISITS
    });
    median(rounds.collect::<Vec<_>>())
}
