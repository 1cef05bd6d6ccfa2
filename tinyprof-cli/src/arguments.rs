//! What users type.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::ranks::RankList;

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

const CHECK_HELP: &str = "\
Verifies the length and the checksum of every file and every section, and that what they hold fits
together. Every damaged section is listed with its offset and what it holds, not only the first.

Exit codes:
  0  the profile is whole
  1  it is damaged, or cannot be read at all
  2  wrong arguments";

const EXPORT_HELP: &str = "\
tinyprof-csv is the text format of the paper that TinyProf implements: a line for each callpath, its
times in seconds with | between ranks, - between executions and + between the visits of a loop. What
would read as a delimiter in a name is written as % and two hexadecimal digits. Nanoseconds come back
exactly when it is imported; varying metrics and places in the source are not in it. An existing
file is never overwritten.

Exit codes:
  0  done, also where the reader of the output left early
  1  the profile could not be read, or the text not be written
  2  wrong arguments";

const HTML_HELP: &str = "\
The page shows where the time goes, on which rank, in which iteration and since when: a summary with
hints, the callpath tree and a flame graph, ranks, iterations and executions. It opens from disk and
loads nothing. Of wide profiles neighbouring ranks share a column, of deep ones the costliest callpaths
have values by rank; the page says so. An existing file is never overwritten.

Exit codes:
  0  done, also where the reader of the output left early
  1  the profile could not be read, or the page not be written
  2  wrong arguments";

const IMPORT_HELP: &str = "\
Reads the text format of the paper that TinyProf implements, also from damaged files: ranks that ran
together, broken numbers, missing columns, a file that was cut off. Each problem is named with line and
rank on standard error; what can be read is kept, what was lost is counted, and the profile is then
marked as incomplete. A value whose rank is not certain is lost, never guessed. Ids may be
joined by <, > or -. A profile's name that is taken is never used again: a number is added.

Exit codes:
  0  done, nothing was lost
  1  the file could not be read at all, or the profile not be written
  2  done, but something was lost; also wrong arguments, where nothing is done";

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
    /// Print the callpath tree alone: visits and ranks of every callpath, nothing folded
    #[command(after_help = EXIT_CODES)]
    Tree(TreeArguments),
    /// Print the callpaths that take the most time themselves, without what they call
    #[command(after_help = EXIT_CODES)]
    Top(TopArguments),
    /// Print the facts of the run: program, ranks, hosts, files, losses
    #[command(after_help = EXIT_CODES)]
    Info(InfoArguments),
    /// Verify every length and checksum of a profile, and list all that is damaged
    #[command(after_help = CHECK_HELP)]
    Check(CheckArguments),
    /// Write a profile in a format of other tools
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArguments),
    /// Write a page for the browser: one file that needs no network
    #[command(after_help = HTML_HELP)]
    Html(HtmlArguments),
    /// Make a profile of a text in the paper's format, also of a damaged one
    #[command(after_help = IMPORT_HELP)]
    Import(ImportArguments),
    /// Make profiles of programs that were killed, from what their threads have left in shared memory
    #[command(after_help = RECOVER_HELP)]
    Recover(RecoverArguments),
}

/// What of a profile a command looks at.
#[derive(Args, Debug)]
pub(crate) struct Selection {
    /// Only these ranks, 0-based
    #[arg(long = "rank", value_name = "LIST")]
    pub(crate) ranks: Option<RankList>,
    /// Only this callpath and all below it, such as 'main<exchange'; shares are then those of its time
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
}

/// Arguments of `tinyprof report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
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

/// Arguments of `tinyprof tree`.
#[derive(Args, Debug)]
pub(crate) struct TreeArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Print JSON: path, name, depth, ranks and visits of every callpath
    #[arg(long, conflicts_with = "width")]
    pub(crate) json: bool,
    /// Fit the tree into N columns [default: those of the terminal, 120 elsewhere]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub(crate) width: Option<u16>,
}

/// Arguments of `tinyprof top`.
#[derive(Args, Debug)]
pub(crate) struct TopArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How many callpaths
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
    /// Print JSON: every number unrounded, times in nanoseconds
    #[arg(long, conflicts_with = "width")]
    pub(crate) json: bool,
    /// Fit the list into N columns [default: those of the terminal, 120 elsewhere]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(20..=1000))]
    pub(crate) width: Option<u16>,
}

/// Arguments of `tinyprof check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print JSON: every file with its sections and what is damaged
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a profile can be written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// The paper's text format
    TinyprofCsv,
}

/// Arguments of `tinyprof export`.
#[derive(Args, Debug)]
pub(crate) struct ExportArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The format to write
    #[arg(long = "to", value_name = "FORMAT")]
    pub(crate) format: ExportFormat,
    /// The file to write, - for standard output
    #[arg(short, long = "output", value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}

/// Arguments of `tinyprof html`.
#[derive(Args, Debug)]
pub(crate) struct HtmlArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR", required = true, num_args = 1)]
    pub(crate) directories: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// The file to write, - for standard output
    #[arg(short, long = "output", value_name = "FILE")]
    pub(crate) output: PathBuf,
}

/// Arguments of `tinyprof import`.
#[derive(Args, Debug)]
pub(crate) struct ImportArguments {
    /// The text, - for standard input; or the directory NAME.csv of a program that was told to write text
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The profile's name, .tprof added where missing
    #[arg(short, long = "output", value_name = "NAME")]
    pub(crate) output: PathBuf,
    /// Print JSON: the profile's name, and every problem with line, rank and lost values
    #[arg(long)]
    pub(crate) json: bool,
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
