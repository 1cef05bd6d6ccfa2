//! The command line.

mod communication;
#[cfg(feature = "top")]
mod ctl;
mod diff;
mod export;
mod files;
mod help;
#[cfg(feature = "top")]
mod iterations;
mod output;
pub(crate) mod profile;
#[cfg(feature = "top")]
mod push;
mod reading;
mod rules;
mod setting;

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand};
use tinyprof_report::SortKey;

pub(crate) use communication::{
    ClassesArguments, GraphArguments, GraphFormat, GraphRanks, WaitsArguments, WhyArguments,
};
#[cfg(feature = "top")]
pub(crate) use ctl::{
    CtlAction, CtlArguments, CtlCommand, DocumentChoice, Fact, HostChoice, LiveArguments,
    OnArguments, OnJob, PlugArguments, SaveArguments, SubscribeArguments, Time,
};
pub(crate) use diff::{DiffArguments, EfficiencyArguments};
pub(crate) use export::{ExportArguments, ExportFormat};
#[cfg(feature = "top")]
pub(crate) use files::SegmentChoice;
pub(crate) use files::{
    CheckArguments, CompletionsArguments, HtmlArguments, ImportArguments, ManArguments,
    PageArguments, RecoverArguments, TimelineArguments,
};
use help::{
    CHECK_HELP, CLASSES_HELP, COMPLETIONS_HELP, DIFF_HELP, EFFICIENCY_HELP, EXIT_CODES,
    EXPORT_HELP, GRAPH_HELP, HTML_HELP, IMPORT_HELP, INFO_HELP, MAN_HELP, MPI_HELP, RECOVER_HELP,
    REPORT_HELP, RULES_HELP, RUN_HELP, TIMELINE_HELP, TOP_HELP, TREE_HELP, WAITS_HELP, WHY_HELP,
};
#[cfg(feature = "top")]
use help::{CTL_HELP, LIVE_HELP, PLUG_HELP, PUSH_HELP, SAVE_HELP};
#[cfg(feature = "top")]
pub(crate) use iterations::IterationCount;
pub(crate) use output::{Color, PlainOutput, ReportRows, Rows, TableFormat, TableOutput, WIDTHS};
#[cfg(feature = "top")]
pub(crate) use push::PushArguments;
#[cfg(feature = "top")]
pub(crate) use reading::AgentArguments;
pub(crate) use reading::{
    InfoArguments, MpiArguments, ReportArguments, Selection, TopArguments, TreeArguments,
};
pub(crate) use rules::{RuleFiles, RulesArguments, RulesCommand};
pub(crate) use setting::SettingValue;

const COLORS: &str =
    "When to use colours: auto (on a terminal, unless NO_COLOR is set), always or never";
