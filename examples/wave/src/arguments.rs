//! The command line.

use std::process::ExitCode;

use clap::Parser;

/// Solve the wave equation on a line over MPI, profiled by TinyProf
#[derive(Clone, Copy, Debug, Parser)]
// Open MPI gives every rank a terminal of its own, so an apparent terminal may be a file: no
// colours.
#[command(name = "wave", version, color = clap::ColorChoice::Never)]
pub(crate) struct Arguments {
    /// Points of each rank
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) points: u32,
    /// Steps of time
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub(crate) steps: u32,
    /// This rank computes longer
    #[arg(long, value_name = "RANK")]
    pub(crate) slow_rank: Option<u32>,
    /// By this factor
    #[arg(long, value_name = "FACTOR", default_value_t = 3)]
    pub(crate) slow_by: u32,
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
