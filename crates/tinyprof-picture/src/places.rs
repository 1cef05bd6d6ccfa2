//! Where in a job a callpath takes time: the slowest ranks, and a row of ranks.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::few::FEW;

/// The most parts that the ranks of a job are put into, each of equally many.
pub const BINS: usize = 64;

/// A rank that is slow in a callpath.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Slow {
    /// Its inclusive time, in ns.
    pub inclusive_ns: u64,
    /// Its number; of equally slow ones, the lowest counts as the slowest.
    pub rank: Reverse<u32>,
    /// Its host.
    pub host: String,
}

/// The inclusive times of a callpath by rank, as far as there is room.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The slowest ranks, the slowest first.
    pub slowest: Vec<Slow>,
    /// The time of the slowest of each part, in ns; none where no rank was there. Empty if none was
    /// anywhere.
    pub bins: Vec<Option<u64>>,
}

impl Places {
    /// Adds a rank of a job of `size` ranks.
    pub(crate) fn add(&mut self, size: u32, rank: u32, host: &str, inclusive_ns: u64) {
        let slow = Slow { inclusive_ns, rank: Reverse(rank), host: host.to_owned() };
        if self.slowest.len() < FEW || self.slowest.last().is_some_and(|last| slow > *last) {
            self.slowest.push(slow);
            self.order();
        }
        self.bins.resize(bins(size), None);
        if let Some(bin) = self.bins.get_mut(rank as usize / ranks_a_bin(size)) {
            *bin = (*bin).max(Some(inclusive_ns));
        }
    }

    /// Adds the ranks of another picture of the same job.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.slowest.extend_from_slice(&other.slowest);
        self.order();
        self.bins.resize(self.bins.len().max(other.bins.len()), None);
        for (bin, more) in self.bins.iter_mut().zip(&other.bins) {
            *bin = (*bin).max(*more);
        }
    }

    fn order(&mut self) {
        self.slowest.sort_unstable_by(|a, b| b.cmp(a));
        self.slowest.truncate(FEW);
    }

    pub(crate) fn is_sound(&self, size: u32) -> bool {
        self.slowest.len() <= FEW && (self.bins.is_empty() || self.bins.len() == bins(size))
    }
}

/// Returns how many ranks a part of a job of `size` ranks has.
pub(crate) fn ranks_a_bin(size: u32) -> usize {
    (size as usize).div_ceil(BINS).max(1)
}

fn bins(size: u32) -> usize {
    (size as usize).div_ceil(ranks_a_bin(size))
}
