//! The parts of the path that ends at a rank.

use super::cause::Cause;

/// A part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPart {
    /// The rank and its activity.
    pub cause: Cause,
    /// The time, in ns.
    pub ns: u64,
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
    use crate::delay::{Activity, Ledger, Sizes};

    #[test]
    fn the_longest_part_of_a_path_is_the_first() {
        let sizes = Sizes { activities: 2, causes: 2, path: 2, partners: 2, finest: 1_000 };
        let page: Vec<AtomicU64> = (0..sizes.words()).map(|_| AtomicU64::new(0)).collect();
        let mut ledger = Ledger::new(&page, sizes, 3);
        for (activity, ns) in [(1, 10), (2, 70), (1, 5), (4, 2)] {
            ledger.add(Activity::from_number(activity), ns, 100);
        }
        let part =
            |activity, ns| PathPart { cause: Cause::new(3, Activity::from_number(activity)), ns };
        assert_eq!(ledger.path(), [part(2, 70), part(Activity::OTHER.number(), 15), part(4, 2)]);
    }
}
