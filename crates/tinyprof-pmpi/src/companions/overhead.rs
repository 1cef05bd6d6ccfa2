//! What our own work for a call costs: measured now and then, as reading the clock is a great part
//! of it.

use crate::function::Cost;

/// The sampling interval of the calls of a kind; prime, so as not to alias with call patterns.
const MEASURED_EACH: u32 = 31;
/// The longest time that our work for a call takes, beside that which is always measured: what is
/// longer is time in which the rank had no processor.
const WORK_NS_MAX: u64 = 4_000;

/// The cost of our work for each kind of calls, before the call and after it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overhead([Estimate; Cost::Other as usize]);

#[derive(Clone, Copy, Debug)]
struct Estimate {
    /// The calls since the last that was measured.
    calls: u32,
    before: Mean,
    after: Mean,
}

impl Default for Estimate {
    fn default() -> Self {
        // The first call is measured.
        Self { calls: MEASURED_EACH - 1, before: Mean::default(), after: Mean::default() }
    }
}

/// A moving average, in 1/8 ns.
#[derive(Clone, Copy, Debug, Default)]
struct Mean(u64);

impl Mean {
    fn add(&mut self, ns: u64) {
        let ns = ns.min(WORK_NS_MAX);
        self.0 = if self.0 == 0 { ns * 8 } else { self.0 - self.0 / 8 + ns };
    }

    fn ns(self) -> u64 {
        self.0 / 8
    }
}

impl Overhead {
    /// Counts a call. Returns whether it is to be measured.
    #[inline]
    pub(super) fn measures(&mut self, of: Cost) -> bool {
        let Some(estimate) = self.0.get_mut(of as usize) else { return true };
        estimate.calls += 1;
        let is_measured = estimate.calls == MEASURED_EACH;
        if is_measured {
            estimate.calls = 0;
        }
        is_measured
    }

    /// Returns the cost before a call, in ns, and learns from it if it was measured.
    #[inline]
    pub(super) fn before(&mut self, of: Cost, measured_ns: Option<u64>) -> u64 {
        self.cost(of, measured_ns, |estimate| &mut estimate.before)
    }

    /// Returns the cost after a call, in ns, and learns from it if it was measured.
    #[inline]
    pub(super) fn after(&mut self, of: Cost, measured_ns: Option<u64>) -> u64 {
        self.cost(of, measured_ns, |estimate| &mut estimate.after)
    }

    /// Returns the cost of a call of a kind, before and after it, in 1/8 ns.
    pub(super) fn eighths_ns(&self, of: Cost) -> u64 {
        self.0.get(of as usize).map_or(0, |estimate| estimate.before.0 + estimate.after.0)
    }

    #[inline]
    fn cost(
        &mut self,
        of: Cost,
        measured_ns: Option<u64>,
        mean: impl FnOnce(&mut Estimate) -> &mut Mean,
    ) -> u64 {
        match (self.0.get_mut(of as usize).map(mean), measured_ns) {
            (Some(mean), Some(ns)) => {
                mean.add(ns);
                ns
            }
            (Some(mean), None) => mean.ns(),
            (None, ns) => ns.unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_call_of_a_kind_is_measured_and_then_one_of_31() {
        let mut cost = Overhead::default();
        let mut measured = 0;
        for _ in 0..=310 {
            let is_measured = cost.measures(Cost::Send);
            measured += u32::from(is_measured);
            cost.after(Cost::Send, is_measured.then_some(50));
        }
        assert_eq!(measured, 11);
        assert!(cost.measures(Cost::Other) && cost.measures(Cost::Other), "always");
    }

    #[test]
    fn a_cost_that_is_not_measured_is_the_mean_of_its_kind() {
        let mut cost = Overhead::default();
        assert_eq!(cost.before(Cost::Plain, Some(40)), 40);
        assert_eq!(cost.before(Cost::Plain, None), 40);
        assert_eq!((cost.before(Cost::Receive, None), cost.after(Cost::Plain, None)), (0, 0));
        (0..100).for_each(|_| assert_eq!(cost.before(Cost::Plain, Some(80)), 80));
        assert!((75..=80).contains(&cost.before(Cost::Plain, None)));
        cost.before(Cost::Plain, Some(1_000_000));
        assert!(cost.before(Cost::Plain, None) < 1_000, "the rank had no processor");
    }
}
