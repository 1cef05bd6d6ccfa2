//! A small generator of random numbers: a seed is a program, today and in ten years.

/// The generator `SplitMix64`.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number from `low` to `high - 1`.
    pub(crate) fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low)
    }

    /// Returns a number from `low` to `high - 1` of which small ones are as likely as large ones.
    pub(crate) fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let digits = (high / low).ilog2() + 1;
        let top = low << self.within(0, digits.into());
        self.within(top, 2 * top).min(high - 1)
    }

    /// Returns an index of a list of this many elements.
    pub(crate) fn index(&mut self, count: usize) -> usize {
        self.within(0, count as u64) as usize
    }

    /// Returns a rank other than `rank`.
    pub(crate) fn other(&mut self, rank: usize, ranks: usize) -> usize {
        let step = 1 + self.index(ranks - 1);
        (rank + step) % ranks
    }

    pub(crate) fn happens(&mut self, percent: u64) -> bool {
        self.within(0, 100) < percent
    }
}
