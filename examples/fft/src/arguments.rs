//! The command line.

use std::process::ExitCode;

use clap::Parser;

/// A parallel FFT over MPI: run it under mpiexec.
#[derive(Debug, Parser)]
// Open MPI gives every rank a terminal of its own, so an apparent terminal may be a file: no
// colours.
#[command(name = "fft", version, color = clap::ColorChoice::Never)]
pub(crate) struct Arguments {
    /// Points of the transform: a multiple of the square of the number of ranks
    /// [default: the largest P*P*2^k up to 2^18]
    #[arg(long, value_name = "N")]
    pub(crate) size: Option<usize>,

    /// How many times to transform: each run is one execution in the profile
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: u32,

    /// Compare with a serial transform (up to 2^20 points) and transform back
    #[arg(long)]
    pub(crate) verify: bool,

    /// Print how long the runs took on the slowest rank
    #[arg(long)]
    pub(crate) time: bool,
}

impl Arguments {
    /// Reads the command line, after MPI is up, so that one rank alone `is_reporter`.
    ///
    /// # Errors
    ///
    /// The code to exit with: of a command line that cannot be read, and of `--help` and
    /// `--version`.
    pub(crate) fn read(is_reporter: bool) -> Result<Self, ExitCode> {
        Self::try_parse().map_err(|error| {
            if is_reporter {
                // If the terminal is gone, nobody can read the error.
                drop(error.print());
            }
            if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
        })
    }
}
