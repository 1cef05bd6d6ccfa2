//! What a rank found out, as plain values: what a profile stores of it.

use super::cause::Cause;
use super::costs::DelayCosts;
use super::ledger::{Ledger, Losses};

/// A part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPart {
    /// The rank and its activity.
    pub cause: Cause,
    /// The time, in ns.
    pub ns: u64,
}

/// The causes of a rank's waiting, and the path that ends at it. Bounded: as many entries as the
/// table of costs has, and as many parts as the path and the activities of [`Sizes`](super::Sizes)
/// together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankCauses {
    /// The delay costs.
    pub costs: DelayCosts,
    /// The path, the longest part first: the critical path, if the rank ends last. What is in no
    /// bounded list is [`Cause::OTHER`]. The sum is the time since the ranks began.
    pub path: Vec<PathPart>,
    /// What could not be found out.
    pub losses: Losses,
}

impl RankCauses {
    /// Returns the causes of a rank now. Allocates.
    #[must_use]
    pub fn new(ledger: &Ledger<'_>, costs: DelayCosts) -> Self {
        let parts = ledger.path().into_iter().map(|(cause, ns)| PathPart { cause, ns });
        let mut path: Vec<PathPart> = parts.collect();
        path.sort_unstable_by_key(|part| (std::cmp::Reverse(part.ns), part.cause));
        Self { costs, path, losses: ledger.losses() }
    }
}
