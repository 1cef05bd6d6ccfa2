//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use crate::generate::{Graph, Kind};

/// The transitive closure of a graph, over MPI: run it under mpiexec.
#[derive(Debug, Parser)]
// Open MPI gives every rank a terminal of its own, so an apparent terminal may be a file: no
// colours.
#[command(name = "tc", version, color = clap::ColorChoice::Never)]
pub(crate) struct Arguments {
    /// The graph: lines of two vertices, or a Matrix Market file
    #[arg(value_name = "FILE", required_unless_present = "generate", conflicts_with = "generate")]
    pub(crate) file: Option<PathBuf>,

    /// A graph made by a formula instead
    #[arg(long, value_name = "KIND")]
    generate: Option<Kind>,

    /// Its vertices
    #[arg(long, value_name = "N", default_value_t = 1000)]
    vertices: u32,

    /// Its edges
    #[arg(long, value_name = "N", default_value_t = 2000)]
    edges: u64,

    /// Another number makes another graph
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    /// Find the closure so often, each time from the edges
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) repeat: u64,

    /// Find it again and again, until this many seconds have passed on rank 0
    #[arg(long, value_name = "S", conflicts_with = "repeat")]
    pub(crate) seconds: Option<u32>,

    /// Print how long that took on the slowest rank
    #[arg(long)]
    pub(crate) time: bool,

    /// Write all paths to this new file: lines of two vertices, in no order
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
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

    /// The graph that is to be made, if it is not in a file.
    pub(crate) fn graph(&self) -> Option<Graph> {
        let (vertices, edges, seed) = (self.vertices, self.edges, self.seed);
        self.generate.map(|kind| Graph { kind, vertices, edges, seed })
    }
}
