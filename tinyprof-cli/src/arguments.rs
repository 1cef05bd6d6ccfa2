//! What users type.

mod diff;
mod export;
mod help;
mod output;
mod setting;

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use tinyprof_report::SortKey;

use crate::numbers::NumberList;

pub(crate) use diff::DiffArguments;
pub(crate) use export::{ExportArguments, ExportFormat};
use help::{
    CHECK_HELP, COMPLETIONS_HELP, DIFF_HELP, EXIT_CODES, EXPORT_HELP, HTML_HELP, IMPORT_HELP,
    MPI_HELP, RECOVER_HELP, RUN_HELP, TOP_HELP,
};
pub(crate) use output::{Color, PlainOutput, TableFormat, TableOutput};
pub(crate) use setting::SettingValue;

const COLORS: &str =
    "When to use colours: auto (on a terminal, unless NO_COLOR is set), always or never";
const TOP_DIR: &str = "The profile, a directory NAME.tprof; or, to watch a running job, the directory of its interim profiles or of \
     its threads' files [default: TINYPROF_SEGMENT_DIR, or /dev/shm/tinyprof-UID]";
const LIBRARY: &str = "The library to preload [default: libtinyprof_preload.so beside this command, or in ../lib or ../lib/tinyprof \
     from there]";
const SORT_METRIC: &str =
    "Show and sort by this metric: inclusive, exclusive, visits, or a key that the program records";
const DIFF_METRIC: &str =
    "Compare this metric: inclusive, exclusive, visits, or a key that the program records";

/// Read the profiles that TinyProf writes
#[derive(Debug, Parser)]
#[command(name = "tinyprof", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true, hide_default_value = true, display_order = 900, help = COLORS)]
    pub(crate) color: Color,
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Read no profile that needs more memory than this [default: 1GiB]
    #[arg(long, global = true, value_name = "SIZE", value_parser = tinyprof_settings::parse::bytes)]
    pub(crate) memory: Option<u64>,
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
    /// Print the callpaths that take the most time themselves, without what they call; or watch a
    /// job that runs
    #[command(after_help = TOP_HELP)]
    Top(TopArguments),
    /// Print the MPI calls of a profile: functions, call sites, and which ranks exchange messages
    #[command(after_help = MPI_HELP)]
    Mpi(MpiArguments),
    /// Run a program and profile its MPI calls, without a rebuild
    #[command(after_help = RUN_HELP)]
    Run(RunArguments),
    /// Compare runs callpath by callpath: what became slower, and is it more than chance
    #[command(after_help = DIFF_HELP)]
    Diff(DiffArguments),
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
    /// Make profiles of programs that were killed, from what their threads have left in shared
    /// memory
    #[command(after_help = RECOVER_HELP)]
    Recover(RecoverArguments),
    /// Print what a shell needs to complete the arguments of this command
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(CompletionsArguments),
    /// Write the manual pages of this command and of its subcommands
    #[command(after_help = EXIT_CODES)]
    Man(ManArguments),
}

/// What of a profile a command looks at.
#[derive(Args, Debug)]
pub(crate) struct Selection {
    /// Only these ranks, 0-based, such as 3,8-15
    #[arg(long = "rank", value_name = "LIST")]
    pub(crate) ranks: Option<NumberList>,
    /// Only these executions, 0-based, such as 0,3-5
    #[arg(long = "execution", value_name = "LIST")]
    pub(crate) executions: Option<NumberList>,
    /// Only this callpath and all below it, such as 'main<exchange'; shares are then those of its
    /// time
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
}

impl Selection {
    /// Whether anything may be left out.
    pub(crate) const fn is_part(&self) -> bool {
        self.ranks.is_some() || self.executions.is_some() || self.path.is_some()
    }
}

/// Arguments of `tinyprof report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[arg(long, value_name = "NAME", value_parser = metric, help = SORT_METRIC)]
    pub(crate) metric: Option<SortKey>,
    /// Show callpaths below 1 % of the time, too, instead of folding them into one line per parent
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) output: TableOutput,
}

/// Arguments of `tinyprof tree`.
#[derive(Args, Debug)]
pub(crate) struct TreeArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[arg(long, value_name = "NAME", value_parser = metric, help = SORT_METRIC)]
    pub(crate) metric: Option<SortKey>,
    #[command(flatten)]
    pub(crate) output: TableOutput,
}

