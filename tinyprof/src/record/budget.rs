//! A cap on what timing may cost: which callpaths are timed how seldom. Numbers only;
//! `arena/sampling.rs` acts.
//!
//! A callpath that may not time all of its visits times one in 2^k. What timed visits a thread can
//! afford is shared out so that seldom visited callpaths time all of theirs, and the others equally
//! many, to a factor of 2.

use std::sync::OnceLock;

/// The largest k: a callpath that is suddenly visited seldom must not wait for its next timed visit
/// for ever.
const SHIFT_MAX: u32 = 16;
/// Timed visits between two looks at the budget, at least. So many a thread may time before it is
/// held back.
const QUANTUM_MIN: u32 = 256;
/// What is timed beyond the budget is paid back, but an eighth of the budget is always left to
/// measure with.
const LEFT_WHILE_PAYING_BACK: f64 = 0.125;

/// The cost of a visit, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct VisitCost {
    /// Of one that is timed.
    pub(crate) timed: f64,
    /// Of one that a budget has only counted.
    pub(crate) counted: f64,
    /// What an empty visit measures of itself, where the visits around it are only counted.
    pub(crate) inside: f64,
    /// How far that may be off: in other surroundings than these the processor overlaps more or
    /// less.
    pub(crate) inside_error: f64,
}

/// The share of a thread's time that timing may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budget {
    share: f64,
    cost: VisitCost,
}

static INSTALLED: OnceLock<Budget> = OnceLock::new();

/// Sets the budget of this process, a share of 0 to 1. Only the first counts, and only for
/// callpaths that are visited first after this.
///
/// A share of 1 is as much as timing takes: no budget.
pub(crate) fn install(share: f64, cost: VisitCost) {
    INSTALLED.get_or_init(|| Budget { share, cost });
}

/// The budget of this process, if it has one.
pub(super) fn installed() -> Option<Budget> {
    INSTALLED.get().copied().filter(|budget| budget.share < 1.0)
}

/// How many timed visits there were and could have been, by the number of bits of how many one
/// callpath could have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    by_bits: [u64; 65],
}

impl Wanted {
    pub(super) const fn none() -> Self {
        Self { by_bits: [0; 65] }
    }

    /// Adds a callpath with so many visits.
    pub(super) fn add(&mut self, visits: u64) {
        let sum = &mut self.by_bits[bits(visits) as usize];
        *sum = sum.saturating_add(visits);
    }

    /// The visits that would be timed if no callpath timed more than 2^`limit_bits`.
    fn timed(&self, limit_bits: u32) -> u64 {
        let of = |(bits, &sum): (u32, &u64)| {
            sum.checked_shr(bits.saturating_sub(limit_bits)).unwrap_or(0)
        };
        (0..).zip(&self.by_bits).map(of).fold(0, u64::saturating_add)
    }
}

/// The least b such that `visits` is at most 2^b.
fn bits(visits: u64) -> u32 {
    u64::BITS - visits.saturating_sub(1).leading_zeros()
}

/// What a thread may time until it looks at its budget again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// No callpath times more than two to this power.
    limit_bits: u32,
    /// After how many timed visits to look again.
    pub(super) quantum: u32,
}

impl Plan {
    /// The k of a callpath that would have `visits` of them.
    pub(super) fn shift(self, visits: u64) -> u32 {
        bits(visits).saturating_sub(self.limit_bits).min(SHIFT_MAX)
    }
}

/// What has been spent of a thread's time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spent {
    /// Ticks since the thread first looked at its budget, and since it last did.
    pub(super) total_ticks: u64,
    pub(super) since_ticks: u64,
    /// Visits timed in the first of these times.
    pub(super) total_timed: u64,
}

impl Budget {
    #[cfg(test)]
    pub(super) fn new(share: f64, visit_ticks: f64) -> Self {
        Self { share, cost: VisitCost { timed: visit_ticks, ..VisitCost::default() } }
    }

    /// The ticks that a timed visit measures of its own cost, and their uncertainty.
    pub(super) const fn cost_inside(self) -> (f64, f64) {
        (self.cost.inside, self.cost.inside_error)
    }

    /// The first quantum.
    pub(super) const fn first_quantum() -> u32 {
        QUANTUM_MIN
    }

    /// The plan for as long a time as the last was, in which `callpaths` callpaths had the visits
    /// `wanted`.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "numbers of visits and ticks that are shared out need no 53 exact bits, and none is negative"
    )]
    pub(super) fn plan(self, spent: Spent, wanted: &Wanted, callpaths: u64) -> Plan {
        let share_ticks = self.share * spent.since_ticks as f64;
        let debt_ticks =
            spent.total_timed as f64 * self.cost.timed - self.share * spent.total_ticks as f64;
        let allowed_ticks =
            (share_ticks - debt_ticks).clamp(share_ticks * LEFT_WHILE_PAYING_BACK, share_ticks);
        let allowed = (allowed_ticks / self.cost.timed) as u64;
        let limit_bits =
            (0..=64).rev().find(|&limit_bits| wanted.timed(limit_bits) <= allowed).unwrap_or(0);
        // Looking at every callpath takes some 10 ns each: so it takes a small part of what timing
        // may take.
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
        let spent = Spent { total_ticks: since_ticks, since_ticks, total_timed: 0 };
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
        // 500 visits can be timed.
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
            // A sum of halves rounded down is at most the halves of the sum.
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
            let spent = Spent { total_ticks: 10_000_000, since_ticks: 1_000_000, total_timed };
            Budget::new(0.1, 10.0).plan(spent, &wanted, 1).shift(1 << 20)
        };
        assert!(shift(0) < shift(105_000) && shift(105_000) < shift(1_000_000));
        assert_eq!(shift(1_000_000), shift(10_000_000));
    }
}
