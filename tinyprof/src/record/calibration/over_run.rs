//! The cost of visits over the run: short batches of empty visits, at many moments.
//!
//! A processor that shares its core with a busy one takes up to 1.6 times as long for a visit, and
//! a virtual machine does not say which processors share a core. One moment knows only one of the
//! two states, so that the cost is measured again wherever the program is in our code anyway.

use std::sync::{Mutex, TryLockError};

use super::super::arena::{Arena, weigh_roots};
use super::super::budget;
use super::super::clock::Clock;
use super::{EMPTY, EMPTY_ROOT, ROOT, batches, new_arena, visit, visit_cost};

/// The visits of a batch, and the number of batches at a moment. The fastest counts: others were
/// interrupted.
const VISITS: u32 = 64;
const BATCHES: u32 = 4;
/// The visits after which most executions of a root region are kept together with others.
const KEPT_TOGETHER: u32 = 1 << 14;
/// The most moments that are kept. When they are as many, every other one is dropped.
const MOMENTS_MAX: usize = 128;
/// The part of the moments that is left out at either end: a twentieth.
const LEFT_OUT: usize = 20;
/// The relative uncertainty by the code around a visit: the processor overlaps it with work that
/// waits for its own results, of which 15 ns made 9 ns of 23.
const BY_CONTEXT: f64 = 0.6;
/// The part by which the cost at moments that were not seen may differ: so do the two states of a
/// processor.
const UNSEEN: f64 = 0.6;
/// If none of n moments shows a state, it takes less than 3 / n of the run, with 95 % certainty.
const RULE_OF_THREE: f64 = 3.0;

/// The costs of visits at a moment, in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    /// The cost of a timed visit inside of another region.
    pub(crate) inner: f64,
    /// That of a visit of a root region.
    root: f64,
}

/// A cost over the run, in ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    pub(crate) mean: f64,
    /// By how much the mean may differ from what it was for the visits of one callpath.
    pub(crate) error: f64,
}

/// The costs of visits over the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RunCost {
    /// The cost of a timed visit inside of another region.
    pub(crate) inner: Cost,
    /// That of a visit of a root region.
    pub(crate) root: Cost,
}

/// The moments that are kept: about as far from each other as the calls of
/// [`keep`](Moments::keep) are, times a power of two.
#[derive(Debug)]
struct Moments {
    kept: Vec<Moment>,
    /// How many are counted for one that is kept, and how many of them are still to come.
    stride: u32,
    to_go: u32,
}

impl Moments {
    const fn none() -> Self {
        Self { kept: Vec::new(), stride: 1, to_go: 1 }
    }

    /// Keeps a moment, or only counts it.
    fn keep(&mut self, moment: Moment) {
        self.to_go -= 1;
        if self.to_go > 0 {
            return;
        }
        if self.kept.len() >= MOMENTS_MAX {
            let mut at = 0;
            self.kept.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.stride = self.stride.saturating_mul(2);
        }
        self.kept.push(moment);
        self.to_go = self.stride;
    }

