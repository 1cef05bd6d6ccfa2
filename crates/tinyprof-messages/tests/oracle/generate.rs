//! Random programs of a mix. Operations are added in an order in which all of them can complete,
//! even where every send waits for its receive: so no program waits for ever.

use crate::program::{Envelope, Kind, Op, Program, Slot, Work};
use crate::random::Random;

/// The sizes of messages that are copied, and of those that wait for their receive.
const SMALL: (u64, u64) = (1, 8_192);
const LARGE: (u64, u64) = (16_384, 262_144);

/// A program that is being made.
pub(crate) struct Builder {
    pub(crate) random: Random,
    pub(crate) ranks: Vec<Vec<Op>>,
    event_ns: u64,
    /// The usual time of computing, in ns, and the part that measuring adds to it.
    grain_ns: u64,
    loads: Vec<f64>,
    shares: Vec<f64>,
    slots: Vec<Slot>,
    pub(crate) tag: usize,
}

/// Makes the program of this number, of such steps.
pub(crate) fn program(seed: u64, step: impl Fn(&mut Builder)) -> Program {
    let mut random = Random::new(seed);
    let ranks = random.between(2, 16) as usize;
    let imbalance = random.fraction() * 0.6;
    let share = random.fraction();
    let loads = (0..ranks).map(|_| 1.0 + imbalance * (2.0 * random.fraction() - 1.0)).collect();
    let shares = (0..ranks).map(|_| share * random.fraction()).collect();
    let mut builder = Builder {
        ranks: vec![Vec::new(); ranks],
        event_ns: random.between(30, 300),
        grain_ns: random.between(2_000, 100_000),
        loads,
        shares,
        slots: vec![0; ranks],
        tag: 0,
        random,
    };
    for rank in 0..ranks {
        builder.compute(rank);
    }
    for _ in 0..builder.random.between(10, 40) {
        builder.tag += 1;
        step(&mut builder);
    }
    for rank in 0..ranks {
        builder.compute(rank);
    }
    Program { ranks: builder.ranks, event_ns: builder.event_ns }
}

impl Builder {
    pub(crate) fn size(&self) -> usize {
        self.ranks.len()
    }

    /// Returns work of a rank, with measured events in a number that varies.
    pub(crate) fn work(&mut self, rank: usize, part: f64) -> Work {
        let vary = 0.2 + 1.6 * self.random.fraction();
        let ns = self.grain_ns as f64 * self.loads[rank] * vary * part;
        let events = ns * self.shares[rank] * 2.0 * self.random.fraction() / self.event_ns as f64;
        Work { ns: ns as u64, events: events as u64 }
    }

    pub(crate) fn compute(&mut self, rank: usize) {
        let work = self.work(rank, 1.0);
        self.add(rank, Op::Compute(work));
    }

    pub(crate) fn add(&mut self, rank: usize, op: Op) {
        self.ranks[rank].push(op);
    }

    /// Returns two different ranks.
    pub(crate) fn pair(&mut self) -> (usize, usize) {
        let from = self.random.below(self.size());
        let distance = 1 + self.random.below(self.size() - 1);
        (from, (from + distance) % self.size())
    }

    /// Returns all ranks but one, in some order.
    pub(crate) fn others(&mut self, rank: usize) -> Vec<usize> {
        let mut others: Vec<usize> = (0..self.size()).filter(|&other| other != rank).collect();
        for place in (1..others.len()).rev() {
            let other = self.random.below(place + 1);
            others.swap(place, other);
        }
        others
    }

    pub(crate) fn slot(&mut self, rank: usize) -> Slot {
        self.slots[rank] += 1;
        self.slots[rank] - 1
    }

    pub(crate) fn small(&mut self) -> u64 {
        self.random.between(SMALL.0, SMALL.1)
    }

    pub(crate) fn large(&mut self) -> u64 {
        self.random.between(LARGE.0, LARGE.1)
    }

    pub(crate) fn either(&mut self) -> u64 {
        if self.random.chance(0.5) { self.small() } else { self.large() }
    }

    /// Returns an envelope for a message to, or from, this rank in this step.
    pub(crate) fn envelope(&self, peer: usize, bytes: u64) -> Envelope {
        Envelope { peer: Some(peer), tag: self.tag, bytes }
    }

    pub(crate) fn kind(&mut self) -> Kind {
        Kind::ALL[self.random.below(Kind::ALL.len())]
    }
}
