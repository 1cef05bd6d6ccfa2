//! Computational imbalance: which ranks have more of an activity, and why.
//!
//! The imbalance of a rank is its time less the mean over all ranks: *overload* above it,
//! *underload* below. Both have the same sum.

/// The visits and the time of an activity on a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visits {
    /// The number of visits.
    pub count: u64,
    /// The time of all of them, in ns.
    pub ns: u64,
}

/// The imbalance of an activity over ranks, in ns: sums over the ranks with more than the mean, or
/// with less.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Imbalance {
    /// The time above the mean.
    pub overload_ns: f64,
    /// The part of the overload that more visits than in the mean explain.
    pub overload_by_count_ns: f64,
    /// The part of the overload that longer visits explain: the remainder.
    pub overload_by_length_ns: f64,
    /// The time below the mean; equal to the overload.
    pub underload_ns: f64,
    /// The part of the underload that fewer visits explain, on ranks that have some.
    pub underload_by_count_ns: f64,
    /// The part of the underload that shorter visits explain, on ranks that have some.
    pub underload_by_length_ns: f64,
    /// The part of the underload of ranks that have no visits.
    pub non_participation_ns: f64,
    /// The part of the overload that belongs to an activity of a single rank.
    pub singularity_ns: f64,
    /// The number of ranks that have visits.
    pub participants: usize,
    /// The only rank that has visits, if there is one.
    pub single: Option<usize>,
    /// The rank with the most time; of several the first.
    pub most: Option<usize>,
}

impl Imbalance {
    /// Returns the imbalance of an activity, of which `ranks` has the visits on each rank.
    ///
    /// A rank's difference to the mean is split at the mean length of a visit: its visits more than
    /// in the mean, each of mean length, are the part by count; the remainder is by length. Where
    /// the two have different signs, they cancel each other to the difference: the part with the
    /// sign of the difference has all of it.
    ///
    /// ```
    /// use tinyprof_messages::delay::{Imbalance, Visits};
    ///
    /// let ranks = [(10, 1_000), (10, 1_000), (20, 2_000)].map(|(count, ns)| Visits { count, ns });
    /// let imbalance = Imbalance::of(&ranks);
    /// assert_eq!(imbalance.most, Some(2));
    /// assert_eq!(imbalance.overload_by_count_ns.round(), 667.0, "it is visited more often");
    /// assert_eq!(imbalance.overload_by_length_ns.round(), 0.0);
    /// ```
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "times have 53 bits: 104 days")]
    pub fn of(ranks: &[Visits]) -> Self {
        let mut found = Self::default();
        let size = ranks.len().max(1) as f64;
        let all_ns: f64 = ranks.iter().map(|rank| rank.ns as f64).sum();
        let visits: f64 = ranks.iter().map(|rank| rank.count as f64).sum();
        let (mean_ns, mean_count) = (all_ns / size, visits / size);
        let length_ns = if visits > 0.0 { all_ns / visits } else { 0.0 };
        for (number, rank) in ranks.iter().enumerate() {
            if rank.count > 0 {
                found.participants += 1;
                found.single = Some(number);
            }
            if rank.ns > found.most.map_or(0, |most| ranks[most].ns) {
                found.most = Some(number);
            }
            let excess_ns = rank.ns as f64 - mean_ns;
            let by_count_ns = (rank.count as f64 - mean_count) * length_ns;
            let (by_count_ns, by_length_ns) = split(excess_ns, by_count_ns);
            if excess_ns > 0.0 {
                found.overload_ns += excess_ns;
                found.overload_by_count_ns += by_count_ns;
                found.overload_by_length_ns += by_length_ns;
            } else {
                found.underload_ns -= excess_ns;
                if rank.count == 0 {
                    found.non_participation_ns -= excess_ns;
                } else {
                    found.underload_by_count_ns -= by_count_ns;
                    found.underload_by_length_ns -= by_length_ns;
                }
            }
        }
        if found.participants == 1 && ranks.len() > 1 {
            found.singularity_ns = found.overload_ns;
        } else {
            found.single = None;
        }
        found
    }
}

