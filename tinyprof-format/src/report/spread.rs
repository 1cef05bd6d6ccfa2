//! How one quantity is spread over ranks, and which rank on which host has the most of it.

use super::units::{ratio, time_cell, whole};

/// A host in 32 bits, whatever the length of its name: a checksum of the name. The list of hosts in
/// a manifest tells which it is; where two of its hosts have the same, neither is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(u32);

impl HostId {
    /// The host of this name; the default for a name that is empty, because it is not known.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        Self(crc32fast::hash(name.as_bytes()))
    }

    /// The host with this checksum.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The checksum.
    #[must_use]
    pub const fn to_bits(self) -> u32 {
        self.0
    }
}

/// How one quantity is spread over the ranks that visited a callpath. All zero where no rank did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// The sum over ranks, in nanoseconds.
    pub sum_ns: u128,
    /// The variance of the sum, in square nanoseconds; 0 where every visit was timed. An integer,
    /// and at least 1 where there is any, so that it adds up to the same in any order.
    pub variance_ns2: u128,
    /// The least value of a rank, in nanoseconds.
    pub min_ns: u64,
    /// The greatest value of a rank, in nanoseconds.
    pub max_ns: u64,
    /// The lowest rank that has the greatest value.
    pub max_rank: u32,
    /// The host of that rank.
    pub max_host: HostId,
}

impl Spread {
    pub(super) const fn of_one_rank(rank: u32, host: HostId, ns: u64) -> Self {
        Self {
            sum_ns: ns as u128,
            variance_ns2: 0,
            min_ns: ns,
            max_ns: ns,
            max_rank: rank,
            max_host: host,
        }
    }

    /// Whether the sum is an estimate because some visits were not timed.
    #[must_use]
    pub const fn is_estimate(&self) -> bool {
        self.variance_ns2 > 0
    }

    /// The standard error of the sum, in nanoseconds; none where the sum is exact.
    #[must_use]
    pub fn standard_error_ns(&self) -> Option<f64> {
        self.is_estimate().then(|| ratio(self.variance_ns2, 1).sqrt())
    }

    /// What the sum is at most, in nanoseconds, where it is an estimate that says no more: where
    /// two standard errors are as much as the estimate. None where the sum, or its size, is known.
    #[must_use]
    pub fn known_below_ns(&self) -> Option<u128> {
        let error_ns = whole(2.0 * self.standard_error_ns()?);
        (error_ns >= self.sum_ns).then(|| self.sum_ns.saturating_add(error_ns).max(1))
    }

    /// What tables show of the sum, and the mark before it: none where it was measured, `~` where
    /// it is an estimate, `<` where no more is known than that it is less than this, which is never
    /// more than `bound_ns`.
    #[must_use]
    pub fn shown_ns(&self, bound_ns: Option<u128>) -> (&'static str, u128) {
        match self.known_below_ns() {
            Some(below_ns) => ("<", below_ns.min(bound_ns.unwrap_or(u128::MAX))),
            None if self.is_estimate() => ("~", self.sum_ns),
            None => ("", self.sum_ns),
        }
    }

    /// The same as text: `1.23ms`, `~1.23ms`, `<2.34ms`.
    #[must_use]
    pub fn cell(&self, bound_ns: Option<u128>) -> String {
        let (mark, ns) = self.shown_ns(bound_ns);
        format!("{mark}{}", time_cell(ns))
    }

    /// Adds the values of other ranks. Neither side may be the spread of no rank.
    pub(super) fn merge(&mut self, other: &Self) {
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.variance_ns2 = self.variance_ns2.saturating_add(other.variance_ns2);
        self.min_ns = self.min_ns.min(other.min_ns);
        if (other.max_ns, self.max_rank) > (self.max_ns, other.max_rank) {
            (self.max_ns, self.max_rank, self.max_host) =
                (other.max_ns, other.max_rank, other.max_host);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_says_how_well_the_sum_is_known() {
        let check = |variance_ns2: u128, bound_ns: Option<u128>, expected: &str| {
            let spread =
                Spread { variance_ns2, ..Spread::of_one_rank(0, HostId::default(), 1_000) };
            assert_eq!(spread.cell(bound_ns), expected);
        };
        check(0, None, "1.00us");
        check(0, Some(10), "1.00us");
        check(499 * 499, None, "~1.00us");
        check(500 * 500, None, "<2.00us");
        check(500 * 500, Some(1_500), "<1.50us");
        let nothing = Spread { variance_ns2: 1, ..Spread::default() };
        assert_eq!(nothing.cell(None), "<2ns");
    }
}
