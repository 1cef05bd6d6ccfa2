//! What a rank knows of its clock at level `messages`.

use super::numbers::numbers;

numbers! {
    /// The facts of the clock of a rank at level `messages`: by how much measuring has delayed it,
    /// and how sure that is. All numbers are 0 at other levels.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ClockFacts {
        /// The number of messages and collective operations of which a companion was seen. 0 where
        /// the level was never `messages`.
        companions: u64 = sum,
        /// The delay of the rank by its own measuring, in ns.
        own_intrusion_ns: u64 = max,
        /// By how much it was delayed in all, directly or through others, in ns.
        intrusion_ns: u64 = max,
        /// By how much that may be wrong, in ns: the rank's own part and
        /// `propagated_uncertainty_ns`.
        uncertainty_ns: u64 = max,
        /// The useful time along the longest chain of causes, in ns.
        ideal_ns: u64 = max,
        /// By how much the clock may differ from that of rank 0 after correction, in ns.
        offset_uncertainty_ns: u64 = max,
        /// Messages without a companion, because the sender had no room for it or it came too late.
        companions_missing: u64 = sum,
        /// Receives whose companion could not be told, such as those of several threads.
        companions_unclear: u64 = sum,
        /// Partners that came after the call had ended, by the clocks.
        contradictions: u64 = sum,
        /// Messages to any source that were delivered in another order than without measurement.
        inversions: u64 = sum,
        /// The time in MPI calls whose partners are not followed, in ns. They can hide any delay.
        /// At least 1; 0 in profiles of recorders that did not keep it.
        unfollowed_ns: u64 = sum,
        /// The part of `uncertainty_ns` that came through others, in ns.
        propagated_uncertainty_ns: u64 = max,
        /// Companions that nobody had asked for when the program ended: of messages that it never
        /// received, or was said not to have received. 0 in profiles of recorders that did not
        /// count.
        companions_left: u64 = sum,
    }
}

impl ClockFacts {
    /// Returns true if all numbers are 0: the level was never `messages`.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the facts of another thread of the rank. Numbers of events are added, and so is the
    /// time in calls; of other times, the larger one counts, as one thread may know of another's.
    pub fn absorb(&mut self, other: &Self) {
        self.merge(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_of_threads_are_added_and_their_times_are_of_the_same_rank() {
        let of = |factor: u64| {
            ClockFacts::from_numbers(
                [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map(|n| n * factor),
            )
        };
        let mut facts = of(2);
        facts.absorb(&of(1));
        assert_eq!(
            facts,
            ClockFacts::from_numbers([3, 4, 6, 8, 10, 12, 21, 24, 27, 30, 33, 24, 39])
        );
    }
}
