//! The network of a simulation.

/// The times that the network and MPI take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    pub(crate) latency_ns: u64,
    /// Time of a call that has nothing to wait for.
    pub(crate) call_ns: u64,
    pub(crate) ns_per_kib: u64,
    pub(crate) collective_ns: u64,
}

impl Network {
    /// A network of 2 us for a message between nodes, and 10 GB/s.
    pub(crate) const REAL: Self =
        Self { latency_ns: 1_000, call_ns: 200, ns_per_kib: 100, collective_ns: 3_000 };
    /// Dimemas' ideal network: everything arrives at once.
    pub(crate) const IDEAL: Self =
        Self { latency_ns: 0, call_ns: 0, ns_per_kib: 0, collective_ns: 0 };
}