    /// Returns one of the costs, over all moments; `None` if there are none.
    fn cost(&self, of: impl Fn(&Moment) -> f64) -> Option<Cost> {
        let mut costs: Vec<f64> = self.kept.iter().map(of).collect();
        costs.sort_by(f64::total_cmp);
        let left_out = costs.len() / LEFT_OUT;
        let usual = &costs[left_out..costs.len() - left_out];
        let (least, most) = (*usual.first()?, *usual.last()?);
        let mean = usual.iter().sum::<f64>() / float(usual.len());
        let unseen = UNSEEN * (RULE_OF_THREE / float(costs.len())).min(1.0);
        let error = (mean - least).max(most - mean) + mean * (BY_CONTEXT + unseen);
        Some(Cost { mean, error: error.min(mean) })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a hundred at most")]
fn float(number: usize) -> f64 {
    number as f64
}

/// What is measured with, and what was found.
struct OverRun {
    arena: Option<Arena>,
    moments: Moments,
}

static OVER_RUN: Mutex<OverRun> = Mutex::new(OverRun { arena: None, moments: Moments::none() });

/// Measures what visits cost now. Returns `None` if another thread does, if there is no memory, or
/// under a budget, which leaves visits untimed.
///
/// # Cost
/// About 13 us; the first time half a millisecond, and an arena.
pub(crate) fn look(clock: Clock) -> Option<Moment> {
    if budget::installed().is_some() {
        return None;
    }
    let mut over_run = match OVER_RUN.try_lock() {
        Ok(over_run) => over_run,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    let OverRun { arena, moments } = &mut *over_run;
    if arena.is_none() {
        let made = new_arena(clock)?;
        (0..KEPT_TOGETHER).for_each(|_| visit(&made, &EMPTY_ROOT));
        *arena = Some(made);
    }
    let moment = measure(clock, arena.as_ref()?)?;
    moments.keep(moment);
    weigh_roots(moment.root / moment.inner);
    Some(moment)
}

fn measure(clock: Clock, arena: &Arena) -> Option<Moment> {
    let of_root = batches(clock, (BATCHES, VISITS), || visit(arena, &EMPTY_ROOT));
    let root = arena.enter(&ROOT).to_leave()?;
    let of_inner = batches(clock, (BATCHES, VISITS), || visit(arena, &EMPTY));
    arena.exit(root);
    Some(Moment { inner: of_inner.max(1.0), root: of_root.max(1.0) })
}

/// Returns the costs of visits over the run, with what they are now.
pub(crate) fn run_cost(clock: Clock) -> RunCost {
    look(clock);
    let kept = |of: fn(&Moment) -> f64| OVER_RUN.try_lock().ok()?.moments.cost(of);
    let at_start = || {
        let mean = visit_cost(clock).timed;
        Cost { mean, error: mean * (BY_CONTEXT + UNSEEN).min(1.0) }
    };
    let inner = kept(|moment| moment.inner).unwrap_or_else(at_start);
    RunCost { inner, root: kept(|moment| moment.root).unwrap_or(inner) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(costs: impl IntoIterator<Item = f64>) -> Moments {
        let mut moments = Moments::none();
        costs.into_iter().for_each(|inner| moments.keep(Moment { inner, root: 2.0 * inner }));
        moments
    }

    #[test]
    fn both_states_of_a_processor_are_within_the_error() {
        let cost = moments((0..100).map(|at| if at % 4 == 0 { 40.0 } else { 26.0 }));
        let cost = cost.cost(|moment| moment.inner).unwrap();
        assert!((cost.mean - 29.5).abs() < 0.5, "{cost:?}");
        assert!(cost.mean - cost.error < 26.0 && cost.mean + cost.error > 40.0, "{cost:?}");
        assert!(cost.error < 30.0, "{cost:?}");
    }

    #[test]
    fn what_few_moments_do_not_show_is_uncertain() {
        let cost = |moments: Moments| moments.cost(|moment| moment.root);
        assert_eq!(cost(Moments::none()), None);
        let few = cost(moments([25.0, 25.0])).unwrap();
        let many = cost(moments([25.0; 100])).unwrap();
        assert!((few.mean, many.mean) == (50.0, 50.0));
        assert!(few.error >= 50.0 && many.error < 32.0, "{few:?} {many:?}");
    }

    #[test]
    fn one_long_interruption_counts_for_nothing() {
        let costs = (0..40).map(|at| if at == 7 { 9_000.0 } else { 25.0 });
        let cost = moments(costs).cost(|moment| moment.inner).unwrap();
        assert!((cost.mean - 25.0).abs() < 1e-9 && cost.error < 18.0, "{cost:?}");
    }

    #[test]
    fn moments_of_a_long_run_are_spread_over_all_of_it() {
        let moments = moments((0..100_000).map(f64::from));
        assert!((MOMENTS_MAX / 2..=MOMENTS_MAX).contains(&moments.kept.len()));
        let cost = moments.cost(|moment| moment.inner).unwrap();
        assert!((cost.mean - 50_000.0).abs() < 2_000.0, "{cost:?}");
    }
}
