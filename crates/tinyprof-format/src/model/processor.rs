//! The processor time of a rank, and the time for which it was kept waiting for a processor.

use super::numbers::numbers;

numbers! {
    /// The processor time of one rank since its measurement began, as far as it was read. All
    /// numbers are 0 if nothing is known.
    ///
    /// *Recorded threads* are those that entered a region or called MPI.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct ProcessorFacts {
        /// The time that had passed when processor times were read last, in ns. 0: they never were.
        wall_ns: u64 = max,
        /// The processor time of the process meanwhile, with all of its threads, in ns.
        cpu_ns: u64 = max,
        /// The time for which the recorded threads were followed, added up, in ns. 0: unknown, and
        /// so is everything about threads.
        threads_ns: u64 = sum,
        /// Their processor time meanwhile, in ns.
        threads_cpu_ns: u64 = sum,
        /// The time meanwhile in which they could have run, but had no processor (the run-queue
        /// delay), in ns.
        delay_ns: u64 = sum,
        /// The processor time of the recorded thread that had most of it, in ns.
        thread_cpu_max_ns: u64 = max,
        /// Recorded threads about which nothing is known. At least; threads that took one another's
        /// place count each.
        threads_unread: u64 = sum,
        /// The threads of the process, recorded or not, that were alive when this was read last and
        /// had worked: at least a hundredth of the busiest one's processor time. 0: unknown, as in
        /// a killed program.
        threads_at_work: u64 = max,
        /// The processors that any of these threads may use. 0: unknown.
        processors_allowed: u64 = max,
    }
}

impl ProcessorFacts {
    /// Returns true if nothing is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the run-queue delay of the recorded threads, in ns; none if it is not known of any
    /// of them.
    #[must_use]
    pub const fn known_delay_ns(&self) -> Option<u64> {
        if self.threads_ns > 0 { Some(self.delay_ns) } else { None }
    }

    /// Adds what another thread of the rank knows. Its numbers of the process are of another
    /// moment: the later one counts.
    pub fn absorb(&mut self, other: &Self) {
        self.merge(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_add_up_and_the_process_is_that_of_the_later_moment() {
        let mut facts = ProcessorFacts::from_numbers([10, 20, 10, 9, 1, 9, 0, 0, 0]);
        facts.absorb(&ProcessorFacts::from_numbers([12, 21, 5, 3, 2, 3, 1, 4, 2]));
        assert_eq!(facts, ProcessorFacts::from_numbers([12, 21, 15, 12, 3, 9, 1, 4, 2]));
        assert_eq!(facts.known_delay_ns(), Some(3));
        assert_eq!(ProcessorFacts { cpu_ns: 5, ..Default::default() }.known_delay_ns(), None);
    }
}
