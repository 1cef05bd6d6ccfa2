//! The manifest: the one file of a profile that people open in an editor.

use serde::{Deserialize, Serialize};

use super::{Losses, Precision, ProfileId};

/// The value of the manifest's `format` key.
pub const FORMAT_NAME: &str = "tinyprof";

/// The version of a profile's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FormatVersion {
    /// Readers refuse a greater one.
    pub major: u16,
    /// Readers accept a greater one and ignore what they do not know.
    pub minor: u16,
}

impl FormatVersion {
    /// What this crate writes.
    pub const CURRENT: Self = Self { major: 1, minor: 0 };
}

/// Facts of the run, under the keys that users of Adiak and Thicket expect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunMetadata {
    /// The login name of the user.
    #[serde(skip_serializing_if = "is_nothing")]
    pub user: String,
    /// Seconds since 1970-01-01 UTC at which recording began.
    #[serde(skip_serializing_if = "is_nothing")]
    pub launchdate: u64,
    /// The path of the program.
    #[serde(skip_serializing_if = "is_nothing")]
    pub executable: String,
    /// The program and its arguments.
    #[serde(skip_serializing_if = "is_nothing")]
    pub cmdline: Vec<String>,
    /// The name of the machine.
    #[serde(skip_serializing_if = "is_nothing")]
    pub cluster: String,
    /// The batch system's job id, where there is one.
    #[serde(skip_serializing_if = "is_nothing")]
    pub jobid: Option<String>,
    /// The number of ranks.
    #[serde(skip_serializing_if = "is_nothing")]
    pub jobsize: u32,
    /// The number of hosts.
    #[serde(skip_serializing_if = "is_nothing")]
    pub numhosts: u32,
    /// The hosts, each once, in the order of their first rank.
    #[serde(skip_serializing_if = "is_nothing")]
    pub hostlist: Vec<String>,
    /// What the MPI library calls itself; none without MPI.
    #[serde(skip_serializing_if = "is_nothing")]
    pub mpi_version: Option<String>,
    /// The version of the profiler.
    #[serde(skip_serializing_if = "is_nothing")]
    pub tinyprof_version: String,
    /// What times were read from: `tsc` or `clock_monotonic`.
    #[serde(skip_serializing_if = "is_nothing")]
    pub clock: String,
    /// What measuring one visit costs on the machine of rank 0, in picoseconds; 0 where it is not
    /// known.
    #[serde(skip_serializing_if = "is_nothing")]
    pub visit_cost_ps: u64,
    /// What a visit costs there that a budget lets only be counted, in picoseconds; 0 where it is
    /// not known.
    #[serde(skip_serializing_if = "is_nothing")]
    pub counted_visit_cost_ps: u64,
    /// The filter of regions (`TINYPROF_FILTER`) of rank 0, where there is one.
    #[serde(skip_serializing_if = "is_nothing")]
    pub filter: Option<String>,
    /// The regions that it took out, `module::name`, of those that rank 0 came to; none where that
    /// is not known.
    #[serde(skip_serializing_if = "is_nothing")]
    pub regions_filtered: Option<Vec<String>>,
}

/// The file `callpaths`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallpathFile {
    /// Its name inside the profile.
    pub file: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// The CRC-32 of its bytes.
    pub crc32: u32,
    /// The number of callpaths in it.
    pub callpaths: u32,
}

/// One `part-NNNNN`: what one aggregator wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartFile {
    /// Its name inside the profile.
    pub file: String,
    /// The first rank in it.
    pub first_rank: u32,
    /// The number of ranks in it.
    pub ranks: u32,
    /// Its length in bytes.
    pub bytes: u64,
    /// The CRC-32 of its bytes.
    pub crc32: u32,
}

/// How long rank 0 spent in each phase of the flush, in nanoseconds, until the manifest was
/// written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseTimes {
    /// Phase 0: the snapshot of this rank's threads.
    pub snapshot_ns: u64,
    /// Phase 1: agreeing on the callpath dictionary.
    pub synchronise_ns: u64,
    /// Phase 2: gathering to the aggregators.
    pub aggregate_ns: u64,
    /// Phase 3: writing the parts.
    pub write_ns: u64,
}

impl PhaseTimes {
    /// All phases together, in nanoseconds.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        [self.snapshot_ns, self.synchronise_ns, self.aggregate_ns, self.write_ns]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// What the checkpoints of a run cost so far, as rank 0 counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckpointTimes {
    /// Checkpoints that were written before this profile.
    pub written: u32,
    /// Checkpoints that could not be written.
    pub failed: u32,
    /// The time that they took together, in nanoseconds, with the time that rank 0 waited for other
    /// ranks.
    pub total_ns: u64,
}