const TOP_DIR: &str = "The profile, a directory NAME.tprof; to watch a running job, the directory of its interim profiles or of its \
     threads' files [default: TINYPROF_SEGMENT_DIR, or /dev/shm/tinyprof-UID]";
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
    /// Refuse profiles that need more memory than this [default: 1GiB]
    #[arg(long, global = true, value_name = "SIZE", value_parser = tinyprof_settings::parse::bytes)]
    pub(crate) memory: Option<u64>,
    /// Print reports that are longer than the terminal without a pager
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the callpath tree: visits, times, and how they differ from rank to rank
    #[command(after_help = REPORT_HELP)]
    Report(ReportArguments),
    /// Print why a run takes as long as it does: the cause, its place, and what to do
    #[command(after_help = WHY_HELP)]
    Why(WhyArguments),
    /// Check or list the rules by which tinyprof why and reports find more
    #[command(after_help = RULES_HELP)]
    Rules(RulesArguments),
    /// Print the efficiency of runs beside each other: POP's numbers, and how computation scales
    #[command(after_help = EFFICIENCY_HELP)]
    Efficiency(EfficiencyArguments),
    /// Print the callpath tree without times: visits and ranks of every callpath
    #[command(after_help = TREE_HELP)]
    Tree(TreeArguments),
    /// Print the hottest callpaths by exclusive time, or watch a running job
    #[command(after_help = TOP_HELP)]
    Top(TopArguments),
    /// Show a running job as a page of the browser on this host
    #[cfg(feature = "top")]
    #[command(after_help = LIVE_HELP)]
    Live(LiveArguments),
    /// Send pictures of a running job to tinyprof top on another host, which starts this
    #[cfg(feature = "top")]
    #[command(hide = true, after_help = help::AGENT_HELP)]
    Agent(AgentArguments),
    /// Print the MPI calls of a profile: functions, call sites, and messages between ranks
    #[command(after_help = MPI_HELP)]
    Mpi(MpiArguments),
    /// Print who waits for whom between ranks, in which callpaths, and for how long
    #[command(after_help = WAITS_HELP)]
    Waits(WaitsArguments),
    /// Print the phases of a program, and the classes of ranks that do the same in them
    #[command(after_help = CLASSES_HELP)]
    Classes(ClassesArguments),
    /// Write the graph of MPI calls, messages and waiting: of all ranks, some, or one of each class
    #[command(after_help = GRAPH_HELP)]
    Graph(GraphArguments),
    /// Run a program and profile its MPI calls, without a rebuild
    #[command(after_help = RUN_HELP)]
    Run(RunArguments),
    /// Compare runs by callpath: what became slower, and whether that is more than chance
    #[command(after_help = DIFF_HELP)]
    Diff(DiffArguments),
    /// Print the facts of the run: program, ranks, hosts, files, losses
    #[command(after_help = INFO_HELP)]
    Info(InfoArguments),
    /// Verify every length and checksum of a profile, and list all damage
    #[command(after_help = CHECK_HELP)]
    Check(CheckArguments),
    /// Write a profile in the format of another tool
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArguments),
    /// Write a page for the browser: one file that needs no network
    #[command(after_help = HTML_HELP)]
    Html(HtmlArguments),
    /// Write a page that shows events on a time line: when each rank did what, and waited
    #[command(after_help = TIMELINE_HELP)]
    Timeline(TimelineArguments),
    /// Make a profile from text in the paper's format, even if the text is damaged
    #[command(after_help = IMPORT_HELP)]
    Import(ImportArguments),
    /// Make profiles of killed programs, from the data that they left in shared memory
    #[command(after_help = RECOVER_HELP)]
    Recover(RecoverArguments),
    /// Write a profile of a running program, as it is now, with its events
    #[cfg(feature = "top")]
    #[command(after_help = SAVE_HELP)]
    Save(SaveArguments),
    /// Give commands to a running program: keep events for some time, hold, release; or when a
    /// condition holds
    #[cfg(feature = "top")]
    #[command(after_help = CTL_HELP)]
    Ctl(CtlArguments),
    /// Have a program of yours analyse a running job: it reads JSON documents, and tells findings
    #[cfg(feature = "top")]
    #[command(after_help = PLUG_HELP)]
    Plug(PlugArguments),
    /// Send the numbers of a running job to a site's monitoring: OTLP, OpenMetrics, or JSON lines
    #[cfg(feature = "top")]
    #[command(after_help = PUSH_HELP)]
    Push(PushArguments),
    /// Print the script with which a shell completes this command's arguments
    #[command(after_help = COMPLETIONS_HELP)]
    Completions(CompletionsArguments),
    /// Write the manual pages of this command and of its subcommands
    #[command(after_help = MAN_HELP)]
    Man(ManArguments),
}

/// Arguments of `tinyprof run`.
#[derive(Args, Debug)]
pub(crate) struct RunArguments {
    /// The profile's name; .tprof is added if missing [default: the program's name and the number
    /// of the job or process]
    #[arg(long, value_name = "NAME", value_parser = OsStringValueParser::new().try_map(setting::out))]
    pub(crate) out: Option<SettingValue>,
    /// A setting of TinyProf, such as interval=5s; may be repeated
    #[arg(short = 'o', value_name = "KEY=VALUE", value_parser = setting::parse)]
    pub(crate) settings: Vec<SettingValue>,
    #[arg(long, value_name = "FILE", help = LIBRARY)]
    pub(crate) library: Option<PathBuf>,
    /// The command and its arguments, such as mpiexec -n 4 ./a.out
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

/// Any text names a metric: a built-in one, or a key that the program records.
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
