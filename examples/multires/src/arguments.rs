//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Write a field at many resolutions in parallel, profiled by TinyProf
#[derive(Clone, Debug, Parser)]
// Open MPI gives every rank a terminal of its own, so an apparent terminal may be a file: no
// colours.
#[command(name = "multires", version, color = clap::ColorChoice::Never)]
pub(crate) struct Arguments {
    /// Each rank has a block of 2^N cells a side
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=8))]
    pub(crate) size: u32,
    /// A patch has 2^N cells a side, and N + 1 resolutions; at most a block
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=6))]
    pub(crate) patch: u32,
    /// Times to write
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) steps: u32,
    /// Ranks that write, each a file; a quarter of them if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) aggregators: Option<u32>,
    /// How to divide the work among aggregators
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = Share::Bytes)]
    pub(crate) share: Share,
    /// Directory to write to
    #[arg(long, value_name = "DIR", default_value = "multires-data")]
    pub(crate) output: PathBuf,
    /// This aggregator has a slow disk
    #[arg(long, value_name = "RANK")]
    pub(crate) slow_writer: Option<u32>,
    /// Which takes this much longer for a file, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 100)]
    pub(crate) slow_ms: u64,
}

/// How to divide the work among aggregators.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Share {
    /// Bytes, after compression
    Bytes,
    /// Patches, of which some are compressed better than others
    Patches,
}