/// What was lost when a damaged profile was salvaged. Its values are those of no visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Salvage {
    /// Whether the manifest was lost, and with it the facts of the run.
    pub manifest_lost: bool,
    /// Callpaths whose names, places and parents were lost: they are root regions `[callpath N]`
    /// now.
    pub callpaths_unnamed: u32,
    /// Whether hints and constants of regions were lost.
    pub constants_lost: bool,
    /// Parts of which only a part could be read.
    pub parts_damaged: u32,
    /// Parts that were missing, or of which nothing could be read.
    pub parts_lost: u32,
    /// The ranks of these parts.
    pub ranks_lost: u32,
    /// Ranks whose host, process id and losses were lost.
    pub ranks_without_facts: u32,
    /// Sections of times that were lost: each is one callpath on the ranks of one part.
    pub times_lost: u64,
    /// Sections of metrics that were lost.
    pub metrics_lost: u64,
    /// Bytes of the parts that belong to no section that could be read.
    pub bytes_lost: u64,
}

impl Salvage {
    /// What was lost, in words: `the times of 2 callpaths on some ranks, 64 ranks`.
    #[must_use]
    pub fn summary(&self) -> String {
        let counted = |count: u64, one: &str, many: &str| {
            let noun = if count == 1 { one } else { many };
            (count > 0).then(|| format!("{count} {noun}"))
        };
        let lost = [
            self.manifest_lost.then(|| "the facts of the run".to_owned()),
            counted(self.callpaths_unnamed.into(), "callpath's name", "callpaths' names"),
            self.constants_lost.then(|| "the constants of regions".to_owned()),
            counted(self.ranks_lost.into(), "rank", "ranks"),
            counted(self.ranks_without_facts.into(), "rank's facts", "ranks' facts"),
            counted(self.times_lost, "section of times", "sections of times"),
            counted(self.metrics_lost, "section of metrics", "sections of metrics"),
            counted(self.bytes_lost, "byte that cannot be read", "bytes that cannot be read"),
        ];
        let lost: Vec<String> = lost.into_iter().flatten().collect();
        if lost.is_empty() {
            "anything that was known to be there".to_owned()
        } else {
            lost.join(", ")
        }
    }
}

/// What was known of a run when its profile was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunState {
    /// Why the profile does not hold what the run measured up to its end; none if it does.
    pub incomplete_because: Option<String>,
    /// The checkpoints so far.
    pub checkpoints: CheckpointTimes,
    /// How exact the times are.
    pub precision: Precision,
    /// The number that the segments of its ranks have too, where there are any.
    pub profile_id: Option<ProfileId>,
}

/// How much memory the ranks used at their peaks: the high-water marks of their resident sets, in
/// bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeakMemory {
    /// The greatest of a rank; 0 where no rank knows.
    pub max_bytes: u64,
    /// The sum over the ranks that know. Peaks need not be at the same time: no more than this was
    /// ever in use.
    pub sum_bytes: u64,
}

impl PeakMemory {
    /// The peak of one rank; 0 where it is not known.
    #[must_use]
    pub const fn of_one_rank(bytes: u64) -> Self {
        Self { max_bytes: bytes, sum_bytes: bytes }
    }

    /// Adds the peaks of other ranks.
    pub fn absorb(&mut self, other: &Self) {
        self.max_bytes = self.max_bytes.max(other.max_bytes);
        self.sum_bytes = self.sum_bytes.saturating_add(other.sum_bytes);
    }
}

/// The manifest of a profile, written last: a directory without one is unfinished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always [`FORMAT_NAME`].
    pub format: String,
    /// The layout's version.
    pub version: FormatVersion,
    /// The number of ranks.
    pub ranks: u32,
    /// The number of executions: the most that any rank counted.
    pub executions: u32,
    /// The dictionary.
    pub callpaths: CallpathFile,
    /// The parts, by first rank.
    pub parts: Vec<PartFile>,
    /// Facts of the run.
    pub metadata: RunMetadata,
    /// Whether it holds what the run has measured up to its end.
    #[serde(default = "yes")]
    pub complete: bool,
    /// Why it does not; none if it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete_because: Option<String>,
    /// How exact the times are.
    #[serde(default)]
    pub precision: Precision,
    /// What was lost when it was salvaged; none if it was written by its run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salvage: Option<Salvage>,
    /// The memory of the ranks at their peaks.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub peak_memory: PeakMemory,
    /// What was lost, over all ranks.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub losses: Losses,
    /// The profiler's own time in the flush.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub flush: PhaseTimes,
    /// The checkpoints before this profile, and the profiler's own time in them.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub checkpoints: CheckpointTimes,
    /// The number that the segments of its ranks had too: none for checkpoints, and for copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_id: Option<ProfileId>,
}

impl Manifest {
    /// The same manifest, of a run in this state.
    #[must_use]
    pub fn with_state(self, state: RunState) -> Self {
        let RunState { incomplete_because, checkpoints, precision, profile_id } = state;
        let complete = incomplete_because.is_none();
        Self { complete, incomplete_because, checkpoints, precision, profile_id, ..self }
    }
}

/// What is not known, and zeros, are not written: a small profile is mostly its manifest.
fn is_nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Profiles from before the key was there are complete.
const fn yes() -> bool {
    true
}
