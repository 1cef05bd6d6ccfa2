//! The overhead budget: a limit on the cost of timing, which decides how rarely each callpath is
//! timed. This module only computes; `arena/sampling.rs` applies the results.
//!
//! A callpath that may not time all of its visits times one in 2^k. The timed visits that a thread
//! can afford are distributed so that rarely visited callpaths time all of theirs, and the others
//! equally many, up to a factor of 2.

use std::sync::OnceLock;

/// The largest k: a callpath that is suddenly visited rarely must not wait for its next timed visit
/// for ever.
const SHIFT_MAX: u32 = 16;
/// The smallest number of timed visits between two checks of the budget. A thread may time this
/// many before it is held back.
const QUANTUM_MIN: u32 = 256;
/// The part of the budget that is always available, even while time beyond the budget is paid back:
/// an eighth.
const LEFT_WHILE_PAYING_BACK: f64 = 0.125;

/// The cost of a visit, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct VisitCost {
    /// The cost of a timed visit.
    pub(crate) timed: f64,
    /// The cost of a visit that is only counted, under a budget.
    pub(crate) counted: f64,
    /// The time that an empty visit measures of itself while the visits around it are only counted.
    pub(crate) inside: f64,
    /// The uncertainty of that time: in another context the processor overlaps more or less.
    pub(crate) inside_error: f64,
}

/// The share of a thread's time that timing may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budget {
    share: f64,
    cost: VisitCost,
}

static INSTALLED: OnceLock<Budget> = OnceLock::new();

/// Sets the budget of this process, a share from 0 to 1. Only the first call counts, and only for
/// callpaths that are first visited after it.
///
/// A share of 1 means no budget.
pub(crate) fn install(share: f64, cost: VisitCost) {
    INSTALLED.get_or_init(|| Budget { share, cost });
}

/// Returns the budget of this process, if it has one.
pub(super) fn installed() -> Option<Budget> {
    INSTALLED.get().copied().filter(|budget| budget.share < 1.0)
}

/// The numbers of visits that were timed or could have been, grouped by the number of bits of a
/// callpath's visits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    by_bits: [u64; 65],
}

impl Wanted {
    pub(super) const fn none() -> Self {
        Self { by_bits: [0; 65] }
    }

    /// Adds a callpath with this number of visits.
    pub(super) fn add(&mut self, visits: u64) {
        let sum = &mut self.by_bits[bits(visits) as usize];
        *sum = sum.saturating_add(visits);
    }

    /// Returns the visits that would be timed if no callpath timed more than 2^`limit_bits`.
    fn timed(&self, limit_bits: u32) -> u64 {
        let of = |(bits, &sum): (u32, &u64)| {
            sum.checked_shr(bits.saturating_sub(limit_bits)).unwrap_or(0)
        };
        (0..).zip(&self.by_bits).map(of).fold(0, u64::saturating_add)
    }
}

/// Returns the least b such that `visits` is at most 2^b.
fn bits(visits: u64) -> u32 {
    u64::BITS - visits.saturating_sub(1).leading_zeros()
}

/// A thread's allowance of timed visits until it checks its budget again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// The largest number of visits that a callpath times, as a power of two.
    limit_bits: u32,
    /// The number of timed visits until the next check.
    pub(super) quantum: u32,
}

impl Plan {
    /// Returns the k of a callpath that would have `visits` of them.
    pub(super) fn shift(self, visits: u64) -> u32 {
        bits(visits).saturating_sub(self.limit_bits).min(SHIFT_MAX)
    }
}

/// The time and timed visits of a thread so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpentTime {
    /// Ticks since the thread first checked its budget, and since its latest check.
    pub(super) total_ticks: u64,
    pub(super) since_ticks: u64,
    /// Visits timed since the first check.
    pub(super) total_timed: u64,
}

impl Budget {
    #[cfg(test)]
    pub(super) fn new(share: f64, visit_ticks: f64) -> Self {
        Self { share, cost: VisitCost { timed: visit_ticks, ..VisitCost::default() } }
    }

