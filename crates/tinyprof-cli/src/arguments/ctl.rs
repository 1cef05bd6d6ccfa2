//! Arguments of the commands for jobs that run: `ctl`, `live`, `plug` and `save`.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use tinyprof_segment::control::ARGUMENT_BYTES_MAX;
use tinyprof_settings::{Trigger, TriggerAction, parse, pattern};

use super::files::SegmentChoice;
use super::iterations::IterationCount;
use super::output::PlainOutput;

const REGION_PATTERNS: &str = "Patterns as of TINYPROF_FILTER, such as '-*fields_at*', in place of those before; '+*' to record all";
const METRIC_PATTERNS: &str =
    "Patterns of their keys, such as '-alloc_bytes', in place of those before; '+*' to record all";

/// Arguments of `tinyprof ctl`.
#[derive(Args, Debug)]
pub(crate) struct CtlArguments {
    #[command(subcommand)]
    pub(crate) command: CtlCommand,
}

/// The commands to a running job.
#[derive(Debug, Subcommand)]
pub(crate) enum CtlCommand {
    /// Print which commands the job obeys, and what its ranks do
    Status(OnJob),
    /// Keep every visit and message for some time, and write them
    Record {
        /// For how long, such as 5s or 500ms
        #[arg(long = "for", value_name = "TIME", default_value = "5s")]
        time: Time,
        /// The profile's name; with .pftrace also a file for ui.perfetto.dev [default: the
        /// program's own, and -recorded, in this directory]
        #[arg(short = 'o', long = "output", value_name = "OUT")]
        name: Option<PathBuf>,
        #[command(flatten)]
        on: OnJob,
    },
    /// Hold all ranks where a region or call of MPI ends, while this command runs
    Hold {
        /// For how long, at most 60s
        #[arg(long = "for", value_name = "TIME", default_value = "60s")]
        time: Time,
        #[command(flatten)]
        on: OnJob,
    },
    /// End a hold or a recording
    Release(OnJob),
    /// Do something when a condition holds, such as 'imbalance["solve"] > 0.3'
    On(OnArguments),
    /// Begin another part of the run, at one flush point of all ranks, and write the one before
    Reset(OnJob),
    /// Begin another part of the run, in which patterns say which regions are recorded
    Filter {
        #[arg(value_name = "PATTERNS", allow_hyphen_values = true, value_parser = short_patterns, help = REGION_PATTERNS)]
        patterns: String,
        #[command(flatten)]
        on: OnJob,
    },
    /// Begin another part of the run, in which patterns say which metrics are recorded
    Metrics {
        #[arg(value_name = "PATTERNS", allow_hyphen_values = true, value_parser = short_patterns, help = METRIC_PATTERNS)]
        patterns: String,
        #[command(flatten)]
        on: OnJob,
    },
    /// Measure nothing, at full speed, until tinyprof ctl on
    Off(OnJob),
    /// Print the facts of the job for another program, a JSON document a line, until it ends
    Subscribe(SubscribeArguments),
}

/// The job, and the form of the output.
#[derive(Args, Clone, Debug)]
pub(crate) struct OnJob {
    #[command(flatten)]
    pub(crate) segments: SegmentChoice,
    #[command(flatten)]
    pub(crate) hosts: HostChoice,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
    /// Write for the process that has started this one on its host, until it goes.
    #[arg(long, hide = true)]
    pub(crate) packed: bool,
    /// Whoever gives the command on another host, and its date.
    #[arg(long, hide = true, value_name = "DATE:NAME")]
    pub(crate) by: Option<String>,
}

impl OnJob {
    /// Returns the choice of a command that is no `ctl`.
    pub(crate) fn of(segments: &SegmentChoice, hosts: &HostChoice) -> Self {
        let (segments, hosts) = (segments.clone(), hosts.clone());
        Self { segments, hosts, output: PlainOutput::default(), packed: false, by: None }
    }
}

/// Arguments of `tinyprof live`.
#[derive(Args, Debug)]
pub(crate) struct LiveArguments {
    #[command(flatten)]
    pub(crate) segments: SegmentChoice,
    #[command(flatten)]
    pub(crate) hosts: HostChoice,
    /// Look every SECONDS
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) interval: u32,
    /// How many iterations of its loop the job has, or visits of a region, as in solve=900:
    /// tells the time that is left
    #[arg(long, value_name = "[REGION=]N")]
    pub(crate) iterations: Option<IterationCount>,
    /// The port of 127.0.0.1 [default: any that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub(crate) port: u16,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
}

/// The hosts of a job.
#[derive(Args, Clone, Debug)]
pub(crate) struct HostChoice {
    /// A job on these hosts, such as n1,n2; those of a job of Slurm are known from --job
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// Start tinyprof there by this command, which takes a host and a command [default: ssh]
    #[arg(long = "rsh", value_name = "COMMAND", requires = "hosts")]
    pub(crate) remote_shell: Option<String>,
}

/// Arguments of `tinyprof ctl on`.
#[derive(Args, Debug)]
pub(crate) struct OnArguments {
    /// The condition, as tinyprof top --until takes it; without one, measuring is switched on again
    #[arg(value_name = "CONDITION")]
    condition: Option<String>,
    /// The actions, in this order
    #[arg(long = "do", value_name = "LIST", value_delimiter = ',', default_value = "notify")]
    pub(crate) actions: Vec<CtlAction>,
    /// How often at most; each time after it did not hold
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) times: u32,
    /// For record and hold: for how long
    #[arg(long = "for", value_name = "TIME", default_value = "5s")]
    pub(crate) time: Time,
    /// For record and save: the profile's name
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub(crate) name: Option<PathBuf>,
    /// Look every SECONDS
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) interval: u32,
    #[command(flatten)]
    pub(crate) on: OnJob,
}

