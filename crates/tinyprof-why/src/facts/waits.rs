//! Who waits for whom, where, and for how long: each pair of ranks by itself.

use std::collections::BTreeMap;

use tinyprof_format::model::CallpathIndex;
use tinyprof_messages::waiting::Pattern;

/// The waiting of a rank in one callpath for one other rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) rank: u32,
    /// The callpath that waits; none where it is not known.
    pub(crate) at: Option<CallpathIndex>,
    pub(crate) for_rank: u32,
    /// The callpath that is waited for; none where it is not known.
    pub(crate) from: Option<CallpathIndex>,
    pub(crate) pattern: Pattern,
    pub(crate) ns: u64,
    pub(crate) count: u64,
    /// True if the other rank, of another host, has told of it: the one that waits does not know.
    pub(crate) is_heard: bool,
}

/// All waiting of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waits {
    pub(crate) all: Vec<Wait>,
    /// The waiting for ranks that are not known, in ns.
    pub(crate) for_nobody_ns: u128,
    /// True if the profile has edges between calls.
    pub(crate) are_recorded: bool,
}

impl Waits {
    /// Returns the waiting of each rank in each callpath, in ns.
    pub(crate) fn by_call(&self) -> BTreeMap<(u32, CallpathIndex), u64> {
        let mut sums: BTreeMap<(u32, CallpathIndex), u64> = BTreeMap::new();
        for wait in &self.all {
            if let Some(at) = wait.at {
                let sum = sums.entry((wait.rank, at)).or_default();
                *sum = sum.saturating_add(wait.ns);
            }
        }
        sums
    }

    /// Returns the waiting of all ranks by its pattern, in ns.
    pub(crate) fn by_pattern(&self) -> BTreeMap<Pattern, u64> {
        let mut sums: BTreeMap<Pattern, u64> = BTreeMap::new();
        for wait in &self.all {
            let sum = sums.entry(wait.pattern).or_default();
            *sum = sum.saturating_add(wait.ns);
        }
        sums
    }

    /// Returns the waiting of all ranks, in ns.
    pub(crate) fn sum_ns(&self) -> u128 {
        self.all.iter().map(|wait| u128::from(wait.ns)).sum::<u128>() + self.for_nobody_ns
    }
}
