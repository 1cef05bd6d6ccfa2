//! Recursion: a stack of regions as the callpath of a node.

/// How often a region is on a stack before it folds.
const UNFOLDED: usize = 4;

/// The region that stands for deeper recursion.
pub const RECURSIVE: u64 = u64::MAX;

/// A stack of regions, with recursion folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folded {
    /// The regions from the outermost on; [`RECURSIVE`] stands for those that are folded.
    pub regions: Vec<u64>,
    /// The number of visits of regions that are folded.
    pub depth: usize,
}

impl Folded {
    /// Returns an id of the callpath, equal for equal regions.
    #[must_use]
    pub fn id(&self) -> u64 {
        // FNV-1a, over words.
        self.regions.iter().fold(0xcbf2_9ce4_8422_2325, |id, region| {
            let mixed = (id ^ region).wrapping_mul(0x0000_0100_0000_01b3);
            mixed ^ (mixed >> 29)
        })
    }
}

/// Folds a stack of regions, so that a recursive program has a bounded number of callpaths.
///
/// A region that is on the stack four times already becomes [`RECURSIVE`], and so does each deeper
/// visit of it, whatever is between.
///
/// ```
/// use tinyprof_messages::graph::{RECURSIVE, folded};
///
/// let (cycle, smooth) = (1, 2);
/// assert_eq!(folded(&[cycle, cycle, smooth]).regions, [1, 1, 2]);
/// let deep = folded(&[cycle, cycle, cycle, cycle, cycle, smooth]);
/// assert_eq!((deep.regions, deep.depth), (vec![1, 1, 1, 1, RECURSIVE, 2], 1));
/// let deeper = folded(&[cycle, cycle, cycle, cycle, cycle, smooth, cycle, smooth]);
/// assert_eq!((deeper.regions, deeper.depth), (vec![1, 1, 1, 1, RECURSIVE, 2], 2));
/// ```
#[must_use]
pub fn folded(stack: &[u64]) -> Folded {
    let mut regions: Vec<u64> = Vec::with_capacity(stack.len());
    let mut depth = 0;
    for region in stack {
        if regions.iter().filter(|other| *other == region).count() < UNFOLDED {
            regions.push(*region);
            continue;
        }
        depth += 1;
        match regions.iter().position(|other| *other == RECURSIVE) {
            Some(at) => regions.truncate(at + 1),
            None => regions.push(RECURSIVE),
        }
    }
    Folded { regions, depth }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ids_of_callpaths_differ() {
        let mut ids = HashSet::new();
        for a in 0..200 {
            for b in 0..200 {
                assert!(ids.insert(folded(&[a, b]).id()));
            }
            assert!(ids.insert(folded(&[a]).id()));
        }
    }

    proptest! {
        #[test]
        fn a_stack_of_any_depth_is_bounded(stack in proptest::collection::vec(0_u64..3, 0..400)) {
            let folded = folded(&stack);
            // Each region four times, and again four times below the folded ones.
            prop_assert!(folded.regions.len() <= 3 * UNFOLDED + 1);
            prop_assert!(folded.depth <= stack.len());
            let recursive = folded.regions.iter().filter(|region| **region == RECURSIVE).count();
            prop_assert_eq!(recursive, usize::from(folded.depth > 0));
        }
    }
}
