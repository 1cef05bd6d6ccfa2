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
pub(crate) struct Plan {
    /// The name of the profile.
    pub(crate) target: PathBuf,
    /// The choice of aggregators.
    pub(crate) aggregators: Aggregators,
    /// The way in which series are gathered.
    pub(crate) series: SeriesGather,
    /// The format that the aggregators write.
    pub(crate) format: OutputFormat,
    /// The permissions of the files that this rank writes.
    pub(crate) permissions: Permissions,
    /// The kind of the profile (final or interim profile), the interim profiles before it, and its
    /// number.
    pub(crate) state: RunState,
    /// Facts of the run.
    pub(crate) metadata: RunMetadata,
    /// The duration of phase 0 on this rank.
    pub(crate) snapshot_ns: u64,
    /// The largest number of bytes in one message, and in all messages of one gather together: MPI
    /// counts them in an `int`. Equal on all ranks.
    pub(crate) message_bytes_max: usize,
    /// A callback that receives the number and the name of the profile on every rank, before rank 0
    /// can complete it.
    pub(crate) on_profile_id: fn(ProfileId, &Path),
    /// The place of work on files, and of other work that may hang.
    pub(crate) workplace: Workplace,
    /// The observer of this rank's progress.
    pub(crate) observer: Observer,
}

/// The result of a flush.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Flushed {
    /// The profile, or the reason why it was not written: equal on every rank. None if no rank had
    /// anything to write.
    pub(crate) profile: Option<Result<PathBuf, String>>,
    /// The report of the measurements, on rank 0. None if nothing was measured, or the phases did
    /// not get that far.
    pub(crate) report: Option<Report>,
    /// The number of ranks that were to round their times but did not, because others were to keep
    /// theirs exact.
    pub(crate) overruled: u64,
}
