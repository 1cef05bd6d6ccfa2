//! Times as they would have been without measurement: less what timing cost in a callpath, and less
//! what it cost through others, for whom the callpath waited longer than it would have.

use tinyprof_format::model::RankFacts;

use crate::facts::numbers::ratio;
use crate::facts::overhead::Overhead;
use crate::facts::overhead::followed::Unfollowed;
use crate::facts::totals::Totals;
use crate::facts::usage::Activity;

/// The time of a callpath without measurement, and the parts by which it differs from the measured
/// one, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Adjusted {
    /// The measured time.
    pub measured_ns: f64,
    /// The cost of timing the visits of the callpath and of those below it.
    pub local_ns: f64,
    /// The waiting in the callpath and in those below it beyond that without measurement. It is
    /// negative where the delay of the callpath itself has shortened its waiting.
    pub propagated_ns: f64,
    /// By how much the result may be wrong: the part of the uncertainty of the rank that the parts
    /// above have in its delays, and at least what the cost of these visits may have differed by.
    pub uncertainty_ns: f64,
}

impl Adjusted {
    /// Returns the time without measurement, in ns; never negative.
    #[must_use]
    pub fn ns(&self) -> f64 {
        (self.measured_ns - self.local_ns - self.propagated_ns).max(0.0)
    }

    /// Returns the times of each callpath on a rank, row by row of the callpath table.
    ///
    /// # Panics
    /// If the rank is not of this profile.
    ///
    /// # Cost
    /// Linear in the number of callpaths.
    #[must_use]
    pub fn of_rank(totals: &Totals, rank: usize) -> Vec<Self> {
        Self::of_rank_at(&Overhead::costs_of(totals.manifest()), totals, rank)
    }

    fn of_rank_at(costs: &Overhead, totals: &Totals, rank: usize) -> Vec<Self> {
        let callpaths = totals.callpaths();
        let mut rows: Vec<Delays> = (0..)
            .zip(callpaths.rows())
            .map(|(row, callpath)| {
                Delays::of_callpath(costs, totals, (row, rank), callpath.parent.is_none())
            })
            .collect();
        let delays_ns: f64 = rows.iter().map(Delays::ns).sum();
        for (index, callpath) in callpaths.rows().iter().enumerate().rev() {
            let Some(parent) = callpath.parent else { continue };
            let below = rows[index];
            rows[parent.row()].add(below);
        }
        let uncertainty_ns = ratio(totals.ranks()[rank].clock.uncertainty_ns.into(), 1);
        let adjusted = |row: &Delays| Self {
            measured_ns: row.measured_ns,
            local_ns: row.local_ns,
            propagated_ns: row.propagated_ns,
            uncertainty_ns: row.uncertainty_ns(uncertainty_ns, delays_ns),
        };
        rows.iter().map(adjusted).collect()
    }

    /// Returns the times of each callpath, added up over ranks.
    pub(crate) fn of_totals(totals: &Totals) -> Vec<Self> {
        let costs = Overhead::costs_of(totals.manifest());
        let mut all = vec![Self::default(); totals.callpaths().len()];
        for rank in 0..totals.ranks().len() {
            for (sum, row) in all.iter_mut().zip(Self::of_rank_at(&costs, totals, rank)) {
                sum.measured_ns += row.measured_ns;
                sum.local_ns += row.local_ns;
                sum.propagated_ns += row.propagated_ns;
                sum.uncertainty_ns += row.uncertainty_ns;
            }
        }
        all
    }
}

/// The delays of a callpath and those below it, in ns.
#[derive(Clone, Copy)]
struct Delays {
    measured_ns: f64,
    local_ns: f64,
    /// By how much that may be wrong, as the cost of a visit is not always the same.
    local_error_ns: f64,
    propagated_ns: f64,
    propagated_size_ns: f64,
}

impl Delays {
    fn of_callpath(
        costs: &Overhead,
        totals: &Totals,
        (row, rank): (usize, usize),
        is_root: bool,
    ) -> Self {
        let (propagated_ns, sums) = (totals.excess_ns(row, rank), totals.sums(row, rank));
        let local_ns = sums.map_or(0.0, |sums| {
            let is_estimate = sums.variance_ns2 > 0.0;
            match is_root {
                true => costs.of_root_visits_ns(sums.visits, is_estimate),
                false => costs.of_visits_ns(sums.visits, is_estimate),
            }
        });
        Self {
            measured_ns: ratio(sums.map_or(0, |sums| sums.inclusive_ns).into(), 1),
            local_ns,
            local_error_ns: local_ns * costs.relative_error(is_root),
            propagated_ns,
            propagated_size_ns: propagated_ns.abs(),
        }
    }

