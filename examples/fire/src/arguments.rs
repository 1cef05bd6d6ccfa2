//! The command line.

use clap::{Parser, ValueEnum};

/// Spread a forest fire, with a master and workers over MPI, profiled by TinyProf
#[derive(Clone, Debug, Parser)]
// Open MPI gives every rank a terminal of its own, so an apparent terminal may be a file: no
// colours.
#[command(name = "fire", version, color = clap::ColorChoice::Never)]
pub(crate) struct Arguments {
    /// Points of the line of the fire
    #[arg(long, value_name = "N", default_value_t = 40_000, value_parser = clap::value_parser!(u32).range(3..=10_000_000))]
    pub(crate) points: u32,
    /// Steps of time
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) steps: u32,
    /// Cells of the weather along each side
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(3..=10_000))]
    pub(crate) weather: u32,
    /// Evaluations of the fuel at a point in a step; at the head of the fire four times as many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) fuel: u32,
    /// Mend a cause of waiting; may be given several times
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) remedy: Vec<Remedy>,
}

/// A remedy for one cause of waiting.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Remedy {
    /// The master computes the weather while workers compute, not after they have answered
    Overlap,
    /// Messages are sent as they lie in memory, not packed value by value
    Datatypes,
    /// Memory for the line is taken once, not in each step
    Memory,
}
