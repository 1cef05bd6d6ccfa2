//! The profiler's overhead: measuring visits, and writing them.

use tinyprof_format::model::Manifest;

use super::units::{percent_of, ratio, rounded, time_cell, whole};
use super::{ClockOverRanks, RankStatistics};

/// The assumed cost of measuring one visit, in nanoseconds, if the profile does not contain it: see
/// `docs/overhead.md`.
pub(crate) const VISIT_COST_NS: f64 = 25.0;

/// The assumed cost of a visit that a budget let only be counted, in nanoseconds, if the profile
/// does not contain it: see `docs/overhead.md`.
pub(crate) const COUNTED_VISIT_COST_NS: f64 = 5.0;

/// The profiler's overhead in a run. The formulas are in `docs/report.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Overhead {
    /// The number of ranks.
    pub(crate) ranks: u32,
    /// The visits on all ranks together.
    pub(crate) visits: u64,
    /// The number of visits that were only counted, to stay within the budget.
    pub(crate) visits_not_timed: u64,
    /// The cost of measuring one visit on the machine of the run, in nanoseconds. If it was not
    /// measured, this is none, and [`VISIT_COST_NS`] is used.
    pub(crate) visit_cost_ns: Option<f64>,
    /// The cost of a visit that is only counted, in nanoseconds. If it was not measured, this is
    /// none, and [`COUNTED_VISIT_COST_NS`] is used.
    pub(crate) counted_visit_cost_ns: Option<f64>,
    /// The visits of callpaths whose times are estimates, on all ranks together, including
    /// `visits_not_timed`.
    pub(crate) visits_estimated: u64,
    /// The time that rank 0 spent in the flush and in interim profiles, in nanoseconds, including
    /// waiting for other ranks.
    pub(crate) writing_ns: u64,
    /// The time of all ranks together, in nanoseconds.
    pub(crate) total_ns: u128,
    /// The clocks of all ranks; none if the profile is not of level `messages`.
    pub(crate) clock: Option<ClockOverRanks>,
}

