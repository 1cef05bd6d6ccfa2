//! Random programs whose ranks compute in several activities, some of them longer than others.

use crate::program::{Envelope, Kind, Op, Program, Work};
use crate::random::Random;

/// The activities in which ranks compute.
pub(crate) const ACTIVITIES: u64 = 12;
/// The most ranks behind each other in a chain.
const CHAIN: u64 = 6;
const SMALL: (u64, u64) = (8, 4_096);
const LARGE: (u64, u64) = (16_384, 131_072);

/// A program, and what each of its operations is.
pub(crate) struct Planned {
    pub(crate) program: Program,
    /// The activity of each operation of each rank.
    pub(crate) activities: Vec<Vec<u64>>,
}

struct Builder {
    random: Random,
    ranks: Vec<Vec<Op>>,
    activities: Vec<Vec<u64>>,
    grain_ns: f64,
    /// How much longer an activity is on a rank.
    skew: Vec<Vec<f64>>,
    tag: usize,
    slots: Vec<usize>,
}

/// Makes the program of this number, for a number of ranks in this range.
pub(crate) fn program(seed: u64, ranks: (u64, u64)) -> Planned {
    let mut random = Random::new(seed);
    let count = random.between(ranks.0, ranks.1) as usize;
    let imbalance = 0.1 + 0.4 * random.fraction();
    let mut skew = |_| {
        let skewed = |_| {
            let usual = 1.0 + imbalance * (random.fraction() - 0.5);
            // A few are much longer: these are the causes to find.
            if random.chance(0.1) { usual * (1.5 + 3.0 * random.fraction()) } else { usual }
        };
        (0..ACTIVITIES).map(skewed).collect()
    };
    let skew = (0..count).map(&mut skew).collect();
    let grain_ns = 10_000.0 * 100_f64.powf(random.fraction());
    let mut builder = Builder {
        random,
        ranks: vec![Vec::new(); count],
        activities: vec![Vec::new(); count],
        grain_ns,
        skew,
        tag: 0,
        slots: vec![0; count],
    };
    for _ in 0..builder.random.between(20, 80) {
        builder.tag += 2;
        builder.step();
    }
    (0..count).for_each(|rank| builder.compute(rank, 1.0));
    let program = Program { ranks: builder.ranks, event_ns: 0 };
    Planned { program, activities: builder.activities }
}

impl Builder {
    fn size(&self) -> usize {
        self.ranks.len()
    }

    /// Lets a rank compute in some activity.
    fn compute(&mut self, rank: usize, part: f64) {
        let activity = self.random.below(ACTIVITIES as usize);
        self.compute_in(rank, activity, part);
    }

    fn compute_in(&mut self, rank: usize, activity: usize, part: f64) {
        let vary = 0.9 + 0.2 * self.random.fraction();
        let ns = self.grain_ns * self.skew[rank][activity] * vary * part;
        self.ranks[rank].push(Op::Compute(Work { ns: ns as u64 + 1, events: 0 }));
        self.activities[rank].push(activity as u64 + 1);
    }

    /// Lets all ranks compute in the same activities.
    fn phase(&mut self) {
        for _ in 0..self.random.between(1, 3) {
            let activity = self.random.below(ACTIVITIES as usize);
            (0..self.size()).for_each(|rank| self.compute_in(rank, activity, 0.5));
        }
    }

    fn call(&mut self, rank: usize, op: Op) {
        let number = match &op {
            Op::Send(_) => 101,
            Op::Recv(_) => 102,
            Op::Isend(..) => 103,
            Op::Irecv(..) => 104,
            Op::Waitall(_) => 105,
            Op::Sendrecv(..) => 106,
            Op::Collective(kind, ..) => 110 + *kind as u64,
            other => unreachable!("no {other:?} in these programs"),
        };
        self.ranks[rank].push(op);
        self.activities[rank].push(number);
    }

    fn envelope(&self, peer: usize, bytes: u64) -> Envelope {
        Envelope { peer: Some(peer), tag: self.tag, bytes }
    }

    fn bytes(&mut self, large: f64) -> u64 {
        let (low, high) = if self.random.chance(large) { LARGE } else { SMALL };
        self.random.between(low, high)
    }

    fn message(&mut self, from: usize, to: usize, bytes: u64) {
        self.call(from, Op::Send(self.envelope(to, bytes)));
        self.call(to, Op::Recv(self.envelope(from, bytes)));
    }

