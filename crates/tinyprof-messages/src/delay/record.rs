//! What a rank found out, as plain values: what a profile stores of it.

use super::costs::DelayCosts;
use super::ledger::Losses;
use super::parts::PathPart;

/// The causes of a rank's waiting, and the path that ends at it. Bounded: as many entries as the
/// table of costs has, and as many parts as the path and the activities of [`Sizes`](super::Sizes)
/// together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankCauses {
    /// The delay costs.
    pub costs: DelayCosts,
    /// The path, the longest part first: the critical path, if the rank ends last. What is in no
    /// bounded list is [`Cause::OTHER`](super::Cause::OTHER). The sum is the time since the ranks
    /// began.
    pub path: Vec<PathPart>,
    /// The waits of which not all could be found out.
    pub losses: Losses,
}
