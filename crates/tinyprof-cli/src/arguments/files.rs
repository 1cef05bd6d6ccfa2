//! Arguments of the commands that check profiles, or make files.

use std::path::PathBuf;

use clap::Args;

use super::{PlainOutput, RuleFiles, Selection, TableFormat, profile};
use crate::events::EventSelection;
use crate::numbers::NumberList;

/// Arguments of `tinyprof check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR", value_parser = profile::directory)]
    pub(crate) directory: PathBuf,
    /// Print text, json (every file with its sections and damage) or csv (the damage)
    #[arg(long, value_name = "FORMAT", default_value = "text", hide_possible_values = true)]
    pub(crate) format: TableFormat,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write a profile of all intact data, even if files or the manifest are missing
    #[arg(long, requires = "output")]
    pub(crate) salvage: bool,
    /// The name of the salvaged profile; .tprof is added if missing
    #[arg(short, long = "output", value_name = "NAME", requires = "salvage")]
    pub(crate) output: Option<PathBuf>,
}

/// Arguments of `tinyprof html`.
#[derive(Args, Debug)]
#[command(
    override_usage = "tinyprof html [OPTIONS] DIR [DIR]\n       tinyprof html [OPTIONS] --base DIR... --new DIR..."
)]
pub(crate) struct HtmlArguments {
    /// The profile: a directory NAME.tprof; or two, the run before and the run after
    #[arg(
        value_name = "DIR",
        num_args = 1..=2,
        required_unless_present = "base",
        conflicts_with = "base",
        value_parser = profile::directory
    )]
    directories: Vec<PathBuf>,
    /// The runs to compare with
    #[arg(long, value_name = "DIR", num_args = 1.., requires = "new", value_parser = profile::directory)]
    base: Vec<PathBuf>,
    /// The runs to compare
    #[arg(long, value_name = "DIR", num_args = 1.., requires = "base", value_parser = profile::directory)]
    new: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) rules: RuleFiles,
    #[command(flatten)]
    pub(crate) page: PageArguments,
}

/// The place of a page, and whether to open it.
#[derive(Args, Debug)]
pub(crate) struct PageArguments {
    /// The file to write, - for standard output [default: NAME.html, NAME-timeline.html for a time
    /// line, in this directory]
    #[arg(short, long = "output", value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long)]
    pub(crate) force: bool,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
}

/// Arguments of `tinyprof timeline`.
#[derive(Args, Debug)]
pub(crate) struct TimelineArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR", value_parser = profile::directory)]
    pub(crate) directory: PathBuf,
    /// Only these ranks, 0-based, such as 3,8-15; more than 64 are represented by 64 of them
    #[arg(long = "rank", alias = "ranks", value_name = "LIST")]
    pub(crate) ranks: Option<NumberList>,
    /// Only this callpath and those below it, such as 'main<exchange' or main/exchange; a name is
    /// enough if it is unique
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    #[command(flatten)]
    pub(crate) events: EventSelection,
    #[command(flatten)]
    pub(crate) page: PageArguments,
}

impl HtmlArguments {
    /// The runs to compare with, and those to show; the first are none if there is one profile.
    pub(crate) fn sides(&self) -> (&[PathBuf], &[PathBuf]) {
        match self.directories.as_slice() {
            [] => (&self.base, &self.new),
            [only] => (&[], std::slice::from_ref(only)),
            [base, new, ..] => (std::slice::from_ref(base), std::slice::from_ref(new)),
        }
    }
}

/// Arguments of `tinyprof import`.
#[derive(Args, Debug)]
pub(crate) struct ImportArguments {
    /// The text, - for standard input; or the directory NAME.csv of a run that wrote text
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The profile's name; .tprof is added if missing
    #[arg(short = 'o', long = "output", value_name = "NAME")]
    pub(crate) name: PathBuf,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
}

/// The segments that a command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct SegmentChoice {
    #[arg(
        value_name = "SEGMENT_DIR",
        help = "The directory of the threads' files [default: TINYPROF_SEGMENT_DIR, or /dev/shm/tinyprof-UID]"
    )]
    pub(crate) directory: Option<PathBuf>,
    /// Only this job: a process id, the name of its profile or program, or its number in the batch
    /// system
    #[arg(long, value_name = "ID")]
    pub(crate) job: Option<String>,
}

/// Arguments of `tinyprof recover`.
#[derive(Args, Debug)]
pub(crate) struct RecoverArguments {
    /// The profile's name; .tprof is added if missing [default: the program's own, in this
    /// directory]
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub(crate) name: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) segments: SegmentChoice,
    /// All jobs, or all that --job fits: without it, several are listed and left alone
    #[arg(long)]
    pub(crate) all: bool,
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
    /// The output directory, which is made if missing
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
