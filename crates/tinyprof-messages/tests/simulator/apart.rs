//! Clocks that are not that of rank 0.

use crate::random::Random;

/// The clock of a rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    /// To be added to the true time.
    ahead_ns: i64,
    /// The error of its measurement, in thousandths of the largest error.
    error_permille: i64,
}

impl Apart {
    /// The true time, which is the common clock.
    pub(crate) const COMMON: Self = Self { ahead_ns: 0, error_permille: 0 };

    /// Returns the clocks of some ranks, up to 10 ms apart.
    pub(crate) fn random(random: &mut Random, ranks: usize) -> Vec<Self> {
        let mut clock = || Self {
            ahead_ns: random.within(0, 10_000_000).cast_signed(),
            error_permille: random.within(0, 2_001).cast_signed() - 1_000,
        };
        (0..ranks).map(|_| clock()).collect()
    }

    /// Returns what the clock shows.
    pub(crate) fn read(self, true_ns: u64) -> u64 {
        true_ns.saturating_add_signed(self.ahead_ns)
    }

    /// Returns how far it is ahead, as an exchange of messages has found.
    pub(crate) fn measured(self, error_ns: u64) -> i64 {
        self.ahead_ns + self.error_permille * error_ns.cast_signed() / 1_000
    }
}
