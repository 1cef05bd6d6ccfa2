//! Sets of ranks, as runs.

use std::fmt;

/// A set of ranks. It takes memory for each run of consecutive ranks, not for each rank.
///
/// ```
/// use tinyprof_vocabulary::RankSet;
///
/// let ranks: RankSet = [6, 1, 2, 3, 0].into_iter().collect();
/// assert_eq!(ranks.to_string(), "0-3,6");
/// assert_eq!((ranks.len(), ranks.contains(2), ranks.contains(4)), (5, true, false));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RankSet {
    /// First and last rank of each run. Between two runs a rank is missing.
    runs: Vec<(u32, u32)>,
}

impl RankSet {
    /// Adds a rank.
    pub fn insert(&mut self, rank: u32) {
        let next = self.runs.partition_point(|(_, last)| *last < rank);
        if self.runs.get(next).is_some_and(|(first, _)| *first <= rank) {
            return;
        }
        self.runs.insert(next, (rank, rank));
        self.join(next);
        if let Some(before) = next.checked_sub(1) {
            self.join(before);
        }
    }

    /// Returns the ranks of these runs, each from its first to its last rank, in any order.
    #[must_use]
    pub fn of_runs(runs: &[(u32, u32)]) -> Self {
        let mut set = Self::default();
        set.absorb(&Self { runs: runs.iter().copied().filter(|run| run.0 <= run.1).collect() });
        set
    }

    /// Adds the ranks of another set.
    pub fn absorb(&mut self, other: &Self) {
        self.runs.extend_from_slice(&other.runs);
        self.runs.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::with_capacity(self.runs.len());
        for (first, last) in self.runs.drain(..) {
            match joined.last_mut() {
                Some(run) if first <= run.1.saturating_add(1) => run.1 = run.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        self.runs = joined;
    }

    /// Joins a run with the next one, if no rank is missing between them.
    fn join(&mut self, at: usize) {
        if let Some((first, last)) = self.runs.get(at + 1).copied()
            && self.runs[at].1.checked_add(1) == Some(first)
        {
            self.runs[at].1 = last;
            self.runs.remove(at + 1);
        }
    }

    /// Returns whether the set has the rank.
    #[must_use]
    pub fn contains(&self, rank: u32) -> bool {
        let at = self.runs.partition_point(|(_, last)| *last < rank);
        self.runs.get(at).is_some_and(|(first, _)| *first <= rank)
    }

    /// Returns the number of ranks.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.runs.iter().map(|(first, last)| u64::from(last - first) + 1).sum()
    }

    /// Returns whether there is no rank.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the lowest rank.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.runs.first().map(|(first, _)| *first)
    }

    /// Returns the runs, each as its first and last rank.
    #[must_use]
    pub fn runs(&self) -> &[(u32, u32)] {
        &self.runs
    }

    /// Returns the set in at most this many columns where that is possible: the first runs, `...`,
    /// and the last one. No number is cut.
    ///
    /// ```
    /// use tinyprof_vocabulary::RankSet;
    ///
    /// let ranks: RankSet = (3..4_096).step_by(16).collect();
    /// assert_eq!(ranks.within(24), "3,19,35,51,67,83...4083");
    /// let ranks: RankSet = (0..8).collect();
    /// assert_eq!(ranks.within(24), "0-7");
    /// ```
    #[must_use]
    pub fn within(&self, columns: usize) -> String {
        let whole = self.to_string();
        let [_, .., last] = self.runs.as_slice() else { return whole };
        if whole.len() <= columns {
            return whole;
        }
        let end = format!("...{}", Self { runs: vec![*last] });
        let room = columns.saturating_sub(end.len());
        // The text is ASCII: digits, minus signs and commas.
        let fits = |at: &usize| *at <= room;
        let head = whole.match_indices(',').map(|(at, _)| at).take_while(fits).last().unwrap_or(0);
        format!("{}{end}", &whole[..head])
    }

    /// Returns all ranks in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.runs.iter().flat_map(|(first, last)| *first..=*last)
    }
}

impl FromIterator<u32> for RankSet {
    fn from_iter<T: IntoIterator<Item = u32>>(ranks: T) -> Self {
        let mut set = Self::default();
        ranks.into_iter().for_each(|rank| set.insert(rank));
        set
    }
}

impl fmt::Display for RankSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.runs.iter().enumerate() {
            let separator = if at == 0 { "" } else { "," };
            if first == last {
                write!(f, "{separator}{first}")?;
            } else {
                write!(f, "{separator}{first}-{last}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set(
            a in proptest::collection::vec(0_u32..40, 0..60),
            b in proptest::collection::vec(0_u32..40, 0..60),
        ) {
            let mut set: RankSet = a.iter().copied().collect();
            set.absorb(&b.iter().copied().collect());
            let expected: BTreeSet<u32> = a.into_iter().chain(b).collect();
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), expected.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(&set, &expected.iter().copied().collect());
            prop_assert_eq!(set.len(), expected.len() as u64);
            prop_assert!((0..42).all(|rank| set.contains(rank) == expected.contains(&rank)));
        }
    }
}
