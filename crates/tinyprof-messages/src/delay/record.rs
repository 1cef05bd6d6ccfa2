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
    /// The waits of which not all could be found out.
    pub losses: Losses,
}

impl RankCauses {
    /// Returns the causes of a rank now. Allocates.
    #[must_use]
    pub fn new(ledger: &Ledger<'_>, costs: DelayCosts) -> Self {
        Self { costs, path: path_of(ledger.path_parts()), losses: ledger.losses() }
    }
}

/// Returns the path of these parts, in which a cause may come several times. Allocates.
pub(super) fn path_of(parts: impl Iterator<Item = (Cause, u64)>) -> Vec<PathPart> {
    let mut path: Vec<PathPart> = Vec::new();
    for (cause, ns) in parts.filter(|(_, ns)| *ns > 0) {
        match path.iter_mut().find(|part| part.cause == cause) {
            Some(part) => part.ns = part.ns.saturating_add(ns),
            None => path.push(PathPart { cause, ns }),
        }
    }
    path.sort_unstable_by_key(|part| (std::cmp::Reverse(part.ns), part.cause));
    path
}

#[cfg(test)]
mod tests {
    use tinyprof_segment::primitive::AtomicU64;

    use super::*;
    use crate::delay::{Activity, Sizes};

    #[test]
    fn a_record_has_the_longest_part_of_the_path_first() {
        let sizes = Sizes { activities: 2, causes: 2, path: 2, partners: 2, finest: 1_000 };
        let page: Vec<AtomicU64> = (0..sizes.words()).map(|_| AtomicU64::new(0)).collect();
        let mut ledger = Ledger::new(&page, sizes, 3);
        for (activity, ns) in [(1, 10), (2, 70), (1, 5), (4, 2)] {
            ledger.add(Activity::from_number(activity), ns, 100);
        }
        let record = RankCauses::new(&ledger, DelayCosts::default());
        let part =
            |activity, ns| PathPart { cause: Cause::new(3, Activity::from_number(activity)), ns };
        assert_eq!(record.path, [part(2, 70), part(Activity::OTHER.number(), 15), part(4, 2)]);
        assert_eq!(record.losses, Losses::default());
    }
}
