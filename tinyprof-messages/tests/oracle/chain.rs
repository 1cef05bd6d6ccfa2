//! Chains of causes: when something happened in the run, and when without measurement.

/// The end of a chain of causes, in ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    /// When it came to its end in the run.
    pub(crate) arrival: i64,
    /// By how much earlier without measurement.
    pub(crate) intrusion: i64,
    /// By how much the intrusion may be wrong, in either direction.
    pub(crate) uncertainty: i64,
}

impl Chain {
    /// Returns the chain with this time added.
    pub(crate) fn after(self, ns: i64) -> Self {
        Self { arrival: self.arrival + ns, ..self }
    }

    /// Returns the chain, ended at this time at the latest.
    pub(crate) fn until(self, ns: i64) -> Self {
        Self { arrival: self.arrival.min(ns), ..self }
    }

    /// Returns the later of both, in the run and without measurement.
    ///
    /// The uncertainty is that of the smaller of two numbers which are both uncertain.
    pub(crate) fn join(self, other: Self) -> Self {
        let arrival = self.arrival.max(other.arrival);
        let one = self.intrusion + arrival - self.arrival;
        let two = other.intrusion + arrival - other.arrival;
        let intrusion = one.min(two);
        let least = (one - self.uncertainty).min(two - other.uncertainty);
        let most = (one + self.uncertainty).min(two + other.uncertainty);
        Self { arrival, intrusion, uncertainty: (intrusion - least).max(most - intrusion) }
    }
}
