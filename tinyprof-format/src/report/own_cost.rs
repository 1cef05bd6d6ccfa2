//! What the profiler itself has cost the run: measuring visits, and writing them.

use crate::model::Manifest;

use super::hints::VISIT_COST_NS;
use super::units::{percent_of, ratio, rounded, time_cell, whole};

/// What a visit costs that a budget let only be counted, in nanoseconds: see `docs/overhead.md`.
pub const COUNTED_VISIT_COST_NS: f64 = 5.0;

/// What the profiler itself has cost. The formulas stand in `docs/report.md`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnCost {
    /// The number of ranks.
    pub ranks: u32,
    /// The visits on all ranks together.
    pub visits: u64,
    /// How many of them were counted only, as the budget demands.
    pub visits_not_timed: u64,
    /// What measuring one visit costs on the machine that it ran on, in nanoseconds; none where nobody has measured that, and
    /// [`VISIT_COST_NS`] is taken.
    pub visit_cost_ns: Option<f64>,
    /// The time that rank 0 spent in the flush and in checkpoints, in nanoseconds, with the time that it waited for others.
    pub writing_ns: u64,
    /// The time of all ranks together, in nanoseconds.
    pub total_ns: u128,
}

impl OwnCost {
    /// That of a run; none where nothing was measured, or by another profiler.
    pub(super) fn of_run(manifest: &Manifest, visits: u64, total_ns: u128) -> Option<Self> {
        let metadata = &manifest.metadata;
        #[expect(clippy::cast_precision_loss, reason = "a cost needs no more than 53 bits")]
        let visit_cost_ns = (metadata.visit_cost_ps > 0).then(|| metadata.visit_cost_ps as f64 / 1e3);
        (visits > 0 && !metadata.tinyprof_version.is_empty()).then(|| Self {
            ranks: manifest.ranks,
            visits,
            visits_not_timed: manifest.losses.visits_not_timed.min(visits),
            visit_cost_ns,
            writing_ns: manifest.flush.total_ns().saturating_add(manifest.checkpoints.total_ns),
            total_ns,
        })
    }

    /// The time for measuring the visits of the mean rank, in nanoseconds.
    #[must_use]
    pub fn timing_ns(&self) -> f64 {
        let visit_cost_ns = self.visit_cost_ns.unwrap_or(VISIT_COST_NS);
        let timed = ratio(u128::from(self.visits - self.visits_not_timed), 1);
        let counted = ratio(self.visits_not_timed.into(), 1);
        (timed * visit_cost_ns + counted * COUNTED_VISIT_COST_NS) / f64::from(self.ranks.max(1))
    }

    /// The time for all of it on the mean rank, in nanoseconds.
    #[must_use]
    pub fn a_rank_ns(&self) -> f64 {
        self.timing_ns() + ratio(self.writing_ns.into(), 1)
    }

    /// The same as a part of the mean rank's time; 0 where that is 0.
    #[must_use]
    pub fn share(&self) -> f64 {
        let total_ns = ratio(self.total_ns, u128::from(self.ranks.max(1)));
        if total_ns > 0.0 { self.a_rank_ns() / total_ns } else { 0.0 }
    }

    /// `tinyprof itself: 3.10ms a rank (0.02%): 2.00ms timing 81920 visits, 1.10ms writing`.
    pub(super) fn sentence(&self) -> String {
        let about = if self.visit_cost_ns.is_none() { "about " } else { "" };
        let a_rank = if self.ranks > 1 { " a rank" } else { "" };
        let visits = rounded(self.visits.into(), u128::from(self.ranks.max(1)));
        format!(
            "tinyprof itself: {about}{}{a_rank} ({}): {about}{} timing {visits} visit{}, {} writing",
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

    fn cost() -> OwnCost {
        OwnCost {
            ranks: 4,
            visits: 400_000,
            visits_not_timed: 0,
            visit_cost_ns: Some(20.0),
            writing_ns: 1_100_000,
            total_ns: 4 * 15_500_000_000,
        }
    }

    #[test]
    fn the_cost_is_that_of_a_rank() {
        assert_eq!(
            cost().sentence(),
            "tinyprof itself: 3.10ms a rank (0.020%): 2.00ms timing 100000 visits, 1.10ms writing"
        );
        let alone = OwnCost { ranks: 1, visits: 1, visit_cost_ns: None, ..cost() };
        assert_eq!(
            alone.sentence(),
            "tinyprof itself: about 1.10ms (0.0018%): about 25ns timing 1 visit, 1.10ms writing"
        );
    }

    #[test]
    fn a_visit_that_was_only_counted_costs_less() {
        let budget = OwnCost { visits_not_timed: 300_000, ..cost() };
        assert!((budget.timing_ns() - (100_000.0 * 20.0 + 300_000.0 * 5.0) / 4.0).abs() < 1e-6);
        let nothing = OwnCost { ranks: 0, total_ns: 0, ..cost() };
        assert!(nothing.share().abs() < 1e-12);
    }
}