    /// Returns the part of its overhead that a timed visit measures, in ticks, and its uncertainty.
    pub(super) const fn cost_inside(self) -> (f64, f64) {
        (self.cost.inside, self.cost.inside_error)
    }

    /// Returns the first quantum.
    pub(super) const fn first_quantum() -> u32 {
        QUANTUM_MIN
    }

    /// Returns the plan for a period as long as the last one, in which `callpaths` callpaths had
    /// the visits `wanted`.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers of visits and ticks that are shared out need no 53 exact bits, and none is negative"
    )]
    pub(super) fn plan(self, spent: SpentTime, wanted: &Wanted, callpaths: u64) -> Plan {
        let share_ticks = self.share * spent.since_ticks as f64;
        let debt_ticks =
            spent.total_timed as f64 * self.cost.timed - self.share * spent.total_ticks as f64;
        let allowed_ticks =
            (share_ticks - debt_ticks).clamp(share_ticks * LEFT_WHILE_PAYING_BACK, share_ticks);
        let allowed = (allowed_ticks / self.cost.timed) as u64;
        let limit_bits =
            (0..=64).rev().find(|&limit_bits| wanted.timed(limit_bits) <= allowed).unwrap_or(0);
        // Checking a callpath takes about 10 ns, so the checks take a small part of what timing may
        // take.
        let quantum = u32::try_from(callpaths.saturating_mul(8)).unwrap_or(u32::MAX);
        Plan { limit_bits, quantum: quantum.max(QUANTUM_MIN) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(share: f64, since_ticks: u64, visits: &[u64]) -> Plan {
        let mut wanted = Wanted::none();
        visits.iter().for_each(|&visits| wanted.add(visits));
        let spent = SpentTime { total_ticks: since_ticks, since_ticks, total_timed: 0 };
        Budget::new(share, 20.0).plan(spent, &wanted, visits.len() as u64)
    }

    #[test]
    fn within_the_budget_every_visit_is_timed() {
        let plan = plan(0.01, 1_000_000, &[100, 400]);
        assert_eq!((plan.shift(100), plan.shift(400)), (0, 0));
    }

    #[test]
    fn what_is_too_much_is_taken_from_the_most_visited() {
        let plan = plan(0.01, 1_000_000, &[100, 100_000]);
        assert_eq!(plan.shift(100), 0);
        // A total of 500 visits can be timed.
        assert_eq!(100_000 >> plan.shift(100_000), 390);
    }

    proptest! {
        #[test]
        fn no_plan_times_more_than_is_allowed_or_half_of_what_it_could(
            visits in prop::collection::vec(0_u64..1_000_000, 1..50), per_mille in 1_u32..500
        ) {
            let since_ticks = 50_000_000;
            let plan = plan(f64::from(per_mille) / 1000.0, since_ticks, &visits);
            let timed = |plan: Plan| visits.iter().map(|&v| v >> plan.shift(v)).sum::<u64>();
            let allowed = since_ticks * u64::from(per_mille) / 1000 / 20;
            // A sum of halves, each rounded down, is at most half of the sum.
            prop_assert!(timed(plan) <= allowed);
            let held_back = visits.iter().any(|&v| plan.shift(v) > 0);
            let more = Plan { limit_bits: plan.limit_bits + 1, ..plan };
            prop_assert!(!held_back || timed(more) + visits.len() as u64 * 2 > allowed);
        }
    }

    #[test]
    fn debts_are_paid_back_and_something_is_always_left() {
        let mut wanted = Wanted::none();
        wanted.add(1 << 20);
        let shift = |total_timed| {
            let spent = SpentTime { total_ticks: 10_000_000, since_ticks: 1_000_000, total_timed };
            Budget::new(0.1, 10.0).plan(spent, &wanted, 1).shift(1 << 20)
        };
        assert!(shift(0) < shift(105_000) && shift(105_000) < shift(1_000_000));
        assert_eq!(shift(1_000_000), shift(10_000_000));
    }
}
