//! What users type.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

const EXIT_CODES: &str = "\
Exit codes:
  0  done, also where the reader of the output left early (tinyprof report NAME.tprof | head)
  1  the profile could not be read, or the output not be written
  2  wrong arguments";

const RECOVER_HELP: &str = "\
A program that is killed, that aborts or crashes writes no profile, but what its threads have
recorded lies in files in shared memory. This makes a profile of it, marked as incomplete, and removes
the files; ranks of one job on this host become one profile. At most the last visit of each thread
is missing. What belongs to a process that still runs, to another user, boot or version of
tinyprof is left alone, with a line that says why. Run it on the host of the program.

Exit codes:
  0  done, also where there was nothing to recover
  1  the directory could not be read, or a profile not be written; the files are still there
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
    /// Make profiles of programs that were killed, from what their threads have left in shared memory
    #[command(after_help = RECOVER_HELP)]
    Recover(RecoverArguments),
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

/// Arguments of `tinyprof recover`.
#[derive(Args, Debug)]
pub(crate) struct RecoverArguments {
    #[arg(
        value_name = "SEGMENT_DIR",
        help = "Where the threads' files are [default: TINYPROF_SEGMENT_DIR, or /dev/shm/tinyprof-UID]"
    )]
    pub(crate) directory: Option<PathBuf>,
    /// The profile's name, .tprof added where missing [default: the program's own, in this directory]
    #[arg(short, long = "output", value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        super::Arguments::command().debug_assert();
    }
}
