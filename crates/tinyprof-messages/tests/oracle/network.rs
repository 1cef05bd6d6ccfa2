//! The network, and how the ranks leave a collective.

use crate::program::Kind;

/// The times of a network with an even latency.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    pub(crate) latency_ns: u64,
    pub(crate) ps_per_byte: u64,
    /// The time of a call of which nothing is waited for.
    pub(crate) call_ns: u64,
    /// The time of a rank for each message of a collective.
    pub(crate) step_ns: u64,
    /// Larger messages wait for their receive.
    pub(crate) eager_bytes: u64,
    /// Rooted collectives go along a tree, instead of directly.
    pub(crate) is_tree: bool,
    /// A large message waits until its receiver is in some call: nobody works in the background.
    pub(crate) is_lazy: bool,
}

impl Network {
    pub(crate) fn new(latency_ns: u64) -> Self {
        Self {
            latency_ns,
            ps_per_byte: 100,
            call_ns: 200,
            step_ns: 150,
            eager_bytes: 8_192,
            is_tree: true,
            is_lazy: false,
        }
    }

    /// Returns the time of the bytes of a message.
    pub(crate) fn bytes_ns(self, bytes: u64) -> u64 {
        bytes * self.ps_per_byte / 1_000
    }

    /// Returns when each rank leaves a collective, as far as the entries up to now decide it.
    ///
    /// Barriers and reductions to all exchange in rounds of doubled distance, `MPI_Alltoall` in one
    /// round with each other rank, rooted operations go along a binomial tree, `MPI_Scan` doubles.
    pub(crate) fn exits(
        self,
        kind: Kind,
        root: usize,
        bytes: u64,
        entries: &[Option<u64>],
    ) -> Vec<Option<u64>> {
        match kind {
            Kind::Barrier | Kind::Fence | Kind::Allreduce => self.rounds(bytes, entries, true),
            Kind::Scan => self.rounds(bytes, entries, false),
            Kind::Alltoall => self.exchange(bytes, entries),
            Kind::Bcast | Kind::Scatter if !self.is_tree => {
                let sent = entries[root].map(|time| time + self.step_ns);
                let next = |(rank, time): (usize, &Option<u64>)| {
                    if rank == root { sent } else { self.next(bytes, *time, sent) }
                };
                entries.iter().enumerate().map(next).collect()
            }
            Kind::Reduce | Kind::Gather if !self.is_tree => {
                let last = entries
                    .iter()
                    .copied()
                    .reduce(|one, other| one.zip(other).map(|(a, b)| a.max(b)));
                let next = |(rank, time): (usize, &Option<u64>)| {
                    if rank == root {
                        self.next(bytes, *time, last.flatten())
                    } else {
                        time.map(|time| time + self.step_ns)
                    }
                };
                entries.iter().enumerate().map(next).collect()
            }
            Kind::Bcast | Kind::Scatter => self.down_tree(root, bytes, entries),
            Kind::Reduce | Kind::Gather => self.up_tree(root, bytes, entries),
        }
    }

    /// Returns when a rank has a message that was sent at `sent`, and came to it at `ready`.
    fn next(self, bytes: u64, ready: Option<u64>, sent: Option<u64>) -> Option<u64> {
        let arrival = sent? + self.latency_ns + self.bytes_ns(bytes);
        Some(ready?.max(arrival) + self.step_ns)
    }

    fn rounds(self, bytes: u64, entries: &[Option<u64>], wraps: bool) -> Vec<Option<u64>> {
        let ranks = entries.len();
        let mut times = entries.to_vec();
        let mut distance = 1;
        while distance < ranks {
            let sent = times.clone();
            for (rank, time) in times.iter_mut().enumerate() {
                if wraps || rank >= distance {
                    *time = self.next(bytes, *time, sent[(rank + ranks - distance) % ranks]);
                }
            }
            distance *= 2;
        }
        times
    }

    fn exchange(self, bytes: u64, entries: &[Option<u64>]) -> Vec<Option<u64>> {
        let ranks = entries.len();
        let mut times = entries.to_vec();
        for distance in 1..ranks {
            let sent = times.clone();
            for (rank, time) in times.iter_mut().enumerate() {
                *time = self.next(bytes, *time, sent[(rank + ranks - distance) % ranks]);
            }
        }
        times
    }

    fn down_tree(self, root: usize, bytes: u64, entries: &[Option<u64>]) -> Vec<Option<u64>> {
        let ranks = entries.len();
        let mut times = entries.to_vec();
        // The place in the tree is the distance to the root; a parent has a lower one.
        for place in 0..ranks {
            let rank = (place + root) % ranks;
            let mut step = ranks.next_power_of_two() / 2;
            while step > 0 {
                if place % (2 * step) == 0 && place + step < ranks {
                    let child = (place + step + root) % ranks;
                    let sent = times[rank].map(|time| time + self.step_ns);
                    times[child] = self.next(bytes, times[child], sent);
                    times[rank] = sent;
                }
                step /= 2;
            }
        }
        times
    }

    fn up_tree(self, root: usize, bytes: u64, entries: &[Option<u64>]) -> Vec<Option<u64>> {
        let ranks = entries.len();
        let mut times = entries.to_vec();
        for place in (0..ranks).rev() {
            let rank = (place + root) % ranks;
            let mut step = 1;
            while step < ranks {
                if place % (2 * step) == 0 && place + step < ranks {
                    let child = (place + step + root) % ranks;
                    times[rank] = self.next(bytes, times[rank], times[child]);
                }
                step *= 2;
            }
            if place > 0 {
                times[rank] = times[rank].map(|time| time + self.step_ns);
            }
        }
        times
    }
}
