//! Causal paths: what happened between entry and exit of a loop iteration, or of a region.

use super::Tally;

/// A step of a path: a node, and the peer relative to the rank if it has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    /// The number that the caller has given to the node.
    pub node: u32,
    /// The peer's rank less that of the rank; 0 if there is none.
    pub offset: i32,
}

/// A sequence of steps. The first 30 are kept; all of them make the path's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    steps: [Step; Self::KEPT],
    length: u32,
    id: u64,
}

impl Path {
    /// The number of steps that are kept.
    pub const KEPT: usize = 30;
    /// A path without steps.
    pub const EMPTY: Self =
        Self { steps: [Step { node: 0, offset: 0 }; Self::KEPT], length: 0, id: 0xcbf2_9ce4 };

    /// Appends a step.
    #[inline]
    pub fn push(&mut self, step: Step) {
        if let Some(place) = self.steps.get_mut(self.length as usize) {
            *place = step;
        }
        self.length = self.length.saturating_add(1);
        let word = u64::from(step.node) << 32 | u64::from(step.offset.cast_unsigned());
        let mixed = (self.id ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.id = mixed ^ (mixed >> 32);
    }

    /// Returns the steps that are kept.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps[..(self.length as usize).min(Self::KEPT)]
    }

    /// Returns the number of steps, with those that are not kept.
    #[must_use]
    pub const fn length(&self) -> u32 {
        self.length
    }
}

/// A path, and how often it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathCount {
    /// The path.
    pub path: Path,
    /// The times from its begin to its end, in ns.
    pub times: Tally,
}

/// The most frequent paths of a rank, at most `N`. The rarest are evicted, and counted together: no
/// time is lost.
///
/// ```
/// use tinyprof_messages::graph::{Path, Paths, Step};
///
/// let mut paths = Paths::<2>::new();
/// for node in [1, 1, 2, 3, 1] {
///     let mut path = Path::EMPTY;
///     path.push(Step { node, offset: 0 });
///     paths.add(&path, 10);
/// }
/// assert_eq!(paths.kept().map(|kept| kept.times.count).sum::<u64>(), 4);
/// assert_eq!((paths.others().count, paths.others().sum), (1, 10), "2 gave way to 3");
/// ```
///
/// # Cost
///
/// A pass over `N` numbers.
#[derive(Clone, Debug)]
pub struct Paths<const N: usize> {
    ids: [u64; N],
    kept: [PathCount; N],
    used: usize,
    others: Tally,
}

impl<const N: usize> Paths<N> {
    /// Returns an empty table.
    #[must_use]
    pub const fn new() -> Self {
        const { assert!(N > 0, "room for one path") };
        let none = PathCount { path: Path::EMPTY, times: Tally::EMPTY };
        Self { ids: [0; N], kept: [none; N], used: 0, others: Tally::EMPTY }
    }

    /// Adds a path that was taken, in this many ns.
    pub fn add(&mut self, path: &Path, ns: u64) {
        let times: Tally = std::iter::once(ns).collect();
        self.absorb_one(&PathCount { path: *path, times });
    }

    /// Adds the paths of another table, as of another thread.
    pub fn absorb(&mut self, other: &Self) {
        other.kept().for_each(|counted| self.absorb_one(counted));
        self.others.absorb(other.others);
    }

    /// Returns the paths that are kept.
    pub fn kept(&self) -> impl Iterator<Item = &PathCount> {
        self.kept[..self.used].iter()
    }

    /// Returns the times of all other paths. A path that gave way, and came back, is in both.
    #[must_use]
    pub const fn others(&self) -> &Tally {
        &self.others
    }

    fn absorb_one(&mut self, counted: &PathCount) {
        let mut ids = self.ids[..self.used].iter();
        if let Some(at) = ids.position(|id| *id == counted.path.id) {
            self.kept[at].times.absorb(counted.times);
            return;
        }
        let at = if self.used < N {
            self.used += 1;
            self.used - 1
        } else {
            self.give_way()
        };
        self.ids[at] = counted.path.id;
        self.kept[at] = *counted;
    }

    /// Moves the rarest path to the others. Returns its place.
    #[cold]
    fn give_way(&mut self) -> usize {
        let count = |at: &usize| self.kept[*at].times.count;
        let rarest = (0..N).min_by_key(count).unwrap_or(0);
        self.others.absorb(self.kept[rarest].times);
        rarest
    }
}

impl<const N: usize> Default for Paths<N> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn path(nodes: &[u32]) -> Path {
        let mut path = Path::EMPTY;
        nodes.iter().for_each(|node| path.push(Step { node: *node, offset: -1 }));
        path
    }

    #[test]
    fn long_paths_differ_by_steps_that_are_not_kept() {
        let long = vec![5; 40];
        let mut longer = long.clone();
        longer.push(6);
        let (long, longer) = (path(&long), path(&longer));
        assert_eq!(long.steps(), longer.steps());
        assert_eq!((long.length(), longer.length()), (40, 41));
        assert_ne!(long, longer);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            taken in proptest::collection::vec(
                (proptest::collection::vec(0_u32..3, 0..3), 0_u64..100), 0..200),
            room in any::<bool>(),
        ) {
            let mut counts: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
            let (mut few, mut all) = (Paths::<4>::new(), Paths::<16>::new());
            for (nodes, ns) in &taken {
                few.add(&path(nodes), *ns);
                all.add(&path(nodes), *ns);
                *counts.entry(nodes.clone()).or_default() += 1;
            }
            if room {
                few.absorb(&Paths::default());
            }
            for (nodes, count) in &counts {
                let found = all.kept().find(|kept| kept.path == path(nodes));
                prop_assert_eq!(found.map(|kept| kept.times.count), Some(*count));
            }
            prop_assert_eq!(all.others().count, 0);
            let mut total = *few.others();
            few.kept().for_each(|kept| total.absorb(kept.times));
            prop_assert_eq!(total, taken.iter().map(|(_, ns)| *ns).collect());
        }
    }
}