impl Overhead {
    /// Returns the overhead of a run; none if nothing was measured, or another profiler measured.
    pub(super) fn of_run(
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
    pub(super) fn costs_of(manifest: &Manifest) -> Self {
        let ns = |ps: u64| (ps > 0).then(|| ratio(ps.into(), 1_000));
        Self {
            ranks: manifest.ranks,
            visits: 0,
            visits_not_timed: 0,
            visit_cost_ns: ns(manifest.metadata.visit_cost_ps),
            counted_visit_cost_ns: ns(manifest.metadata.counted_visit_cost_ps),
            visits_estimated: 0,
            writing_ns: 0,
            total_ns: 0,
            clock: None,
        }
    }

    /// Returns by how much the mean rank was delayed through others, signed, in nanoseconds; none
    /// if it is not known.
    pub(crate) fn through_others_ns(&self) -> Option<f64> {
        let clock = self.clock?;
        let sum_ns = clock.propagated_ns();
        let mean_ns = ratio(sum_ns.unsigned_abs(), clock.ranks.max(1).into());
        Some(if sum_ns < 0 { -mean_ns } else { mean_ns })
    }

    /// Returns by how much the delay of the mean rank may be wrong, in nanoseconds.
    pub(crate) fn uncertainty_ns(&self) -> Option<f64> {
        let clock = self.clock?;
        Some(ratio(clock.uncertainty_ns, clock.ranks.max(1).into()))
    }

    /// Returns the time for measuring the visits of the mean rank, in nanoseconds, limited to the
    /// rank's whole time: a cost measured on a loaded machine may well add up to more.
    #[must_use]
    pub(crate) fn timing_ns(&self) -> f64 {
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
    pub(crate) fn of_visits_ns(&self, visits: u64, is_estimate: bool) -> f64 {
        let not_timed = if is_estimate {
            ratio(self.visits_not_timed.into(), self.visits_estimated.into()).min(1.0)
        } else {
            0.0
        };
        let cost_ns = self.timed_ns() + not_timed * (self.counted_ns() - self.timed_ns());
        ratio(visits.into(), 1) * cost_ns
    }

    fn timed_ns(&self) -> f64 {
        self.visit_cost_ns.unwrap_or(VISIT_COST_NS)
    }

    fn counted_ns(&self) -> f64 {
        self.counted_visit_cost_ns.unwrap_or(COUNTED_VISIT_COST_NS)
    }

    /// Returns the whole overhead on the mean rank, in nanoseconds.
    #[must_use]
    pub(crate) fn a_rank_ns(&self) -> f64 {
        self.timing_ns() + ratio(self.writing_ns.into(), 1)
    }

    /// Returns the overhead as a part of the mean rank's time; 0 if that is 0.
    #[must_use]
    pub(crate) fn share(&self) -> f64 {
        let total_ns = ratio(self.total_ns, u128::from(self.ranks.max(1)));
        if total_ns > 0.0 { self.a_rank_ns() / total_ns } else { 0.0 }
    }

    /// Returns a sentence like "overhead: at least 3.10ms per rank (0.02%): 2.00ms timing
    /// 81920 visits, 1.10ms writing".
    ///
    /// It says "at least" because the cost of a visit was measured in a loop of its own. Further
    /// losses of the program, such as the inlining of a function that is a region, were not
    /// measured.
    pub(super) fn sentence(&self) -> String {
        let Some((through_ns, uncertainty_ns)) =
            self.through_others_ns().zip(self.uncertainty_ns())
        else {
            return self.here();
        };
        let part = time_cell(whole(through_ns.abs()));
        let through = match through_ns < 0.0 {
            true => format!("waiting for others hid {part} of it"),
            false => format!("{part} more through others"),
        };
        format!("{}; {through}, +- {}", self.here(), time_cell(whole(uncertainty_ns)))
    }

    /// Returns the part of the sentence on the rank's own measuring.
    fn here(&self) -> String {
        let about = if self.visit_cost_ns.is_none() { "about" } else { "at least" };
        let per_rank = if self.ranks > 1 { " per rank" } else { "" };
        let visits = rounded(self.visits.into(), u128::from(self.ranks.max(1)));
        format!(
            "overhead: {about} {}{per_rank} ({}): {} timing {visits} visit{}, {} writing",
            time_cell(whole(self.a_rank_ns())),
            percent_of(self.share()),
            time_cell(whole(self.timing_ns())),
            if visits == 1 { "" } else { "s" },
            time_cell(self.writing_ns.into()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost() -> Overhead {
        Overhead {
            ranks: 4,
            visits: 400_000,
            visits_not_timed: 0,
            visit_cost_ns: Some(20.0),
            counted_visit_cost_ns: None,
            visits_estimated: 0,
            writing_ns: 1_100_000,
            total_ns: 4 * 15_500_000_000,
            clock: None,
        }
    }

    #[test]
    fn the_cost_is_that_of_a_rank() {
        assert_eq!(
            cost().sentence(),
            "overhead: at least 3.10ms per rank (0.020%): 2.00ms timing 100000 visits, 1.10ms writing"
        );
        let alone = Overhead { ranks: 1, visits: 1, visit_cost_ns: None, ..cost() };
        assert_eq!(
            alone.sentence(),
            "overhead: about 1.10ms (0.0018%): 25ns timing 1 visit, 1.10ms writing"
        );
    }

    #[test]
    fn what_it_cost_through_others_is_told_where_it_is_known() {
        let sentence = |own_intrusion_ns, intrusion_ns| {
            let mut clock = ClockOverRanks { ranks: 4, companions: 9, ..ClockOverRanks::default() };
            (clock.own_intrusion_ns, clock.intrusion_ns) = (own_intrusion_ns, intrusion_ns);
            clock.uncertainty_ns = 40_000;
            Overhead { clock: Some(clock), ..cost() }.sentence()
        };
        let told = sentence(4_000_000, 6_000_000);
        assert!(told.ends_with("1.10ms writing; 500us more through others, +- 10.0us"), "{told}");
        let told = sentence(4_000_000, 2_000_000);
        assert!(told.ends_with("; waiting for others hid 500us of it, +- 10.0us"), "{told}");
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
    fn a_visit_that_was_only_counted_costs_less() {
        let budget = Overhead { visits_not_timed: 300_000, ..cost() };
        assert!((budget.timing_ns() - (100_000.0 * 20.0 + 300_000.0 * 5.0) / 4.0).abs() < 1e-6);
        let measured = Overhead { counted_visit_cost_ns: Some(2.0), ..budget };
        assert!((measured.timing_ns() - (100_000.0 * 20.0 + 300_000.0 * 2.0) / 4.0).abs() < 1e-6);
        let nothing = Overhead { ranks: 0, total_ns: 0, ..cost() };
        assert!(nothing.share().abs() < 1e-12);
    }
}
