//! What a flush is to do, and what comes of it.

use std::path::{Path, PathBuf};

use tinyprof_format::file::{OutputFormat, Permissions};
use tinyprof_format::model::{ProfileId, RunMetadata, RunState};
use tinyprof_format::report::Report;

use super::workplace::Workplace;
use crate::observer::Observer;

/// How many ranks write parts of the profile. What rank 0 is told counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Aggregators {
    /// One to every sixteen ranks, which the paper found best (section VIII-A); more, but not above
    /// 64 for that, where lists are so long that an aggregator would have more than 2 MiB of
    /// summaries to encode.
    #[default]
    Auto,
    /// So many, but not more than there are ranks.
    Count(u32),
    /// One to a node, or to each run of consecutive ranks on it, where the launcher has scattered
    /// the ranks of a node: a part holds consecutive ranks.
    PerNode,
}

/// How the series of a group's ranks are gathered. The profile is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeriesGather {
    /// Padded where that sends little more, else with counts.
    #[default]
    Auto,
    /// With the summary, as one message of the same length on every rank.
    Padded,
    /// As a second message, of each rank's own length.
    Counts,
}

/// What a flush needs to know besides the measurements. Rank 0's counts where ranks differ, except
/// in precision: if one rank is to keep its times exact, all do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The name of the profile.
    pub(crate) target: PathBuf,
    /// Who writes.
    pub(crate) aggregators: Aggregators,
    /// How series are gathered.
    pub(crate) series: SeriesGather,
    /// What the aggregators write.
    pub(crate) format: OutputFormat,
    /// Who may read what this rank writes.
    pub(crate) permissions: Permissions,
    /// Whether it is a checkpoint, what there was of them before, and the number of the profile.
    pub(crate) state: RunState,
    /// Facts of the run.
    pub(crate) metadata: RunMetadata,
    /// How long phase 0 took on this rank.
    pub(crate) snapshot_ns: u64,
    /// The most bytes of one message, and of what one gather brings together: MPI counts them in an
    /// `int`. The same on all ranks.
    pub(crate) message_bytes_max: usize,
    /// Is told the number and the name of the profile on every rank, before rank 0 can complete it.
    pub(crate) on_profile_id: fn(ProfileId, &Path),
    /// Where files are written, and what else may hang is done.
    pub(crate) workplace: Workplace,
    /// Who is told how far this rank has come.
    pub(crate) observer: Observer,
}

/// What came of a flush.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Flushed {
    /// The profile, or why it was not written: the same on every rank. None if no rank had anything
    /// to write.
    pub(crate) profile: Option<Result<PathBuf, String>>,
    /// What was measured, on rank 0, unless nothing was, or the phases did not come so far.
    pub(crate) report: Option<Report>,
    /// How many ranks were to round their times and did not, because others were to keep theirs.
    pub(crate) overruled: u64,
}
