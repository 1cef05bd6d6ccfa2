//! The ranks for which a callpath waits. The slowest rank of a call that waits is no cause: it has
//! only waited longest.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tinyprof_format::model::CallpathIndex;
use tinyprof_vocabulary::RankSet;

use crate::facts::totals::Totals;

/// The waiting in a callpath, in ns, by the rank that it waits for; none where that is not known.
pub(crate) type Partners = BTreeMap<Option<u32>, u128>;

/// The longest text of ranks that is told; more ranks are `many`.
const COLUMNS_MAX: usize = 9;

/// The ranks for which a callpath waits most: the fewest that cause half of its waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WaitedFor {
    /// The ranks.
    pub ranks: RankSet,
    /// The waiting for them, in ns.
    pub waiting_ns: u128,
}

impl WaitedFor {
    /// Returns the ranks of a callpath that took `whole_ns`, given its waiting by the rank that it
    /// waits for; none if less than half of its time is waiting, or most of that is for ranks that
    /// are not known.
    pub(crate) fn of_partners(partners: &Partners, whole_ns: u128) -> Option<Self> {
        let all_ns: u128 = partners.values().sum();
        if all_ns == 0 || all_ns.saturating_mul(2) < whole_ns {
            return None;
        }
        let known = partners.iter().filter_map(|(rank, ns)| Some(((*rank)?, *ns)));
        let mut known: Vec<(u32, u128)> = known.collect();
        known.sort_by_key(|&(rank, ns)| (Reverse(ns), rank));
        let mut found = Self { ranks: RankSet::default(), waiting_ns: 0 };
        for (rank, ns) in known {
            if found.waiting_ns.saturating_mul(2) >= all_ns {
                break;
            }
            found.ranks.insert(rank);
            found.waiting_ns += ns;
        }
        (found.waiting_ns.saturating_mul(2) >= all_ns).then_some(found)
    }

    /// Returns the ranks as a short text without spaces, such as `2` or `0-3`; `many` of many.
    #[must_use]
    pub fn text(&self) -> String {
        let text = self.ranks.to_string();
        if text.len() > COLUMNS_MAX { "many".to_owned() } else { text }
    }
}

impl Totals {
    /// Returns the ranks for which each callpath waits that waits for half of its time or more.
    #[must_use]
    pub fn waited_for(&self) -> BTreeMap<CallpathIndex, WaitedFor> {
        self.waited_for_by(|callpath| callpath)
    }

    /// Returns the same of groups of callpaths, such as the calls of a function.
    #[must_use]
    pub fn waited_for_by(
        &self,
        group: impl Fn(CallpathIndex) -> CallpathIndex,
    ) -> BTreeMap<CallpathIndex, WaitedFor> {
        let mut groups: BTreeMap<CallpathIndex, (Partners, u128)> = BTreeMap::new();
        for (index, _) in self.callpaths().iter() {
            let Some(partners) = self.waits.partners(index) else { continue };
            let (of_group, whole_ns) = groups.entry(group(index)).or_default();
            for (&rank, ns) in partners {
                *of_group.entry(rank).or_default() += ns;
            }
            let of_ranks = self.row(index.row()).iter();
            *whole_ns += of_ranks.map(|total| u128::from(total.inclusive_ns)).sum::<u128>();
        }
        let found = groups.into_iter().filter_map(|(index, (partners, whole_ns))| {
            Some((index, WaitedFor::of_partners(&partners, whole_ns)?))
        });
        found.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(partners: &[(Option<u32>, u128)], whole_ns: u128) -> Option<String> {
        let partners = partners.iter().copied().collect();
        Some(WaitedFor::of_partners(&partners, whole_ns)?.text())
    }

    #[test]
    fn the_fewest_ranks_that_cause_half_of_the_waiting_are_told() {
        let [one, two] = [Some(1), Some(2)];
        assert_eq!(told(&[(one, 10), (two, 90)], 120).as_deref(), Some("2"));
        assert_eq!(told(&[(Some(0), 30), (one, 40), (two, 30)], 100).as_deref(), Some("0-1"));
        let each: Vec<_> = (0..40).map(|rank| (Some(rank * 2), 1)).collect();
        assert_eq!(told(&each, 40).as_deref(), Some("many"));
    }

    #[test]
    fn what_computes_or_waits_for_unknown_ranks_has_no_cause() {
        assert_eq!(told(&[(Some(2), 49)], 100), None);
        assert_eq!(told(&[(Some(2), 49), (None, 51)], 100), None);
        assert_eq!(told(&[], 0), None);
    }
}
