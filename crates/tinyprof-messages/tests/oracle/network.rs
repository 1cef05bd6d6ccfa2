//! The network, and how the ranks leave a collective.

use crate::program::Kind;

/// How the ranks of a rooted collective pass data on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tree {
    /// Between the root and each other rank.
    Flat,
    Binomial,
    /// The binomial tree whose largest subtree is that of the first rank after the root.
    BinomialOfHighBits,
    Binary,
    Quadnomial,
    Chain,
    /// Another one for each size of messages.
    Mixed,
}

impl Tree {
    pub(crate) const ALL: [Self; 7] = [
        Self::Flat,
        Self::Binomial,
        Self::BinomialOfHighBits,
        Self::Binary,
        Self::Quadnomial,
        Self::Chain,
        Self::Mixed,
    ];

    /// Returns the place that one is connected to on its way to the root, at place 0.
    fn parent(self, place: usize, bytes: u64) -> usize {
        match self {
            Self::Flat => 0,
            Self::Binomial => place - (1 << place.trailing_zeros()),
            Self::BinomialOfHighBits => place - (1 << place.ilog2()),
            Self::Binary => (place - 1) / 2,
            Self::Quadnomial => {
                let digit = 1 << (place.trailing_zeros() / 2 * 2);
                place / (4 * digit) * (4 * digit)
            }
            Self::Chain => place - 1,
            Self::Mixed => {
                let of = [Self::Flat, Self::Binomial, Self::Chain];
                of[(bytes / 2_731).min(2) as usize].parent(place, bytes)
            }
        }
    }

    /// Returns the places that are connected to one, the longest way first.
    fn children(self, place: usize, ranks: usize, bytes: u64) -> Vec<usize> {
        let is_child = |other: &usize| self.parent(*other, bytes) == place;
        (place + 1..ranks).rev().filter(is_child).collect()
    }
}

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
    /// How rooted collectives pass data on.
    pub(crate) tree: Tree,
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
            tree: Tree::Binomial,
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
            for child in self.tree.children(place, ranks, bytes) {
                let child = (child + root) % ranks;
                let sent = times[rank].map(|time| time + self.step_ns);
                times[child] = self.next(bytes, times[child], sent);
                times[rank] = sent;
            }
        }
        times
    }

    fn up_tree(self, root: usize, bytes: u64, entries: &[Option<u64>]) -> Vec<Option<u64>> {
        let ranks = entries.len();
        let mut times = entries.to_vec();
        for place in (0..ranks).rev() {
            let rank = (place + root) % ranks;
            for child in self.tree.children(place, ranks, bytes).into_iter().rev() {
                let child = (child + root) % ranks;
                times[rank] = self.next(bytes, times[rank], times[child]);
            }
            if place > 0 {
                times[rank] = times[rank].map(|time| time + self.step_ns);
            }
        }
        times
    }
}