    /// Adds those of a callpath below.
    fn add(&mut self, below: Self) {
        self.local_ns += below.local_ns;
        self.local_error_ns += below.local_error_ns;
        self.propagated_ns += below.propagated_ns;
        self.propagated_size_ns += below.propagated_size_ns;
    }

    fn ns(&self) -> f64 {
        self.local_ns + self.propagated_size_ns
    }

    /// Returns by how much the delays may be wrong, in a rank whose delays, `all_ns` in all, may be
    /// wrong by `of_rank_ns`.
    fn uncertainty_ns(&self, of_rank_ns: f64, all_ns: f64) -> f64 {
        let part = if all_ns > 0.0 { (self.ns() / all_ns).min(1.0) } else { 0.0 };
        (of_rank_ns * part).max(self.local_error_ns)
    }
}

/// The times of a rank as a whole, in the ways in which they can be compensated, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompensatedRank {
    /// The rank.
    pub rank: u32,
    /// The measured time of its roots, without start-up.
    pub measured_ns: u64,
    /// The measured time less what the rank's own measuring cost.
    pub local_ns: u64,
    /// The measured time less all delays, also those through others.
    pub parallel_ns: u64,
    /// By how much the delays may be wrong.
    pub uncertainty_ns: u64,
    /// The part of that that came through others.
    pub propagated_uncertainty_ns: u64,
    /// The time in MPI calls that are not followed, which can hide any delay.
    pub unfollowed_ns: u64,
}

impl CompensatedRank {
    /// Returns the times of all ranks that have any.
    #[must_use]
    pub fn of_totals(totals: &Totals) -> Vec<Self> {
        let unfollowed = Unfollowed::of_totals(totals);
        let callpaths = totals.callpaths();
        let roots = || callpaths.iter().filter(|(_, callpath)| callpath.parent.is_none());
        let activities = Activity::of_callpaths(callpaths);
        let exclusive_ns = totals.exclusive_ns();
        let of_setup = activities.iter().zip(&exclusive_ns);
        let of_setup: Vec<_> =
            of_setup.filter(|(of, _)| **of == Some(Activity::Setup)).map(|(_, ns)| ns).collect();
        let of_rank = |(rank, facts): (u32, &RankFacts)| {
            let times = roots().map(|(index, _)| totals.inclusive_ns(index, rank as usize));
            let all_ns = times.fold(0_u64, u64::saturating_add);
            let startup_ns = of_setup.iter().map(|ns| ns[rank as usize]);
            let measured_ns = startup_ns.fold(all_ns, u64::saturating_sub);
            (measured_ns > 0).then(|| Self {
                rank,
                measured_ns,
                local_ns: measured_ns.saturating_sub(facts.clock.own_intrusion_ns),
                parallel_ns: measured_ns.saturating_sub(facts.clock.intrusion_ns),
                uncertainty_ns: facts.clock.uncertainty_ns,
                propagated_uncertainty_ns: facts.clock.propagated_uncertainty_ns,
                unfollowed_ns: unfollowed.ranks[rank as usize].unfollowed_ns,
            })
        };
        (0..).zip(totals.ranks()).filter_map(of_rank).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_as_uncertain_as_the_rank_and_as_the_cost_of_a_visit() {
        let one = |local_error_ns| Delays {
            measured_ns: 100.0,
            local_ns: 60.0,
            local_error_ns,
            propagated_ns: -20.0,
            propagated_size_ns: 20.0,
        };
        let mut sum = one(30.0);
        sum.add(one(30.0));
        assert!((sum.ns() - 160.0).abs() < 1e-9 && (sum.propagated_ns + 40.0).abs() < 1e-9);
        assert!((sum.uncertainty_ns(200.0, 320.0) - 100.0).abs() < 1e-9, "half of the rank's");
        assert!((sum.uncertainty_ns(20.0, 320.0) - 60.0).abs() < 1e-9, "that of the visits");
        assert!((sum.uncertainty_ns(0.0, 0.0) - 60.0).abs() < 1e-9, "no messages");
    }
}
