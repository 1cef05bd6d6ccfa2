//! The profiler's overhead: measuring visits, and writing them.

pub(crate) mod adjusted;
pub(crate) mod clock;
pub(crate) mod followed;

use tinyprof_format::model::Manifest;

use crate::facts::numbers::ratio;
use crate::facts::overhead::clock::ClockOverRanks;
use crate::facts::statistics::rank::RankStatistics;

/// The assumed cost of measuring one visit, in nanoseconds, if the profile does not contain it: see
/// `docs/overhead.md`.
pub(crate) const VISIT_COST_NS: f64 = 25.0;

/// The assumed cost of a visit that a budget let only be counted, in nanoseconds, if the profile
/// does not contain it: see `docs/overhead.md`.
pub(crate) const COUNTED_VISIT_COST_NS: f64 = 5.0;

/// The profiler's overhead in a run. The formulas are in `docs/report.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overhead {
    /// The number of ranks.
    pub ranks: u32,
    /// The visits on all ranks together.
    pub visits: u64,
    /// The number of visits that were only counted, to stay within the budget.
    pub visits_not_timed: u64,
    /// The cost of measuring one visit on the machine of the run, in nanoseconds. If it was not
    /// measured, this is none, and `VISIT_COST_NS` is used.
    pub visit_cost_ns: Option<f64>,
    /// By how much that cost may have been another for the visits of one callpath, in nanoseconds;
    /// none if it is not known.
    pub visit_cost_error_ns: Option<f64>,
    /// The cost of measuring one visit of a root region, in nanoseconds. If it was not measured,
    /// this is none, and that of other visits is used.
    pub root_visit_cost_ns: Option<f64>,
    /// By how much that cost may have been another for the visits of one callpath.
    pub root_visit_cost_error_ns: Option<f64>,
    /// The cost of a visit that is only counted, in nanoseconds. If it was not measured, this is
    /// none, and `COUNTED_VISIT_COST_NS` is used.
    pub counted_visit_cost_ns: Option<f64>,
    /// The visits of callpaths whose times are estimates, on all ranks together, including
    /// `visits_not_timed`.
    pub visits_estimated: u64,
    /// The time that rank 0 spent on beginning to record, including waiting for other ranks, in
    /// nanoseconds; 0 if unknown.
    pub starting_ns: u64,
    /// The time that rank 0 spent in the flush and in interim profiles, in nanoseconds, including
    /// waiting for other ranks.
    pub writing_ns: u64,
    /// The time of all ranks together, in nanoseconds.
    pub total_ns: u128,
    /// The clocks of all ranks; none if the profile is not of level `messages`.
    pub clock: Option<ClockOverRanks>,
}

impl Overhead {
    /// Returns the overhead of a run; none if nothing was measured, or another profiler measured.
    #[must_use]
    pub fn of_run(
        manifest: &Manifest,
        rows: impl Iterator<Item = RankStatistics>,
        total_ns: u128,
    ) -> Option<Self> {
        let (mut visits, mut visits_estimated) = (0_u64, 0_u64);
        for row in rows {
            visits = visits.saturating_add(row.visits);
            if row.inclusive.is_estimate() {
                visits_estimated = visits_estimated.saturating_add(row.visits);
            }
        }
        (visits > 0 && !manifest.metadata.tinyprof_version.is_empty()).then(|| Self {
            visits,
            visits_not_timed: manifest.losses.visits_not_timed.min(visits),
            visits_estimated,
            writing_ns: manifest
                .flush
                .total_ns()
                .saturating_add(manifest.interim_profiles.total_ns),
            total_ns,
            ..Self::costs_of(manifest)
        })
    }

    /// Returns the costs of visits in a run, without any visits.
    #[must_use]
    pub fn costs_of(manifest: &Manifest) -> Self {
        let ns = |ps: u64| (ps > 0).then(|| ratio(ps.into(), 1_000));
        Self {
            ranks: manifest.ranks,
            visits: 0,
            visits_not_timed: 0,
            visit_cost_ns: ns(manifest.metadata.visit_cost_ps),
            visit_cost_error_ns: ns(manifest.metadata.visit_cost_error_ps),
            root_visit_cost_ns: ns(manifest.metadata.root_visit_cost_ps),
            root_visit_cost_error_ns: ns(manifest.metadata.root_visit_cost_error_ps),
            counted_visit_cost_ns: ns(manifest.metadata.counted_visit_cost_ps),
            visits_estimated: 0,
            starting_ns: manifest.metadata.starting_ns,
            writing_ns: 0,
            total_ns: 0,
            clock: None,
        }
    }

    /// Returns by how much the mean rank was delayed through others, signed, in nanoseconds; none
    /// if it is not known.
    #[must_use]
    pub fn through_others_ns(&self) -> Option<f64> {
        let clock = self.clock?;
        let sum_ns = clock.propagated_ns();
        let mean_ns = ratio(sum_ns.unsigned_abs(), clock.ranks.max(1).into());
        Some(if sum_ns < 0 { -mean_ns } else { mean_ns })
    }

    /// Returns by how much the delay of the mean rank may be wrong, in nanoseconds.
    #[must_use]
    pub fn uncertainty_ns(&self) -> Option<f64> {
        let clock = self.clock?;
        Some(ratio(clock.uncertainty_ns, clock.ranks.max(1).into()))
    }

