//! The data of a job at one moment, from an interim profile, from its memory, or from its agents.

use std::collections::BTreeMap;

use tinyprof_format::model::{CallpathIndex, EventMap, Profile};
use tinyprof_picture::Picture;
use tinyprof_report::{Totals, WaitedFor};
use tinyprof_why::Why;

use super::causes::why_of_ranks;

/// A job at one moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Sample {
    /// The source of the data: `process 4711`, `interim_profile 3`.
    pub(super) source: String,
    /// The moment, on a clock that all samples of a source share.
    pub(super) moment_ns: u64,
    /// The picture of the job.
    pub(super) picture: Picture,
    /// Why its ranks wait; `None` if nothing is known of it.
    pub(super) why: Option<Why>,
    /// The ranks that callpaths wait for, as far as they are known.
    pub(super) waited_for: BTreeMap<CallpathIndex, WaitedFor>,
}

impl Sample {
    /// Creates a sample from the measurements of these ranks.
    pub(super) fn of_ranks(ranks: &[EventMap]) -> Self {
        let picture = Picture::of_ranks(ranks);
        let (why, waited_for) = why_of_ranks(&picture.callpaths, ranks);
        Self { picture, why, waited_for, ..Self::default() }
    }

    /// Creates a sample from the measurements of a profile.
    pub(super) fn of_profile(profile: &Profile) -> Self {
        Self {
            picture: Picture::of_profile(profile),
            why: Some(Why::of_profile(profile)).filter(Why::is_known),
            waited_for: Totals::of_profile(profile).waited_for(),
            ..Self::default()
        }
    }
}
