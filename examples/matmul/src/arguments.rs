//! The command line.

use clap::Parser;

/// Multiply two matrices around a ring of MPI ranks, profiled by TinyProf
#[derive(Clone, Copy, Debug, Parser)]
// Open MPI gives every rank a terminal of its own, so an apparent terminal may be a file: no
// colours.
#[command(name = "matmul", version, color = clap::ColorChoice::Never)]
pub(crate) struct Arguments {
    /// Rows of each rank
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rows: u32,
    /// Products, one after the other
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) repeat: u32,
    /// This rank pauses before it passes its block on
    #[arg(long, value_name = "RANK")]
    pub(crate) slow_rank: Option<u32>,
    /// For this long, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 20)]
    pub(crate) pause_ms: u64,
    /// Print how long the stages took, as the mean of all ranks
    #[arg(long)]
    pub(crate) time: bool,
}
