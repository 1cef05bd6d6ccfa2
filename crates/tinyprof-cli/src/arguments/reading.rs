//! Arguments of the commands that print a profile, and of the part that they print.

use std::path::PathBuf;

use clap::Args;
use tinyprof_report::SortKey;

#[cfg(feature = "top")]
use super::iterations::IterationCount;
use super::{
    PlainOutput, ReportRows, Rows, RuleFiles, SORT_METRIC, TOP_DIR, TableOutput, metric, profile,
};
use crate::numbers::NumberList;

/// The part of a profile that a command reads.
#[derive(Args, Debug, Default)]
pub(crate) struct Selection {
    /// Only these ranks, 0-based, such as 3,8-15
    #[arg(long = "rank", alias = "ranks", value_name = "LIST")]
    pub(crate) ranks: Option<NumberList>,
    /// Only these executions, 0-based, such as 0,3-5
    #[arg(long = "execution", value_name = "LIST")]
    pub(crate) executions: Option<NumberList>,
    /// Only this callpath and those below it, such as 'main<exchange' or main/exchange; a name is
    /// enough if it is unique; shares are of its time
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
}

impl Selection {
    /// Returns the selected ranks of `count`. The other ranks have no values, and cannot be
    /// distinguished by that from ranks that visited nothing.
    pub(crate) fn ranks_of(&self, count: usize) -> Vec<usize> {
        let is_selected = |rank: u32| self.ranks.as_ref().is_none_or(|list| list.contains(rank));
        let numbered = (0_u32..).zip(0..count);
        numbered.filter(|(number, _)| is_selected(*number)).map(|(_, rank)| rank).collect()
    }
}

impl Selection {
    /// Returns true if anything may be left out.
    pub(crate) const fn is_part(&self) -> bool {
        self.ranks.is_some() || self.executions.is_some() || self.path.is_some()
    }
}

/// Arguments of `tinyprof report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR", value_parser = profile::directory)]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[arg(long, value_name = "NAME", value_parser = metric, help = SORT_METRIC)]
    pub(crate) metric: Option<SortKey>,
    /// Print a row for each callpath, or region (procedure), or another table: by call site, loop,
    /// MPI function or partner
    #[arg(long, value_name = "ROWS", default_value = "callpath", hide_default_value = true)]
    pub(crate) by: ReportRows,
    /// Show all callpaths or regions, instead of folding small ones
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) rules: RuleFiles,
    #[command(flatten)]
    pub(crate) output: TableOutput,
}

/// Arguments of `tinyprof tree`.
#[derive(Args, Debug)]
pub(crate) struct TreeArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR", value_parser = profile::directory)]
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
    #[arg(value_name = "DIR", help = TOP_DIR, value_parser = profile::directory)]
    pub(crate) directory: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// The number of callpaths or regions
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) count: u64,
    #[arg(long, value_name = "NAME", value_parser = metric, help = SORT_METRIC)]
    pub(crate) metric: Option<SortKey>,
    /// Print a row for each callpath or region; a region is summed over its callpaths
    #[arg(long, value_name = "ROWS", default_value = "callpath", hide_default_value = true)]
    pub(crate) by: Rows,
    #[command(flatten)]
    pub(crate) output: TableOutput,
    /// Print a running job once, as text, with the rates over a quarter of a second; the default
    /// if standard output is not a terminal
    #[arg(long)]
    pub(crate) once: bool,
    /// Watch until this holds, such as 'efficiency < 0.5' or 'imbalance["solve"] > 0.3', and print
    /// that picture; fails if the job ends before
    #[arg(long, value_name = "CONDITION")]
    pub(crate) until: Option<String>,
    /// Watch this one of several jobs: a process id, the name of its profile or program, or its
    /// number in the batch system
    #[arg(long, value_name = "ID")]
    pub(crate) job: Option<String>,
    /// Watch a job on these hosts, such as n1,n2: an agent is started on each; those of a job of
    /// Slurm are known from --job
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// Start agents by this command, which takes a host and a command [default: ssh]
    #[arg(long = "rsh", value_name = "COMMAND", requires = "hosts")]
    pub(crate) remote_shell: Option<String>,
    /// Update the screen of a running job every SECONDS
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) interval: u32,
    /// How many iterations of its loop the job has, or visits of a region, as in solve=900:
    /// tells the time that is left
    #[cfg(feature = "top")]
    #[arg(long, value_name = "[REGION=]N")]
    pub(crate) iterations: Option<IterationCount>,
}

/// Arguments of `tinyprof agent`.
#[cfg(feature = "top")]
#[derive(Args, Debug)]
pub(crate) struct AgentArguments {
    #[arg(value_name = "DIR", help = TOP_DIR, value_parser = profile::directory)]
    pub(crate) directory: Option<PathBuf>,
    /// This host, and others for which it starts agents in turn
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    pub(crate) hosts: Vec<String>,
    /// The job, as tinyprof top takes it
    #[arg(long, value_name = "ID")]
    pub(crate) job: Option<String>,
    /// Send a picture every SECONDS
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) interval: u32,
    /// Send all that ranks have measured every SECONDS, at most 16 MiB for a host
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) measurements: Option<u32>,
    /// Start agents by this command, which takes a host and a command [default: ssh]
    #[arg(long = "rsh", value_name = "COMMAND")]
    pub(crate) remote_shell: Option<String>,
    /// Start agents in this job of Slurm
    #[arg(long, value_name = "ID", conflicts_with = "remote_shell")]
    pub(crate) slurm_job: Option<String>,
}

/// Arguments of `tinyprof mpi`.
#[derive(Args, Debug)]
pub(crate) struct MpiArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR", value_parser = profile::directory)]
    pub(crate) directory: PathBuf,
    /// Only these ranks, 0-based, such as 3,8-15
    #[arg(long = "rank", value_name = "LIST")]
    ranks: Option<NumberList>,
    /// Only this callpath and those below it, such as 'main<exchange' or main/exchange; a name is
    /// enough if it is unique; shares are of its time
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// The number of functions, call sites, and pairs of ranks
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

/// Arguments of `tinyprof info`.
#[derive(Args, Debug)]
pub(crate) struct InfoArguments {
    /// The profile: a directory NAME.tprof
    #[arg(value_name = "DIR", value_parser = profile::directory)]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) output: PlainOutput,
}
