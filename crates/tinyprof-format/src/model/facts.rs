//! The facts that a rank reports about itself beside its measurements, and its losses.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::numbers::numbers;
use super::{ClockFacts, ProcessorFacts, RankCauses, RankCommands, RankEvents};

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
    /// Its events; none where none were kept.
    #[serde(skip)]
    pub events: Option<Arc<RankEvents>>,
    /// Its processor time.
    #[serde(skip)]
    pub processor: ProcessorFacts,
    /// The commands that it was given while it ran.
    #[serde(skip)]
    pub commands: RankCommands,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

numbers! {
    /// Everything that was dropped, folded or left open, in numbers. All are zero in a usual run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(default)]
    pub struct Losses {
        /// Visits for which there was no memory: counted, not timed.
        #[serde(skip_serializing_if = "is_zero")]
        visits_not_recorded: u64 = sum,
        /// Visits that went to an `[other]` callpath because the callpath table was full.
        #[serde(skip_serializing_if = "is_zero")]
        visits_in_other: u64 = sum,
        /// Visits that were still open when the snapshot was taken. Their time so far is included.
        /// Visits on the thread that ended the run are not counted here, since they lasted to its
        /// end.
        #[serde(skip_serializing_if = "is_zero")]
        visits_open: u64 = sum,
        /// Visits whose guard was forgotten or dropped out of order: counted, with unknown time.
        #[serde(skip_serializing_if = "is_zero")]
        visits_unbalanced: u64 = sum,
        /// Visits that ended before they started by the clock; recorded as 0 ns.
        #[serde(skip_serializing_if = "is_zero")]
        clock_steps_back: u64 = sum,
        /// Records that another thread changed in every attempt of the snapshot to read them.
        #[serde(skip_serializing_if = "is_zero")]
        records_unreadable: u64 = sum,
        /// Records whose owner died while changing them. One visit of each may be missing or have
        /// no time.
        #[serde(skip_serializing_if = "is_zero")]
        records_torn: u64 = sum,
        /// Threads whose measurements were not in a file, and would not have survived the process.
        #[serde(skip_serializing_if = "is_zero")]
        segments_not_mapped: u64 = sum,
        /// Buckets of folded series. Each holds several visits, or several values of a metric.
        #[serde(skip_serializing_if = "is_zero")]
        series_buckets_folded: u64 = sum,
        /// Summaries that cover several executions because there were too many to keep apart.
        #[serde(skip_serializing_if = "is_zero")]
        executions_folded: u64 = sum,
        /// Visits that were counted but not timed, because of the budget. The times of their
        /// callpaths are estimates.
        #[serde(skip_serializing_if = "is_zero")]
        visits_not_timed: u64 = sum,
        /// Values of metrics that were outside all regions, were not a number, or found no memory.
        #[serde(skip_serializing_if = "is_zero")]
        values_not_recorded: u64 = sum,
        /// Visits that could not be recorded safely: in a signal handler or an allocator that
        /// interrupted the recorder, or after the end of the thread.
        #[serde(skip_serializing_if = "is_zero")]
        visits_kept_out: u64 = sum,
        /// Visits that went to an `[other]` callpath because they were nested too deeply.
        #[serde(skip_serializing_if = "is_zero")]
        visits_too_deep: u64 = sum,
        /// Visits of a region split by a key that had no room for another value. They are counted
        /// at the region without a key.
        #[serde(skip_serializing_if = "is_zero")]
        visits_without_key: u64 = sum,
        /// Messages that found no room in the table of partners, or for which there was no memory.
        /// Those that are counted have no partner.
        #[serde(skip_serializing_if = "is_zero")]
        messages_without_partner: u64 = sum,
        /// Edges that found no room in the table of edges, or for which there was no memory. Those
        /// that are counted have neither partner nor origin.
        #[serde(skip_serializing_if = "is_zero")]
        edges_without_partner: u64 = sum,
    }
}

impl Losses {
    /// Adds another rank's losses.
    pub fn absorb(&mut self, other: &Self) {
        self.merge(other);
    }
}