    /// Returns the time for measuring the visits of the mean rank, in nanoseconds, limited to the
    /// rank's whole time: a cost measured on a loaded machine may well add up to more.
    #[must_use]
    pub fn timing_ns(&self) -> f64 {
        let timed = ratio(u128::from(self.visits.saturating_sub(self.visits_not_timed)), 1);
        let counted = ratio(self.visits_not_timed.into(), 1);
        let all_ns = timed * self.timed_ns() + counted * self.counted_ns();
        let most_ns = if self.total_ns > 0 { ratio(self.total_ns, 1) } else { all_ns };
        all_ns.min(most_ns) / f64::from(self.ranks.max(1))
    }

    /// Returns the time for measuring these visits of a callpath, in nanoseconds. The number of
    /// visits that were only counted is known for all callpaths together. It is assumed to be the
    /// same part of each callpath whose time is an estimate.
    #[must_use]
    pub fn of_visits_ns(&self, visits: u64, is_estimate: bool) -> f64 {
        self.of_visits_at_ns(self.timed_ns(), visits, is_estimate)
    }

    /// Returns the time for measuring these visits of a root region, in nanoseconds, as
    /// [`of_visits_ns`](Self::of_visits_ns) does for others.
    #[must_use]
    pub fn of_root_visits_ns(&self, visits: u64, is_estimate: bool) -> f64 {
        let timed_ns = self.root_visit_cost_ns.unwrap_or_else(|| self.timed_ns());
        self.of_visits_at_ns(timed_ns, visits, is_estimate)
    }

    fn of_visits_at_ns(&self, timed_ns: f64, visits: u64, is_estimate: bool) -> f64 {
        let not_timed = if is_estimate {
            ratio(self.visits_not_timed.into(), self.visits_estimated.into()).min(1.0)
        } else {
            0.0
        };
        let cost_ns = timed_ns + not_timed * (self.counted_ns() - timed_ns);
        ratio(visits.into(), 1) * cost_ns
    }

    /// Returns by how much the time for measuring the visits of a callpath may be wrong, as a part
    /// of it; 0 if it is not known.
    #[must_use]
    pub fn relative_error(&self, is_root: bool) -> f64 {
        let (error_ns, cost_ns) = match self.root_visit_cost_ns {
            Some(root_ns) if is_root => (self.root_visit_cost_error_ns, root_ns),
            _ => (self.visit_cost_error_ns, self.timed_ns()),
        };
        error_ns.map_or(0.0, |error_ns| error_ns / cost_ns)
    }

    fn timed_ns(&self) -> f64 {
        self.visit_cost_ns.unwrap_or(VISIT_COST_NS)
    }

    fn counted_ns(&self) -> f64 {
        self.counted_visit_cost_ns.unwrap_or(COUNTED_VISIT_COST_NS)
    }

    /// Returns the whole overhead on the mean rank, in nanoseconds.
    #[must_use]
    pub fn a_rank_ns(&self) -> f64 {
        self.timing_ns() + ratio((self.starting_ns + self.writing_ns).into(), 1)
    }

    /// Returns the overhead as a part of the mean rank's time; 0 if that is 0.
    #[must_use]
    pub fn share(&self) -> f64 {
        let total_ns = ratio(self.total_ns, u128::from(self.ranks.max(1)));
        if total_ns > 0.0 { self.a_rank_ns() / total_ns } else { 0.0 }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn cost() -> Overhead {
        Overhead {
            ranks: 4,
            visits: 400_000,
            visits_not_timed: 0,
            visit_cost_ns: Some(20.0),
            visit_cost_error_ns: None,
            root_visit_cost_ns: None,
            root_visit_cost_error_ns: None,
            counted_visit_cost_ns: None,
            visits_estimated: 0,
            starting_ns: 0,
            writing_ns: 1_100_000,
            total_ns: 4 * 15_500_000_000,
            clock: None,
        }
    }

    #[test]
    fn callpaths_share_what_measuring_them_cost() {
        // Three of four visits of the estimates were counted only: 20 and 3 * 5 ns for each four.
        let budget = Overhead { visits_not_timed: 270_000, visits_estimated: 360_000, ..cost() };
        let (estimated, exact) =
            (budget.of_visits_ns(360_000, true), budget.of_visits_ns(40_000, false));
        assert!((estimated - 90_000.0 * 35.0).abs() < 1e-6, "{estimated}");
        assert!((estimated + exact - 4.0 * budget.timing_ns()).abs() < 1e-6);
    }

    #[test]
    fn visits_of_root_regions_have_a_cost_and_an_error_of_their_own() {
        let told = Overhead {
            visit_cost_error_ns: Some(4.0),
            root_visit_cost_ns: Some(32.0),
            root_visit_cost_error_ns: Some(8.0),
            ..cost()
        };
        assert!((told.of_root_visits_ns(10, false) - 320.0).abs() < 1e-9);
        assert_eq!((told.relative_error(true), told.relative_error(false)), (0.25, 0.2));
        let old = cost();
        assert!((old.of_root_visits_ns(10, false) - 200.0).abs() < 1e-9);
        assert!(old.relative_error(true).abs() < 1e-12);
    }

    #[test]
    fn a_visit_that_was_only_counted_costs_less() {
        let budget = Overhead { visits_not_timed: 300_000, ..cost() };
        assert!((budget.timing_ns() - (100_000.0 * 20.0 + 300_000.0 * 5.0) / 4.0).abs() < 1e-6);
        let measured = Overhead { counted_visit_cost_ns: Some(2.0), ..budget };
        assert!((measured.timing_ns() - (100_000.0 * 20.0 + 300_000.0 * 2.0) / 4.0).abs() < 1e-6);
        let nothing = Overhead { ranks: 0, total_ns: 0, ..cost() };
        assert!(nothing.share().abs() < 1e-12);
    }
}
