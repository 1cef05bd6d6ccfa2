//! A rank's rows of C = A B, while the rows of B travel around the ring.
//!
//! A(i, k) = i + k and B(k, j) = k - j, so that all values and sums are integers, and
//! C(i, j) = sum k^2 + (i - j) sum k - n i j, exactly.

#![expect(clippy::disallowed_types, reason = "MPI_Wtime would be a call in the profile")]

use std::time::{Duration, Instant};

use mpi::point_to_point as p2p;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;

/// A rank's rows of the three matrices, each row after the other.
#[derive(Debug)]
pub(crate) struct Product {
    a: Vec<f64>,
    /// The rows of B that are here now, and the rank to which they belong.
    b: Vec<f64>,
    owner: usize,
    c: Vec<f64>,
    rows: usize,
    ranks: usize,
    rank: usize,
    stages: Stages,
}

/// The time of the stages of a product, one after the other, by a clock that is no call of MPI.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stages {
    pub(crate) add_block: Duration,
    pub(crate) pause: Duration,
    pub(crate) pass_on: Duration,
}

/// Returns rows of a matrix with `n` columns, from the row `first` on.
fn matrix(first: u32, rows: u32, n: u32, at: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let row = |i| (0..n).map(move |j| (f64::from(i), f64::from(j)));
    (first..first + rows).flat_map(row).map(|(i, j)| at(i, j)).collect()
}

impl Product {
    /// Returns the rows of this rank, with nothing added to C yet.
    pub(crate) fn new(rows: u32, rank: u32, ranks: u32) -> Self {
        let (first, n) = (rows * rank, rows * ranks);
        Self {
            a: matrix(first, rows, n, |i, k| i + k),
            b: matrix(first, rows, n, |k, j| k - j),
            owner: rank as usize,
            c: vec![0.0; (rows * n) as usize],
            rows: rows as usize,
            ranks: ranks as usize,
            rank: rank as usize,
            stages: Stages::default(),
        }
    }

    /// Multiplies all blocks: each rank with the block that it has, which then goes to the rank
    /// before it. After as many steps as ranks, the blocks are at home again. Collective.
    #[profile]
    pub(crate) fn multiply(&mut self, world: &SimpleCommunicator, pause: Option<Duration>) {
        self.c.fill(0.0);
        for _ in 0..self.ranks {
            let start = Instant::now();
            self.add_block();
            let added = Instant::now();
            if let Some(duration) = pause {
                pause_for(duration);
            }
            let paused = Instant::now();
            self.pass_on(world);
            self.stages.add_block += added - start;
            self.stages.pause += paused - added;
            self.stages.pass_on += paused.elapsed();
        }
    }

    /// Returns how long each stage took in all.
    pub(crate) fn stages(&self) -> Stages {
        self.stages
    }

    /// Adds the product of the columns of A that meet the rows of B here.
    #[profile]
    fn add_block(&mut self) {
        let (n, first) = (self.rows * self.ranks, self.owner * self.rows);
        for (a, c) in self.a.chunks_exact(n).zip(self.c.chunks_exact_mut(n)) {
            for (a, b) in a[first..].iter().zip(self.b.chunks_exact(n)) {
                c.iter_mut().zip(b).for_each(|(c, b)| *c += a * b);
            }
        }
    }

    /// Gives the rows of B to the rank before this one, and takes those of the next one.
    #[profile]
    fn pass_on(&mut self, world: &SimpleCommunicator) {
        if self.ranks > 1 {
            let neighbour = |distance: usize| {
                let rank = (self.rank + distance) % self.ranks;
                world.process_at_rank(rank.try_into().expect("a rank is an int"))
            };
            let (before, after) = (neighbour(self.ranks - 1), neighbour(1));
            p2p::send_receive_replace_into(&mut self.b, &before, &after);
        }
        self.owner = (self.owner + 1) % self.ranks;
    }

    /// Returns the largest difference of this rank's rows of C from the exact ones.
    pub(crate) fn error(&self) -> f64 {
        let number = |value: usize| f64::from(u32::try_from(value).expect("of a u32"));
        let (first, n) = (number(self.rank * self.rows), number(self.rows * self.ranks));
        let (sum, squares) = (n * (n - 1.0) / 2.0, n * (n - 1.0) * (2.0 * n - 1.0) / 6.0);
        let columns = self.rows * self.ranks;
        let error = |(index, c): (usize, &f64)| {
            let (i, j) = (first + number(index / columns), number(index % columns));
            (c - (squares + (i - j) * sum - n * i * j)).abs()
        };
        self.c.iter().enumerate().map(error).fold(0.0, f64::max)
    }
}

/// The delay that is inserted.
#[profile]
fn pause_for(duration: Duration) {
    std::thread::sleep(duration);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_alone_has_the_exact_product() {
        let mut product = Product::new(60, 0, 1);
        product.add_block();
        assert!(product.error() == 0.0);
        product.c[7] += 1.0;
        assert!(product.error() == 1.0);
    }
}
