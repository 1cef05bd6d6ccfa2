//! The command line.

use clap::{Parser, ValueEnum};

/// Estimate pi by random numbers, with a master and workers over MPI, profiled by TinyProf
#[derive(Clone, Copy, Debug, Parser)]
// Open MPI gives every rank a terminal of its own, so an apparent terminal may be a file: no
// colours.
#[command(name = "pi", version, color = clap::ColorChoice::Never)]
pub(crate) struct Arguments {
    /// Standard error of the estimate at which it is good enough
    #[arg(long, value_name = "E", default_value_t = 0.001, value_parser = standard_error)]
    pub(crate) error: f64,
    /// Packets of work between two estimates
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) packets: u64,
    /// Points in a packet
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub(crate) points: u64,
    /// Where random numbers are drawn
    #[arg(long, value_enum, value_name = "WHO", default_value_t = Draw::Master)]
    pub(crate) draw: Draw,
    /// The regions of the workers
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Regions::Packets)]
    pub(crate) regions: Regions,
    /// Print how long the master and the slowest worker took
    #[arg(long)]
    pub(crate) time: bool,
}

/// The regions of the workers.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Regions {
    /// Packets: what measuring costs is nothing beside the work
    Packets,
    /// Each point: measuring takes several times as long as the work
    Points,
}

/// Where random numbers are drawn.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Draw {
    /// The master, who sends them
    Master,
    /// Workers, to whom the master says which
    Workers,
}

fn standard_error(text: &str) -> Result<f64, String> {
    let error: f64 = text.parse().map_err(|error| format!("{error}"))?;
    // Four times as many points halve it: 10^-5 takes 2.7 * 10^11 points.
    if error >= 1e-5 { Ok(error) } else { Err("expected at least 0.00001".to_owned()) }
}
