//! The data of a job at one moment, from an interim profile or from its memory, as plain values.

use std::time::Duration;

use tinyprof_format::model::{CallpathTable, EventMap, Losses, Profile};
use tinyprof_report::Statistics;
use tinyprof_why::Why;

use super::causes::why_of_ranks;

/// A job at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    /// The name of its profile.
    pub(super) name: String,
    /// The source of the data: `process 4711`, `interim_profile 3`.
    pub(super) source: String,
    /// The moment, on a clock that all samples of a source share.
    pub(super) moment_ns: u64,
    /// The run time of the job at that moment, if known.
    pub(super) elapsed: Option<Duration>,
    /// The time since that moment.
    pub(super) age: Duration,
    /// The host of each rank; empty for a rank without data.
    pub(super) hosts: Vec<String>,
    pub(super) callpaths: CallpathTable,
    pub(super) statistics: Statistics,
    /// Inclusive times, by row of the table, then by rank; `None` if a rank did not visit.
    pub(super) inclusive_ns: Vec<Vec<Option<u64>>>,
    pub(super) losses: Losses,
    /// Why its ranks wait; `None` if nothing is known of it.
    pub(super) why: Option<Why>,
}

impl Sample {
    /// Creates a sample from the measurements of these ranks.
    pub(super) fn of_ranks(ranks: &[EventMap]) -> Self {
        let mut callpaths = CallpathTable::default();
        for rank in ranks {
            // Most ranks have the same callpaths as the others.
            if rank.callpaths.identities() != callpaths.identities() {
                callpaths = callpaths.union(&rank.callpaths);
            }
        }
        let mut sample = Self {
            statistics: Statistics::new(callpaths.len()),
            inclusive_ns: vec![vec![None; ranks.len()]; callpaths.len()],
            hosts: ranks.iter().map(|rank| rank.facts.host.clone()).collect(),
            ..Self::default()
        };
        let rows = callpaths.index_by_identity();
        for ((at, number), rank) in (0..).zip(0_u32..).zip(ranks) {
            sample.losses.absorb(&rank.losses());
            sample.statistics.add_event_map(&callpaths, number, rank);
            for (identity, values) in rank.callpaths.identities().iter().zip(&rank.values) {
                if let Some(row) = rows.get(identity).filter(|_| !values.executions.is_empty()) {
                    sample.inclusive_ns[row.row()][at] = Some(values.inclusive_ns());
                }
            }
        }
        let why = why_of_ranks(&callpaths, ranks);
        Self { callpaths, why, ..sample }
    }

    /// Creates a sample from the measurements of a profile.
    pub(super) fn of_profile(profile: &Profile) -> Self {
        let time = |values: &tinyprof_format::model::CallpathValues| {
            (!values.executions.is_empty()).then(|| values.inclusive_ns())
        };
        Self {
            hosts: profile.ranks.iter().map(|rank| rank.host.clone()).collect(),
            statistics: Statistics::of_profile(profile),
            inclusive_ns: profile
                .values
                .iter()
                .map(|ranks| ranks.iter().map(time).collect())
                .collect(),
            callpaths: profile.callpaths.clone(),
            losses: profile.manifest.losses,
            why: Some(Why::of_profile(profile)).filter(Why::is_known),
            ..Self::default()
        }
    }
}
