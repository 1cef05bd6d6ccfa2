//! The worst of many, and how many there are.

use serde::{Deserialize, Serialize};

/// The most that are kept of a kind.
pub const FEW: usize = 8;

/// The greatest of many, the greatest first, and their number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Few<T> {
    /// At most [`FEW`] of them.
    pub worst: Vec<T>,
    /// The number of all of them.
    pub count: u64,
}

impl<T> Default for Few<T> {
    fn default() -> Self {
        Self { worst: Vec::new(), count: 0 }
    }
}

impl<T: Clone + Ord> Few<T> {
    /// Adds one.
    pub fn add(&mut self, one: T) {
        self.merge(&Self { worst: vec![one], count: 1 });
    }

    /// Adds those of others. Associative and commutative.
    pub fn merge(&mut self, other: &Self) {
        self.worst.extend_from_slice(&other.worst);
        self.worst.sort_unstable_by(|a, b| b.cmp(a));
        self.worst.truncate(FEW);
        self.count = self.count.saturating_add(other.count);
    }

    /// Returns whether it may be what [`add`](Self::add) made.
    pub(crate) fn is_sound(&self) -> bool {
        self.worst.len() <= FEW && self.worst.len() as u64 <= self.count
    }
}
