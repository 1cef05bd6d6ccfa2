//! The manifest: the file of a profile that people can open in an editor.

use serde::{Deserialize, Serialize};

use super::{Losses, Precision, ProfileId};

/// The value of the manifest's `format` key.
pub const FORMAT_NAME: &str = "tinyprof";

/// The version of the layout of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FormatVersion {
    /// The major version. Readers refuse a greater one.
    pub major: u16,
    /// The minor version. Readers accept a greater one and ignore anything unknown.
    pub minor: u16,
}

impl FormatVersion {
    /// The newest version, which files have that need it: those with commands.
    pub const CURRENT: Self = Self { major: 1, minor: 2 };
    /// The version of manifests, and of all other files.
    pub const USUAL: Self = Self { major: 1, minor: 1 };
}

/// Facts of the run, under the keys that users of Adiak and Thicket expect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunMetadata {
    /// The login name of the user.
    #[serde(skip_serializing_if = "is_nothing")]
    pub user: String,
    /// The time when recording began, in seconds since 1970-01-01 UTC.
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
    /// The job id of the batch system, if any.
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
    /// The version text of the MPI library; none without MPI.
    #[serde(skip_serializing_if = "is_nothing")]
    pub mpi_version: Option<String>,
    /// The version of the profiler.
    #[serde(skip_serializing_if = "is_nothing")]
    pub tinyprof_version: String,
    /// The clock used: `tsc` or `clock_monotonic`.
    #[serde(skip_serializing_if = "is_nothing")]
    pub clock: String,
    /// The number of logical CPUs of rank 0's host that are in use by its system; 0 if unknown.
    #[serde(skip_serializing_if = "is_nothing")]
    pub cpus: u32,
    /// The time that measuring one visit takes on the machine of rank 0, in picoseconds; 0 if
    /// unknown.
    #[serde(skip_serializing_if = "is_nothing")]
    pub visit_cost_ps: u64,
    /// By how much that time may have been another for the visits of one callpath, on any rank, in
    /// picoseconds; 0 if unknown.
    #[serde(skip_serializing_if = "is_nothing")]
    pub visit_cost_error_ps: u64,
    /// The time that measuring one visit of a root region takes there, in picoseconds; 0 if
    /// unknown.
    #[serde(skip_serializing_if = "is_nothing")]
    pub root_visit_cost_ps: u64,
    /// By how much that time may have been another for the visits of one callpath, on any rank, in
    /// picoseconds; 0 if unknown.
    #[serde(skip_serializing_if = "is_nothing")]
    pub root_visit_cost_error_ps: u64,
    /// The time that a visit takes there if a budget lets it only be counted, in picoseconds; 0 if
    /// unknown.
    #[serde(skip_serializing_if = "is_nothing")]
    pub counted_visit_cost_ps: u64,
    /// The time that rank 0 spent on beginning to record, on agreeing with the other ranks and on
    /// finding out who calls, before the flush, in nanoseconds; 0 if unknown.
    #[serde(skip_serializing_if = "is_nothing")]
    pub starting_ns: u64,
    /// The filter of regions (`TINYPROF_FILTER`) of rank 0, if any.
    #[serde(skip_serializing_if = "is_nothing")]
    pub filter: Option<String>,
    /// The regions that rank 0 reached and the filter removed, `module::name`; none if unknown.
    #[serde(skip_serializing_if = "is_nothing")]
    pub regions_filtered: Option<Vec<String>>,
    /// The reason why threads of rank 0 recorded in private memory and not in segments, if any did:
    /// the directory, a colon, and what was wrong with it.
    #[serde(skip_serializing_if = "is_nothing")]
    pub segments_refused: Option<String>,
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

/// One `part-NNNNN`: the file of one aggregator.
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

/// The time that rank 0 spent in each phase of the flush before it wrote the manifest, in
/// nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseTimes {
    /// Phase 0: taking the snapshot of this rank's threads.
    pub snapshot_ns: u64,
    /// Phase 1: agreeing on the callpath dictionary.
    pub synchronise_ns: u64,
    /// Phase 2: gathering to the aggregators.
    pub aggregate_ns: u64,
    /// Phase 3: writing the parts.
    pub write_ns: u64,
}

impl PhaseTimes {
    /// Returns the time of all phases together, in nanoseconds.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        [self.snapshot_ns, self.synchronise_ns, self.aggregate_ns, self.write_ns]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// The cost of the interim profiles of a run so far, as counted by rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterimTimes {
    /// The number of interim profiles written before this profile.
    pub written: u32,
    /// The number of interim profiles that could not be written.
    pub failed: u32,
    /// The total time of the interim profiles, in nanoseconds, including the time that rank 0
    /// waited for other ranks.
    pub total_ns: u64,
}

