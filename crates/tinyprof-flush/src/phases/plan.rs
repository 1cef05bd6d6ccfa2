//! The plan of a flush, and its result.

use std::path::{Path, PathBuf};

use tinyprof_format::file::{OutputFormat, Permissions};
use tinyprof_format::model::{ProfileId, RunMetadata, RunState};
use tinyprof_report::Report;
use tinyprof_settings::{Aggregators, SeriesGather};

use super::workplace::Workplace;
use crate::observer::Observer;

/// The parameters of a flush besides the measurements. Those of rank 0 apply if ranks differ,
/// except for precision: if one rank is to keep its times exact, all do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The name of the profile.
    pub target: PathBuf,
    /// The choice of aggregators.
    pub aggregators: Aggregators,
    /// The way in which series are gathered.
    pub series: SeriesGather,
    /// The format that the aggregators write.
    pub format: OutputFormat,
    /// The permissions of the files that this rank writes.
    pub permissions: Permissions,
    /// The kind of the profile (final or interim profile), the interim profiles before it, and its
    /// number.
    pub state: RunState,
    /// Facts of the run.
    pub metadata: RunMetadata,
    /// The duration of phase 0 on this rank.
    pub snapshot_ns: u64,
    /// The largest number of bytes in one message, and in all messages of one gather together: MPI
    /// counts them in an `int`. Equal on all ranks.
    pub message_bytes_max: usize,
    /// A callback that receives the number and the name of the profile on every rank, before rank 0
    /// can complete it.
    pub on_profile_id: fn(ProfileId, &Path),
    /// The place of work on files, and of other work that may hang.
    pub workplace: Workplace,
    /// The observer of this rank's progress.
    pub observer: Observer,
}

/// The result of a flush.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flushed {
    /// The profile, or the reason why it was not written: equal on every rank. None if no rank had
    /// anything to write.
    pub profile: Option<Result<PathBuf, String>>,
    /// The report of the measurements, on rank 0. None if nothing was measured, or the phases did
    /// not get that far.
    pub report: Option<Report>,
    /// The number of ranks that were to round their times but did not, because others were to keep
    /// theirs exact.
    pub overruled: u64,
}
