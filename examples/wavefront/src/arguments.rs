//! The command line.

use clap::Parser;

/// Solve a triangular system in wavefronts over MPI, profiled by TinyProf
#[derive(Clone, Copy, Debug, Parser)]
// Open MPI gives every rank a terminal of its own, so an apparent terminal may be a file: no
// colours.
#[command(name = "wavefront", version, color = clap::ColorChoice::Never)]
pub(crate) struct Arguments {
    /// Points of each rank along each side of a plane
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) points: u32,
    /// Planes, one above the other
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) planes: u32,
    /// Planes that a rank computes before it tells its neighbours
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) planes_per_message: u32,
    /// Steps, each a sweep from one corner and a sweep back
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) steps: u32,
    /// This rank computes longer
    #[arg(long, value_name = "RANK")]
    pub(crate) slow_rank: Option<u32>,
    /// By this factor
    #[arg(long, value_name = "FACTOR", default_value_t = 3)]
    pub(crate) slow_by: u32,
}