/// The losses of a damaged profile that was salvaged. Lost values are read as no visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Salvage {
    /// True if the manifest was lost, and with it the facts of the run.
    pub manifest_lost: bool,
    /// Callpaths that lost their names, places and parents. They are now root regions
    /// `[callpath N]`.
    pub callpaths_unnamed: u32,
    /// True if hints and constants of regions were lost.
    pub constants_lost: bool,
    /// Parts that could be read only partly.
    pub parts_damaged: u32,
    /// Parts that were missing or entirely unreadable.
    pub parts_lost: u32,
    /// The ranks of these parts.
    pub ranks_lost: u32,
    /// Ranks whose host, process id, losses and clock were lost.
    pub ranks_without_facts: u32,
    /// Sections of times that were lost. Each holds one callpath on the ranks of one part.
    pub times_lost: u64,
    /// Sections of metrics that were lost.
    pub metrics_lost: u64,
    /// Sections of messages and edges that were lost. Each holds some callpaths on the ranks of one
    /// part.
    pub communication_lost: u64,
    /// Sections of events that were lost. Each holds those of the ranks of one part.
    pub events_lost: u64,
    /// Sections of commands that were lost. Each holds those of the ranks of one part.
    pub commands_lost: u64,
    /// Bytes of the parts that belong to no readable section.
    pub bytes_lost: u64,
}

impl Salvage {
    /// Returns a list of the losses in words: `the times of 2 callpaths on some ranks, 64 ranks`.
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
            counted(
                self.communication_lost,
                "section of messages and edges",
                "sections of messages and edges",
            ),
            counted(self.events_lost, "section of events", "sections of events"),
            counted(self.commands_lost, "section of commands", "sections of commands"),
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

/// The state of a run when its profile was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunState {
    /// The reason why the profile is not complete to the end of the run; none if it is.
    pub incomplete_because: Option<String>,
    /// The interim profiles so far.
    pub interim_profiles: InterimTimes,
    /// The precision of the times.
    pub precision: Precision,
    /// The number that is also in the segments of its ranks, if any.
    pub profile_id: Option<ProfileId>,
}

/// The peak memory of the ranks: the high-water marks of their resident sets, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeakMemory {
    /// The greatest peak of a rank; 0 if unknown on all ranks.
    pub max_bytes: u64,
    /// The sum over the ranks whose peaks are known. Since peaks need not coincide, these ranks
    /// never used more than this at one time.
    pub sum_bytes: u64,
}

impl PeakMemory {
    /// Returns the peak of one rank; 0 if unknown.
    #[must_use]
    pub const fn of_one_rank(bytes: u64) -> Self {
        Self { max_bytes: bytes, sum_bytes: bytes }
    }

    /// Adds the peaks of other ranks.
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.max_bytes = self.max_bytes.max(other.max_bytes);
        self.sum_bytes = self.sum_bytes.saturating_add(other.sum_bytes);
    }
}

/// The manifest of a profile. It is written last, so a directory without one is unfinished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The name of the format, always [`FORMAT_NAME`].
    pub format: String,
    /// The version of the layout.
    pub version: FormatVersion,
    /// The number of ranks.
    pub ranks: u32,
    /// The number of executions: the largest of any rank.
    pub executions: u32,
    /// The dictionary.
    pub callpaths: CallpathFile,
    /// The parts, by first rank.
    pub parts: Vec<PartFile>,
    /// Facts of the run.
    pub metadata: RunMetadata,
    /// True if the profile holds everything that the run measured up to its end.
    #[serde(default = "yes")]
    pub complete: bool,
    /// The reason why it is not complete; none if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete_because: Option<String>,
    /// The precision of the times.
    #[serde(default)]
    pub precision: Precision,
    /// The losses of its salvage; none if it was written by its run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salvage: Option<Salvage>,
    /// The memory of the ranks at their peaks.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub peak_memory: PeakMemory,
    /// The losses of all ranks.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub losses: Losses,
    /// The time that the profiler spent in the flush.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub flush: PhaseTimes,
    /// The interim profiles before this profile, and the time that the profiler spent in them.
    #[serde(rename = "checkpoints", default, skip_serializing_if = "is_nothing")]
    pub interim_profiles: InterimTimes,
    /// The number that was also in the segments of its ranks; none for interim profiles and copies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile_id: Option<ProfileId>,
}

impl Manifest {
    /// Returns the manifest with `state` filled in.
    #[must_use]
    pub fn with_state(self, state: RunState) -> Self {
        let RunState { incomplete_because, interim_profiles, precision, profile_id } = state;
        let complete = incomplete_because.is_none();
        Self { complete, incomplete_because, interim_profiles, precision, profile_id, ..self }
    }
}

/// Returns true for unknown values and zeros. They are not written, because a small profile is
/// mostly its manifest.
fn is_nothing<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Profiles written before this key existed are complete.
const fn yes() -> bool {
    true
}