impl OnArguments {
    /// Returns what a job that `tinyprof run` has started is watched for. Looks every second.
    pub(crate) fn of_run(trigger: &Trigger, on: OnJob) -> Self {
        let action = |action: &TriggerAction| match action {
            TriggerAction::Notify => CtlAction::Notify,
            TriggerAction::Save => CtlAction::Save,
            TriggerAction::Record => CtlAction::Record,
            TriggerAction::Hold => CtlAction::Hold,
        };
        Self {
            condition: Some(trigger.condition.clone()),
            actions: trigger.actions.iter().map(action).collect(),
            times: trigger.times,
            time: Time(trigger.time),
            name: None,
            interval: 1,
            on,
        }
    }

    /// Returns the condition; `None` if measuring is to be switched on again.
    pub(crate) fn condition(&self) -> Option<String> {
        self.condition.clone().filter(|_| self.directory().is_none())
    }

    /// Returns the job on which measuring is to be switched on.
    pub(crate) fn job(&self) -> OnJob {
        let mut on = self.on.clone();
        on.segments.directory = self.directory().or(on.segments.directory);
        on
    }

    /// Returns the directory of the job, if it is all that is given. No condition is the name of
    /// one.
    fn directory(&self) -> Option<PathBuf> {
        let only = self.condition.as_ref().filter(|_| self.on.segments.directory.is_none());
        only.map(PathBuf::from).filter(|only| only.is_dir())
    }
}

/// Arguments of `tinyprof ctl subscribe`.
#[derive(Args, Debug)]
pub(crate) struct SubscribeArguments {
    #[command(flatten)]
    pub(crate) segments: SegmentChoice,
    #[command(flatten)]
    pub(crate) hosts: HostChoice,
    /// Print a document every SECONDS
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) interval: u32,
    #[command(flatten)]
    pub(crate) choice: DocumentChoice,
}

/// The part of a document that its reader wants.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct DocumentChoice {
    /// Only these facts, and always those of the job itself
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) facts: Option<Vec<Fact>>,
    /// Only callpaths that patterns of their name or path let in, such as 'main<solve*,-*wait*'
    #[arg(long = "callpath", value_name = "PATTERNS", allow_hyphen_values = true, value_parser = patterns)]
    pub(crate) callpaths: Option<String>,
}

/// A fact of a document that not every reader wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fact {
    /// The parallel efficiency and its two factors
    Efficiency,
    /// What ranks did since the document before: computation, communication, files
    Activity,
    /// The iteration that ranks have reached
    Loop,
    /// The verdict of tinyprof why
    Why,
    /// Waiting by cause, and findings
    Causes,
    /// Ranks that do not move
    Still,
    /// Hosts that do not answer
    Missing,
    /// What could not be recorded
    Losses,
    /// A row for each callpath
    Callpaths,
}

/// Parses patterns of names.
fn patterns(text: &str) -> Result<String, &'static str> {
    if pattern::is_list(text) {
        Ok(text.to_owned())
    } else {
        Err("expected patterns with commas between them, such as 'solve*' or '-*wait*,+main'")
    }
}

/// Parses patterns of names that fit into a command.
fn short_patterns(text: &str) -> Result<String, String> {
    if text.len() > ARGUMENT_BYTES_MAX {
        let found = text.len();
        return Err(format!("expected at most {ARGUMENT_BYTES_MAX} bytes, found {found}"));
    }
    Ok(patterns(text)?)
}

/// Arguments of `tinyprof plug`.
#[derive(Args, Debug)]
pub(crate) struct PlugArguments {
    #[arg(
        long,
        value_name = "DIR",
        help = "The directory of the threads' files [default: TINYPROF_SEGMENT_DIR, or /dev/shm/tinyprof-UID]"
    )]
    pub(crate) directory: Option<PathBuf>,
    /// The job, as tinyprof top takes it
    #[arg(long, value_name = "ID")]
    pub(crate) job: Option<String>,
    #[command(flatten)]
    pub(crate) hosts: HostChoice,
    /// Send a document every SECONDS
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) interval: u32,
    #[command(flatten)]
    pub(crate) choice: DocumentChoice,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true)]
    pub(crate) command: Vec<OsString>,
}

/// Arguments of `tinyprof save`.
#[derive(Args, Debug)]
pub(crate) struct SaveArguments {
    /// The profile's name; .tprof is added if missing [default: the program's own, and -saved, in
    /// this directory]
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub(crate) name: Option<PathBuf>,
    /// Save it each TIME, such as 5m, as NAME-interim-0001.tprof and so on, until the job has ended
    #[arg(long, value_name = "TIME")]
    pub(crate) every: Option<Time>,
    /// With --every, keep the newest N profiles
    #[arg(long, value_name = "N", default_value_t = 2, requires = "every", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep: u32,
    #[command(flatten)]
    pub(crate) on: OnJob,
}

/// An action to take when a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CtlAction {
    /// Print a line
    Notify,
    /// Write a profile of the job as it is
    Save,
    /// Keep events for some time, and write them
    Record,
    /// Hold the job
    Hold,
}

/// A time with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time(Duration);

impl Time {
    /// Returns it in ns; the greatest number, if it is longer.
    pub(crate) fn ns(self) -> u64 {
        u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
    }
}

impl From<Time> for Duration {
    fn from(time: Time) -> Self {
        time.0
    }
}

/// As it is parsed.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0.as_millis())
    }
}

impl FromStr for Time {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let time = parse::duration(text).filter(|time| !time.is_zero());
        time.map(Self).ok_or("expected a time with its unit, such as 5s, 500ms or 2m")
    }
}