    /// Returns the ranks in some order.
    fn shuffled(&mut self) -> Vec<usize> {
        let mut ranks: Vec<usize> = (0..self.size()).collect();
        for place in (1..ranks.len()).rev() {
            let other = self.random.below(place + 1);
            ranks.swap(place, other);
        }
        ranks
    }

    fn step(&mut self) {
        match self.random.below(12) {
            0..2 => self.pairs(),
            2..4 => self.chain(),
            4 => self.pipeline(),
            5..7 => self.halo(),
            7 => self.workers(),
            8 => self.shift(),
            9 => {
                let kind = [Kind::Barrier, Kind::Allreduce, Kind::Alltoall, Kind::Fence];
                let kind = kind[self.random.below(4)];
                self.collective(kind);
            }
            10 => {
                let kind = [Kind::Bcast, Kind::Scatter, Kind::Reduce, Kind::Gather];
                let kind = kind[self.random.below(4)];
                self.collective(kind);
            }
            _ => self.phase(),
        }
    }

    /// Messages between ranks of which one is later: late senders, and late receivers.
    fn pairs(&mut self) {
        for pair in self.shuffled().chunks_exact(2) {
            let bytes = self.bytes(0.4);
            let late = self.random.below(2);
            self.compute(pair[late], 1.0);
            self.compute(pair[1 - late], 0.3);
            self.message(pair[0], pair[1], bytes);
        }
    }

    /// A rank is late, and makes others late behind each other.
    fn chain(&mut self) {
        let length = self.random.between(2, CHAIN + 1) as usize;
        let ranks = self.shuffled();
        let bytes = self.bytes(0.2);
        self.compute(ranks[0], 2.0);
        for next in ranks[..length.min(ranks.len())].windows(2) {
            self.compute(next[1], 0.1);
            self.message(next[0], next[1], bytes);
            self.compute(next[1], 0.1);
        }
    }

    fn pipeline(&mut self) {
        let bytes = self.bytes(0.0);
        for rank in 0..self.size() {
            if rank > 0 {
                self.call(rank, Op::Recv(self.envelope(rank - 1, bytes)));
            }
            self.compute(rank, 0.3);
            if rank + 1 < self.size() {
                self.call(rank, Op::Send(self.envelope(rank + 1, bytes)));
            }
        }
    }

    /// An exchange with both neighbours, in a phase of all.
    fn halo(&mut self) {
        self.phase();
        let (ranks, bytes) = (self.size(), self.bytes(0.3));
        let tag = self.tag;
        for rank in 0..ranks {
            let sides = [(rank + 1) % ranks, (rank + ranks - 1) % ranks];
            let mut slots = Vec::new();
            for (side, neighbour) in sides.into_iter().enumerate() {
                self.tag = tag + 1 - side;
                let (envelope, slot) = (self.envelope(neighbour, bytes), self.slot(rank));
                self.call(rank, Op::Irecv(envelope, slot));
                slots.push(slot);
            }
            for (side, neighbour) in sides.into_iter().enumerate() {
                self.tag = tag + side;
                let (envelope, slot) = (self.envelope(neighbour, bytes), self.slot(rank));
                self.call(rank, Op::Isend(envelope, slot));
                slots.push(slot);
            }
            self.compute(rank, 0.2);
            self.call(rank, Op::Waitall(slots));
        }
        self.tag = tag;
    }

    fn slot(&mut self, rank: usize) -> usize {
        self.slots[rank] += 1;
        self.slots[rank] - 1
    }

    /// A master that sends work to each rank, and receives the results.
    fn workers(&mut self) {
        let order = self.shuffled();
        let (master, workers) = (order[0], &order[1..]);
        let bytes = self.bytes(0.2);
        for &worker in workers {
            self.message(master, worker, bytes);
            self.compute(worker, 0.5);
        }
        self.compute(master, 0.1);
        workers.iter().for_each(|worker| self.message(*worker, master, bytes));
    }

    /// A shift along the ring.
    fn shift(&mut self) {
        self.phase();
        let (ranks, bytes) = (self.size(), self.bytes(0.3));
        for rank in 0..ranks {
            let to = self.envelope((rank + 1) % ranks, bytes);
            let from = self.envelope((rank + ranks - 1) % ranks, bytes);
            self.call(rank, Op::Sendrecv(to, from));
        }
    }

    fn collective(&mut self, kind: Kind) {
        self.phase();
        let root = self.random.below(self.size());
        let bytes = if kind == Kind::Barrier { 0 } else { self.bytes(0.0) };
        (0..self.size()).for_each(|rank| self.call(rank, Op::Collective(kind, root, bytes)));
    }
}
