//! Starts `flush` under mpiexec for several numbers of ranks, and keeps its rows.

use std::io::Write;
use std::path::{Path, PathBuf};
use tinyprof_bench_collective::launch::{launcher, output};

use crate::flush::Series;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The launcher with its flags, parted by spaces
    #[arg(long)]
    mpiexec: String,
    /// Numbers of ranks
    #[arg(long, value_delimiter = ',')]
    ranks: Vec<u32>,
    /// How many aggregators: all powers of two; or file per process, single file, and the default;
    /// or that alone
    #[arg(long)]
    aggregators: Choice,
    /// How often each
    #[arg(long, default_value_t = 5)]
    repetitions: u32,
    /// Callpaths of a rank
    #[arg(long, default_value_t = 50)]
    callpaths: u32,
    /// Executions
    #[arg(long, default_value_t = 20)]
    executions: u32,
    /// Visits of a callpath in an execution
    #[arg(long, default_value_t = 100)]
    iterations: u32,
    /// How series are gathered, one way after the other
    #[arg(long, value_delimiter = ',', default_value = "auto")]
    series: Vec<Series>,
    /// How many times as many visits the last rank makes
    #[arg(long, default_value_t = 1)]
    uneven: u32,
    /// The file that the rows are added to
    #[arg(long)]
    rows: PathBuf,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Choice {
    Powers,
    Strategies,
    Default,
}

impl Choice {
    fn of(self, ranks: u32) -> Vec<u32> {
        let mut counts: Vec<u32> = match self {
            Self::Powers => {
                (0..).map_while(|shift| Some(ranks >> shift).filter(|&count| count > 0)).collect()
            }
            Self::Default => vec![ranks.div_ceil(16)],
            Self::Strategies => vec![ranks, ranks.div_ceil(16), 1],
        };
        counts.dedup();
        counts
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let program =
        std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    for &ranks in &arguments.ranks {
        let scratch =
            tempfile::tempdir().map_err(|error| format!("cannot make a directory: {error}"))?;
        let counts: Vec<String> =
            arguments.aggregators.of(ranks).iter().map(u32::to_string).collect();
        let mut command = launcher(&arguments.mpiexec, ranks)?;
        command.arg(&program).arg("flush");
        command.arg("--aggregators").arg(counts.join(","));
        let series: Vec<&str> = arguments.series.iter().map(|series| series.name()).collect();
        command.arg("--series").arg(series.join(","));
        for (name, number) in [
            ("--repetitions", arguments.repetitions),
            ("--callpaths", arguments.callpaths),
            ("--executions", arguments.executions),
            ("--iterations", arguments.iterations),
            ("--uneven", arguments.uneven),
        ] {
            command.arg(name).arg(number.to_string());
        }
        command.arg("--scratch").arg(scratch.path());
        // The flush at the end of this program is not one of those measured.
        command.env("TINYPROF", "off");
        keep(&arguments.rows, &output(command)?)?;
    }
    Ok(())
}

/// Adds rows to a file.
pub(crate) fn keep(path: &Path, rows: &[u8]) -> Result<(), String> {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(rows))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aggregators_halve_from_all_ranks_to_one() {
        assert_eq!(Choice::Powers.of(16), [16, 8, 4, 2, 1]);
        assert_eq!(Choice::Strategies.of(64), [64, 4, 1]);
        assert_eq!(Choice::Strategies.of(4), [4, 1]);
        assert_eq!((Choice::Strategies.of(1), Choice::Default.of(64)), (vec![1], vec![4]));
    }
}
