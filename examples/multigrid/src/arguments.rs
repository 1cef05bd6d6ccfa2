//! The command line.

use clap::Parser;

/// Solve Poisson's equation by multigrid over MPI, profiled by TinyProf
#[derive(Clone, Copy, Debug, Parser)]
// Open MPI gives every rank a terminal of its own, so an apparent terminal may be a file: no
// colours.
#[command(name = "multigrid", version, color = clap::ColorChoice::Never)]
pub(crate) struct Arguments {
    /// Each rank has a block of 2^N cells a side
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) size: u32,
    /// Grids, each twice as coarse as the one before; at most as many as halve the block
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=9))]
    pub(crate) levels: u32,
    /// Cycles at most
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cycles: u32,
    /// This rank computes longer
    #[arg(long, value_name = "RANK")]
    pub(crate) slow_rank: Option<u32>,
    /// By this factor
    #[arg(long, value_name = "FACTOR", default_value_t = 3)]
    pub(crate) slow_by: u32,
}