/// Splits a difference into the part by count, and the remainder, both of its sign.
fn split(excess: f64, by_count: f64) -> (f64, f64) {
    let by_count = by_count.clamp(excess.min(0.0), excess.max(0.0));
    (by_count, excess - by_count)
}

/// Returns the imbalance of the critical path: how much longer an activity is on the path than on
/// the mean rank, in ns. What it exceeds the mean by, a balanced program would gain at most.
///
/// `path_ns` is the activity's time on the critical path, `ranks` its visits on each rank.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "times have 53 bits: 104 days")]
pub fn path_imbalance_ns(path_ns: u64, ranks: &[Visits]) -> f64 {
    let all_ns: f64 = ranks.iter().map(|rank| rank.ns as f64).sum();
    path_ns as f64 - all_ns / ranks.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(ranks: &[(u64, u64)]) -> Imbalance {
        let visits = |(count, ns): &(u64, u64)| Visits { count: *count, ns: *ns };
        Imbalance::of(&ranks.iter().map(visits).collect::<Vec<_>>())
    }

    #[test]
    fn balanced_work_has_no_imbalance() {
        for ranks in [&[][..], &[(5, 100)], &[(5, 100); 4], &[(0, 0); 3]] {
            let found = of(ranks);
            assert_eq!((found.overload_ns, found.underload_ns), (0.0, 0.0), "{ranks:?}");
            assert_eq!((found.singularity_ns, found.single), (0.0, None));
        }
    }

    #[test]
    fn longer_visits_are_told_from_more_visits() {
        let longer = of(&[(10, 100), (10, 100), (10, 400)]);
        assert_eq!((longer.overload_by_count_ns, longer.overload_by_length_ns), (0.0, 200.0));
        assert_eq!((longer.underload_by_count_ns, longer.underload_by_length_ns), (0.0, 200.0));
        let more = of(&[(10, 100), (10, 100), (40, 400)]);
        assert_eq!((more.overload_by_count_ns, more.overload_by_length_ns), (200.0, 0.0));
        assert_eq!((more.underload_by_count_ns, more.underload_by_length_ns), (200.0, 0.0));
    }

    #[test]
    fn one_rank_that_does_it_alone_is_named() {
        let found = of(&[(0, 0), (3, 400), (0, 0), (0, 0)]);
        assert_eq!((found.single, found.participants, found.most), (Some(1), 1, Some(1)));
        assert_eq!((found.singularity_ns, found.non_participation_ns), (300.0, 300.0));
        assert_eq!((found.underload_by_count_ns, found.underload_by_length_ns), (0.0, 0.0));
    }

    #[test]
    fn ranks_that_take_no_part_are_told_from_those_with_less() {
        let found = of(&[(0, 0), (10, 200), (10, 400)]);
        assert_eq!((found.single, found.participants), (None, 2));
        assert_eq!((found.non_participation_ns, found.underload_ns), (200.0, 200.0));
    }

    #[test]
    fn a_path_with_the_mean_has_no_imbalance() {
        let ranks = [(1, 100), (1, 300)].map(|(count, ns)| Visits { count, ns });
        assert_eq!(path_imbalance_ns(200, &ranks), 0.0);
        assert_eq!(path_imbalance_ns(300, &ranks), 100.0);
    }

    proptest! {
        #[test]
        fn the_parts_add_up(ranks in proptest::collection::vec((0_u64..9, 0_u64..1_000), 1..9)) {
            let ranks: Vec<_> = ranks.into_iter().map(|(count, ns)| (count, ns * count)).collect();
            let found = of(&ranks);
            let overload = found.overload_by_count_ns + found.overload_by_length_ns;
            let under = found.underload_by_count_ns + found.underload_by_length_ns;
            prop_assert!((found.overload_ns - found.underload_ns).abs() < 1e-6);
            prop_assert!((overload - found.overload_ns).abs() < 1e-6);
            prop_assert!((under + found.non_participation_ns - found.underload_ns).abs() < 1e-6);
            prop_assert!(found.overload_by_count_ns >= 0.0 && found.overload_by_length_ns >= 0.0);
        }
    }
}
