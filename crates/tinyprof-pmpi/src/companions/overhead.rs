//! What our own work for a call costs: measured now and then, as reading the clock is a great part
//! of it.

use crate::function::Role;

/// The sampling interval of the calls of a class; prime, so as not to alias with call patterns.
const MEASURED_EACH: u32 = 31;
/// The longest time that our work for a call takes, beside that which is always measured: what is
/// longer is time in which the rank had no processor.
const WORK_NS_MAX: u64 = 4_000;

/// Calls that cost about the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Nothing travels.
    Plain,
    Send,
    Receive,
    StartReceive,
    Complete,
    /// The cost depends on the call.
    Other,
}

impl Class {
    pub(crate) fn of(role: Role) -> Self {
        match role {
            Role::Send | Role::Start => Self::Send,
            Role::Receive => Self::Receive,
            Role::StartReceive => Self::StartReceive,
            Role::CompleteOne => Self::Complete,
            Role::Collective(..)
            | Role::Startall
            | Role::CompleteAny
            | Role::CompleteSome
            | Role::CompleteAll
            | Role::MakeCommunicator
            | Role::MakeIntercommunicator
            | Role::MakeWindow
            | Role::FreeWindow
            | Role::Fence
            | Role::Post
            | Role::StartAccess
            | Role::CompleteAccess
            | Role::WaitExposure
            | Role::Lock
            | Role::LockAll
            | Role::Unlock
            | Role::UnlockAll
            | Role::OpenFile
            | Role::CloseFile
            | Role::Exchange
            | Role::ExchangeReplace => Self::Other,
            _ => Self::Plain,
        }
    }
}

/// The cost of our work for each class of calls, before the call and after it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overhead([Estimate; Class::Other as usize]);

#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    calls: u32,
    before: Mean,
    after: Mean,
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
    pub(super) fn measures(&mut self, class: Class) -> bool {
        let Some(estimate) = self.0.get_mut(class as usize) else { return true };
        estimate.calls += 1;
        let is_measured = estimate.calls == MEASURED_EACH || estimate.after.0 == 0;
        if is_measured {
            estimate.calls = 0;
        }
        is_measured
    }

    /// Returns the cost before a call, in ns, and learns from it if it was measured.
    #[inline]
    pub(super) fn before(&mut self, class: Class, measured_ns: Option<u64>) -> u64 {
        self.cost(class, measured_ns, |estimate| &mut estimate.before)
    }

    /// Returns the cost after a call, in ns, and learns from it if it was measured.
    #[inline]
    pub(super) fn after(&mut self, class: Class, measured_ns: Option<u64>) -> u64 {
        self.cost(class, measured_ns, |estimate| &mut estimate.after)
    }

    /// Returns the cost of a call of a class, before and after it, in 1/8 ns.
    pub(super) fn eighths_ns(&self, class: Class) -> u64 {
        self.0.get(class as usize).map_or(0, |estimate| estimate.before.0 + estimate.after.0)
    }

    #[inline]
    fn cost(
        &mut self,
        class: Class,
        measured_ns: Option<u64>,
        mean: impl FnOnce(&mut Estimate) -> &mut Mean,
    ) -> u64 {
        match (self.0.get_mut(class as usize).map(mean), measured_ns) {
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
    fn the_first_call_of_a_class_is_measured_and_then_one_of_31() {
        let mut cost = Overhead::default();
        let mut measured = 0;
        for _ in 0..=310 {
            let is_measured = cost.measures(Class::Send);
            measured += u32::from(is_measured);
            cost.after(Class::Send, is_measured.then_some(50));
        }
        assert_eq!(measured, 11);
        assert!(cost.measures(Class::Other) && cost.measures(Class::Other), "always");
    }

    #[test]
    fn a_cost_that_is_not_measured_is_that_of_the_class_of_late() {
        let mut cost = Overhead::default();
        assert_eq!(cost.before(Class::Plain, Some(40)), 40);
        assert_eq!(cost.before(Class::Plain, None), 40);
        assert_eq!((cost.before(Class::Receive, None), cost.after(Class::Plain, None)), (0, 0));
        (0..100).for_each(|_| assert_eq!(cost.before(Class::Plain, Some(80)), 80));
        assert!((75..=80).contains(&cost.before(Class::Plain, None)));
        cost.before(Class::Plain, Some(1_000_000));
        assert!(cost.before(Class::Plain, None) < 1_000, "the rank had no processor");
    }
}
