//! The command line.

use clap::{Parser, ValueEnum};

/// Sort integers by buckets over MPI, profiled by TinyProf
#[derive(Clone, Copy, Debug, Parser)]
// Open MPI gives every rank a terminal of its own, so an apparent terminal may be a file: no
// colours.
#[command(name = "sort", version, color = clap::ColorChoice::Never)]
pub(crate) struct Arguments {
    /// Keys of all ranks together
    #[arg(long, value_name = "N", default_value_t = 1 << 20, value_parser = clap::value_parser!(u64).range(1..=1 << 31))]
    pub(crate) keys: u64,
    /// Times to sort
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,
    /// How to divide the work among ranks
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Split::Keys)]
    pub(crate) split: Split,
}

/// How to divide the work among ranks.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Split {
    /// Keys: each rank sorts as many
    Keys,
    /// Buckets: ranks in the middle, where most keys are, sort more
    Buckets,
}
