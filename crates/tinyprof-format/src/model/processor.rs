//! The processor time of a rank, and the time for which it was kept waiting for a processor.

/// The processor time of one rank since its measurement began, as far as it was read. All numbers
/// are 0 if nothing is known.
///
/// *Recorded threads* are those that entered a region or called MPI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorFacts {
    /// The time that had passed when processor times were read last, in ns. 0: they never were.
    pub wall_ns: u64,
    /// The processor time of the process meanwhile, with all of its threads, in ns.
    pub cpu_ns: u64,
    /// The time for which the recorded threads were followed, added up, in ns. 0: unknown, and so
    /// is everything about threads.
    pub threads_ns: u64,
    /// Their processor time meanwhile, in ns.
    pub threads_cpu_ns: u64,
    /// The time meanwhile in which they could have run, but had no processor (the run-queue
    /// delay), in ns.
    pub delay_ns: u64,
    /// The processor time of the recorded thread that had most of it, in ns.
    pub thread_cpu_max_ns: u64,
    /// Recorded threads about which nothing is known. At least; threads that took one another's
    /// place count each.
    pub threads_unread: u64,
}

impl ProcessorFacts {
    /// The number of facts.
    pub const COUNT: usize = 7;

    /// Returns the names and numbers, in the order in which a profile stores them. New ones go to
    /// the end.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); Self::COUNT] {
        [
            ("wall_ns", self.wall_ns),
            ("cpu_ns", self.cpu_ns),
            ("threads_ns", self.threads_ns),
            ("threads_cpu_ns", self.threads_cpu_ns),
            ("delay_ns", self.delay_ns),
            ("thread_cpu_max_ns", self.thread_cpu_max_ns),
            ("threads_unread", self.threads_unread),
        ]
    }

    /// Creates facts from numbers in the order of [`named`](Self::named).
    #[must_use]
    pub const fn from_numbers(n: [u64; Self::COUNT]) -> Self {
        Self {
            wall_ns: n[0],
            cpu_ns: n[1],
            threads_ns: n[2],
            threads_cpu_ns: n[3],
            delay_ns: n[4],
            thread_cpu_max_ns: n[5],
            threads_unread: n[6],
        }
    }

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
        self.wall_ns = self.wall_ns.max(other.wall_ns);
        self.cpu_ns = self.cpu_ns.max(other.cpu_ns);
        self.threads_ns = self.threads_ns.saturating_add(other.threads_ns);
        self.threads_cpu_ns = self.threads_cpu_ns.saturating_add(other.threads_cpu_ns);
        self.delay_ns = self.delay_ns.saturating_add(other.delay_ns);
        self.thread_cpu_max_ns = self.thread_cpu_max_ns.max(other.thread_cpu_max_ns);
        self.threads_unread = self.threads_unread.saturating_add(other.threads_unread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_keep_their_order() {
        let numbers = std::array::from_fn(|at| at as u64);
        assert_eq!(ProcessorFacts::from_numbers(numbers).named().map(|(_, n)| n), numbers);
    }

    #[test]
    fn threads_add_up_and_the_process_is_that_of_the_later_moment() {
        let mut facts = ProcessorFacts::from_numbers([10, 20, 10, 9, 1, 9, 0]);
        facts.absorb(&ProcessorFacts::from_numbers([12, 21, 5, 3, 2, 3, 1]));
        assert_eq!(facts, ProcessorFacts::from_numbers([12, 21, 15, 12, 3, 9, 1]));
        assert_eq!(facts.known_delay_ns(), Some(3));
        assert_eq!(ProcessorFacts { cpu_ns: 5, ..Default::default() }.known_delay_ns(), None);
    }
}
