//! The statistics of one callpath over ranks.

use crate::facts::numbers::ratio;
use crate::facts::statistics::spread::{HostId, Spread};
use crate::facts::totals::variation::Variation;

/// The statistics of one callpath over the ranks that visited it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankStatistics {
    /// The number of ranks that visited the callpath.
    pub ranks: u32,
    /// The number of visits on all ranks together.
    pub visits: u64,
    /// The time from entry to exit.
    pub inclusive: Spread,
    /// The inclusive time of a rank without the inclusive time of the callpath's children on that
    /// rank.
    pub exclusive: Spread,
    /// The variation of the inclusive times of executions.
    pub variation: Variation,
}

impl RankStatistics {
    /// Returns the statistics of a callpath that one rank visited in one execution, with every
    /// visit timed.
    #[must_use]
    pub const fn of_one_rank(
        rank: u32,
        host: HostId,
        visits: u64,
        inclusive_ns: u64,
        exclusive_ns: u64,
    ) -> Self {
        Self {
            ranks: 1,
            visits,
            inclusive: Spread::of_one_rank(rank, host, inclusive_ns),
            exclusive: Spread::of_one_rank(rank, host, exclusive_ns),
            variation: Variation { executions: 1, deviations_ns2: 0, degrees: 0 },
        }
    }

    /// Adds the statistics of other ranks. Associative and commutative, and the default is its
    /// neutral element.
    pub fn merge(&mut self, other: &Self) {
        if other.ranks == 0 {
            return;
        }
        if self.ranks == 0 {
            *self = *other;
            return;
        }
        self.ranks = self.ranks.saturating_add(other.ranks);
        self.visits = self.visits.saturating_add(other.visits);
        self.inclusive.merge(&other.inclusive);
        self.exclusive.merge(&other.exclusive);
        self.variation.merge(&other.variation);
    }

    /// Adds another callpath of the same region on the same rank. Its inclusive time counts only if
    /// it is not part of that of a callpath that is added as well.
    pub fn add_callpath(&mut self, other: &Self, is_outermost: bool) {
        if other.ranks == 0 {
            return;
        }
        if self.ranks == 0 {
            let inclusive = self.inclusive;
            *self = Self { visits: 0, inclusive, exclusive: inclusive, ..*other };
        }
        self.visits = self.visits.saturating_add(other.visits);
        // The variation is that of single callpaths.
        self.variation = Variation::default();
        self.exclusive.add_on_same_rank(&other.exclusive);
        if is_outermost {
            self.inclusive.add_on_same_rank(&other.inclusive);
        }
    }

    /// Returns the mean of a spread of these statistics over the ranks that visited; none if no
    /// rank did.
    #[must_use]
    pub fn mean_ns(&self, spread: &Spread) -> Option<f64> {
        (self.ranks > 0).then(|| ratio(spread.sum_ns, u128::from(self.ranks)))
    }

    /// Returns the excess of the slowest rank over the mean, `max / mean - 1`, which is 0 if all
    /// ranks are equal.
    ///
    /// None if no rank visited the callpath or its time is zero.
    #[must_use]
    pub fn imbalance(&self, spread: &Spread) -> Option<f64> {
        let weighted_max = u128::from(spread.max_ns) * u128::from(self.ranks);
        (self.ranks > 0 && spread.sum_ns > 0)
            .then(|| (ratio(weighted_max, spread.sum_ns) - 1.0).max(0.0))
    }

    /// Returns the time between the slowest rank and the others, in nanoseconds: the sum of
    /// `max - mean` over the ranks that visited. This is the time that would be saved if they
    /// waited for the slowest, and it were as fast as the mean.
    #[must_use]
    pub fn lost_ns(&self, spread: &Spread) -> u128 {
        (u128::from(spread.max_ns) * u128::from(self.ranks)).saturating_sub(spread.sum_ns)
    }

    /// Returns the variation of executions on the same rank: the pooled standard deviation of an
    /// execution's inclusive time as a part of the mean. None if no rank has two executions.
    #[must_use]
    pub fn coefficient_of_variation(&self) -> Option<f64> {
        self.variation.coefficient(self.inclusive.sum_ns)
    }
}
