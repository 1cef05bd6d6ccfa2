//! What users type.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

const EXIT_CODES: &str = "\
Exit codes:
  0  done, also where the reader of the output left early (tinyprof report NAME.tprof | head)
  1  the profile could not be read, or the output not be written
  2  wrong arguments";

/// Read the profiles that TinyProf writes
#[derive(Debug, Parser)]
#[command(name = "tinyprof", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the callpath tree: visits, times, and how they differ from rank to rank
    #[command(after_help = EXIT_CODES)]
    Report(ReportArguments),
    /// Print the facts of the run: program, ranks, hosts, files, losses
    #[command(after_help = EXIT_CODES)]
    Info(InfoArguments),
}

/// Arguments of `tinyprof report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print JSON: every callpath, every number unrounded, times in nanoseconds
    #[arg(long, conflicts_with_all = ["width", "all"])]
    pub(crate) json: bool,
    /// Fit the table into N columns [default: those of the terminal, 120 elsewhere]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub(crate) width: Option<u16>,
    /// Show callpaths below 1 % of the time, too, instead of folding them into one line per parent
    #[arg(long)]
    pub(crate) all: bool,
}

/// Arguments of `tinyprof info`.
#[derive(Args, Debug)]
pub(crate) struct InfoArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print the manifest as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        super::Arguments::command().debug_assert();
    }
}
