//! The facts that a rank reports about itself beside its measurements, and its losses.

use serde::{Deserialize, Serialize};

use super::{ClockFacts, ProcessorFacts, RankCauses};

/// The facts that one rank reports about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankFacts {
    /// The name of the host it ran on.
    pub host: String,
    /// Its process id.
    pub process_id: u32,
    /// The number of thread event maps that it merged.
    pub threads: u32,
    /// The high-water mark of its resident set, in bytes; 0 if unknown.
    #[serde(default)]
    pub peak_memory_bytes: u64,
    /// Everything that it could not record.
    pub losses: Losses,
    /// The facts of its clock, at level `messages`.
    #[serde(skip)]
    pub clock: ClockFacts,
    /// The causes of its waiting; none where the level was never `messages`.
    #[serde(skip)]
    pub causes: Option<Box<RankCauses>>,
    /// Its processor time.
    #[serde(skip)]
    pub processor: ProcessorFacts,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Everything that was dropped, folded or left open, in numbers. All are zero in a usual run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Losses {
    /// Visits for which there was no memory: counted, not timed.
    #[serde(skip_serializing_if = "is_zero")]
    pub visits_not_recorded: u64,
    /// Visits that went to an `[other]` callpath because the callpath table was full.
    #[serde(skip_serializing_if = "is_zero")]
    pub visits_in_other: u64,
    /// Visits that were still open when the snapshot was taken. Their time so far is included.
    /// Visits on the thread that ended the run are not counted here, since they lasted to its end.
    #[serde(skip_serializing_if = "is_zero")]
    pub visits_open: u64,
    /// Visits whose guard was forgotten or dropped out of order: counted, with unknown time.
    #[serde(skip_serializing_if = "is_zero")]
    pub visits_unbalanced: u64,
    /// Visits that ended before they started by the clock; recorded as 0 ns.
    #[serde(skip_serializing_if = "is_zero")]
    pub clock_steps_back: u64,
    /// Records that another thread changed in every attempt of the snapshot to read them.
    #[serde(skip_serializing_if = "is_zero")]
    pub records_unreadable: u64,
    /// Records whose owner died while changing them. One visit of each may be missing or have no
    /// time.
    #[serde(skip_serializing_if = "is_zero")]
    pub records_torn: u64,
    /// Threads whose measurements were not in a file, and would not have survived the process.
    #[serde(skip_serializing_if = "is_zero")]
    pub segments_not_mapped: u64,
    /// Buckets of folded series. Each holds several visits, or several values of a metric.
    #[serde(skip_serializing_if = "is_zero")]
    pub series_buckets_folded: u64,
    /// Summaries that cover several executions because there were too many to keep apart.
    #[serde(skip_serializing_if = "is_zero")]
    pub executions_folded: u64,
    /// Visits that were counted but not timed, because of the budget. The times of their callpaths
    /// are estimates.
    #[serde(skip_serializing_if = "is_zero")]
    pub visits_not_timed: u64,
    /// Values of metrics that were outside all regions, were not a number, or found no memory.
    #[serde(skip_serializing_if = "is_zero")]
    pub values_not_recorded: u64,
    /// Visits that could not be recorded safely: in a signal handler or an allocator that
    /// interrupted the recorder, or after the end of the thread.
    #[serde(skip_serializing_if = "is_zero")]
    pub visits_kept_out: u64,
    /// Visits that went to an `[other]` callpath because they were nested too deeply.
    #[serde(skip_serializing_if = "is_zero")]
    pub visits_too_deep: u64,
    /// Visits of a region split by a key that had no room for another value. They are counted at
    /// the region without a key.
    #[serde(skip_serializing_if = "is_zero")]
    pub visits_without_key: u64,
    /// Messages that found no room in the table of partners, or for which there was no memory.
    /// Those that are counted have no partner.
    #[serde(skip_serializing_if = "is_zero")]
    pub messages_without_partner: u64,
    /// Edges that found no room in the table of edges, or for which there was no memory. Those that
    /// are counted have neither partner nor origin.
    #[serde(skip_serializing_if = "is_zero")]
    pub edges_without_partner: u64,
}

impl Losses {
    /// The number of kinds of loss.
    pub const COUNT: usize = 17;

    /// Returns the names and numbers in the order in which a profile stores them. New kinds
    /// therefore go to the end.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); Self::COUNT] {
        [
            ("visits_not_recorded", self.visits_not_recorded),
            ("visits_in_other", self.visits_in_other),
            ("visits_open", self.visits_open),
            ("visits_unbalanced", self.visits_unbalanced),
            ("clock_steps_back", self.clock_steps_back),
            ("records_unreadable", self.records_unreadable),
            ("records_torn", self.records_torn),
            ("segments_not_mapped", self.segments_not_mapped),
            ("series_buckets_folded", self.series_buckets_folded),
            ("executions_folded", self.executions_folded),
            ("visits_not_timed", self.visits_not_timed),
            ("values_not_recorded", self.values_not_recorded),
            ("visits_kept_out", self.visits_kept_out),
            ("visits_too_deep", self.visits_too_deep),
            ("visits_without_key", self.visits_without_key),
            ("messages_without_partner", self.messages_without_partner),
            ("edges_without_partner", self.edges_without_partner),
        ]
    }

    /// Creates losses from numbers in the order of [`named`](Self::named).
    #[must_use]
    pub const fn from_numbers(n: [u64; Self::COUNT]) -> Self {
        Self {
            visits_not_recorded: n[0],
            visits_in_other: n[1],
            visits_open: n[2],
            visits_unbalanced: n[3],
            clock_steps_back: n[4],
            records_unreadable: n[5],
            records_torn: n[6],
            segments_not_mapped: n[7],
            series_buckets_folded: n[8],
            executions_folded: n[9],
            visits_not_timed: n[10],
            values_not_recorded: n[11],
            visits_kept_out: n[12],
            visits_too_deep: n[13],
            visits_without_key: n[14],
            messages_without_partner: n[15],
            edges_without_partner: n[16],
        }
    }

    /// Adds another rank's losses.
    pub fn absorb(&mut self, other: &Self) {
        let (ours, theirs) = (self.named(), other.named());
        *self = Self::from_numbers(std::array::from_fn(|i| ours[i].1.saturating_add(theirs[i].1)));
    }
}