/// Arguments of `tinyprof top`.
#[derive(Args, Debug)]
pub(crate) struct TopArguments {
    #[arg(value_name = "DIR", help = TOP_DIR)]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// How many callpaths
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
    #[arg(long, value_name = "NAME", value_parser = metric, help = SORT_METRIC)]
    pub(crate) metric: Option<SortKey>,
    #[command(flatten)]
    pub(crate) output: TableOutput,
    /// Of a running job: print it once, as text, with the rates of a quarter of a second, as is
    /// done where standard output is no terminal
    #[arg(long)]
    pub(crate) once: bool,
    /// Of several running jobs: this one, by a process id, by the name of its profile or program,
    /// or by its number in the batch system
    #[arg(long, value_name = "ID")]
    pub(crate) job: Option<String>,
    /// Of a running job: look anew every so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) interval: u32,
}

/// Arguments of `tinyprof mpi`.
#[derive(Args, Debug)]
pub(crate) struct MpiArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Only these ranks, 0-based, such as 3,8-15
    #[arg(long = "rank", value_name = "LIST")]
    ranks: Option<NumberList>,
    /// Only this callpath and all below it, such as 'main<exchange'; shares are then those of its
    /// time
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// How many functions, call sites, and pairs of ranks
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
    #[command(flatten)]
    pub(crate) output: TableOutput,
}

impl MpiArguments {
    /// Returns the selected part of the profile. Messages are not kept by execution.
    pub(crate) fn selection(&self) -> Selection {
        Selection { ranks: self.ranks.clone(), executions: None, path: self.path.clone() }
    }
}

/// Arguments of `tinyprof run`.
#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    /// The profile's name, .tprof added where missing [default: the name of the program with the
    /// number of the job, or of the process]
    #[arg(long, value_name = "NAME", value_parser = setting::out)]
    pub(crate) out: Option<SettingValue>,
    /// A setting of TinyProf, such as interval=5s; may be given several times
    #[arg(short = 'o', value_name = "KEY=VALUE", value_parser = setting::parse)]
    pub(crate) settings: Vec<SettingValue>,
    #[arg(long, value_name = "FILE", help = LIBRARY)]
    pub(crate) library: Option<PathBuf>,
    /// The command and its arguments, such as mpiexec -n 4 ./a.out
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

/// Arguments of `tinyprof check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Print text, json (every file with its sections and what is damaged) or csv (what is damaged)
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub(crate) format: TableFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write a profile of all that is whole, also where files or the manifest are missing
    #[arg(long, requires = "output")]
    pub(crate) salvage: bool,
    /// The name of the profile that is salvaged, .tprof added where missing
    #[arg(short, long = "output", value_name = "NAME", requires = "salvage")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `tinyprof html`.
#[derive(Args, Debug)]
pub(crate) struct HtmlArguments {
    /// The profile: a directory NAME.tprof; or two, the run before and the run after
    #[arg(value_name = "DIR", required = true, num_args = 1..=2)]
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
    /// The text, - for standard input; or the directory NAME.csv of a program that was told to
    /// write text
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The profile's name, .tprof added where missing
    #[arg(short = 'o', long = "output", value_name = "NAME")]
    pub(crate) name: PathBuf,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
}

/// Arguments of `tinyprof info`.
#[derive(Args, Debug)]
pub(crate) struct InfoArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
}

/// Arguments of `tinyprof recover`.
#[derive(Args, Debug)]
pub(crate) struct RecoverArguments {
    #[arg(
        value_name = "SEGMENT_DIR",
        help = "Where the threads' files are [default: TINYPROF_SEGMENT_DIR, or /dev/shm/tinyprof-UID]"
    )]
    pub(crate) directory: Option<PathBuf>,
    /// The profile's name, .tprof added where missing [default: the program's own, in this
    /// directory]
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub(crate) name: Option<PathBuf>,
    /// Only this job, by a process id, by the name of its profile or program, or by its number in
    /// the batch system
    #[arg(long, value_name = "ID")]
    pub(crate) job: Option<String>,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
}

/// Arguments of `tinyprof completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// Arguments of `tinyprof man`.
#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// The directory to write them to, made where it is missing
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

/// Any text names a metric: what is none of ours is a key of the program's.
fn metric(text: &str) -> Result<SortKey, Infallible> {
    Ok(SortKey::from(text))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        super::Arguments::command().debug_assert();
    }
}
