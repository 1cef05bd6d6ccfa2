//! The spread of a quantity over ranks, and the rank and host with the greatest value.

use tinyprof_format::model::ESTIMATE_ERRORS;

use crate::facts::numbers::{ratio, whole};

/// A host in 32 bits, whatever the length of its name: a checksum of the name. It is resolved by
/// the list of hosts in the manifest; if two of its hosts have the same checksum, neither is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(u32);

impl HostId {
    /// Returns the host with this name; the default for an empty name, which means that it is
    /// unknown.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        Self(crc32fast::hash(name.as_bytes()))
    }

    /// Returns the host with this checksum.
    #[must_use]
    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the checksum.
    #[must_use]
    pub(crate) const fn to_bits(self) -> u32 {
        self.0
    }
}

/// The spread of a quantity over the ranks that visited a callpath. All zero if no rank did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// The sum over ranks, in nanoseconds.
    pub sum_ns: u128,
    /// The variance of the sum, in square nanoseconds; 0 if every visit was timed. An integer, so
    /// that ranks can be added in any order with the same result; at least 1 if there is any
    /// variance.
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
    pub(crate) const fn of_one_rank(rank: u32, host: HostId, ns: u64) -> Self {
        Self {
            sum_ns: ns as u128,
            variance_ns2: 0,
            min_ns: ns,
            max_ns: ns,
            max_rank: rank,
            max_host: host,
        }
    }

    /// Adds another value of the same rank.
    pub(crate) const fn add_on_same_rank(&mut self, other: &Self) {
        let ns = self.max_ns.saturating_add(other.max_ns);
        let variance_ns2 = self.variance_ns2.saturating_add(other.variance_ns2);
        *self = Self { variance_ns2, ..Self::of_one_rank(other.max_rank, other.max_host, ns) };
    }

    /// Returns true if the sum is an estimate because some visits were not timed.
    #[must_use]
    pub(crate) const fn is_estimate(&self) -> bool {
        self.variance_ns2 > 0
    }

    /// Returns the standard error of the sum, in nanoseconds; none if the sum is exact.
    #[must_use]
    pub fn standard_error_ns(&self) -> Option<f64> {
        self.is_estimate().then(|| ratio(self.variance_ns2, 1).sqrt())
    }

    /// Returns an upper bound of the sum, in nanoseconds, if the estimate shows no more than that,
    /// because two standard errors are at least as large as the estimate. None if the sum was
    /// measured, or its size is known.
    #[must_use]
    pub(crate) fn known_below_ns(&self) -> Option<u128> {
        let error_ns = whole(ESTIMATE_ERRORS * self.standard_error_ns()?);
        (error_ns >= self.sum_ns).then(|| self.sum_ns.saturating_add(error_ns).max(1))
    }

    /// Returns the sum as shown in tables, and the mark before it: empty if it was measured, `~` if
    /// it is an estimate, `<` if only an upper bound is known. The bound is never more than
    /// `bound_ns`.
    #[must_use]
    pub fn shown_ns(&self, bound_ns: Option<u128>) -> (&'static str, u128) {
        match self.known_below_ns() {
            Some(below_ns) => ("<", below_ns.min(bound_ns.unwrap_or(u128::MAX))),
            None if self.is_estimate() => ("~", self.sum_ns),
            None => ("", self.sum_ns),
        }
    }

    /// Adds the values of other ranks. Neither side may be the spread of no rank.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.variance_ns2 = self.variance_ns2.saturating_add(other.variance_ns2);
        self.min_ns = self.min_ns.min(other.min_ns);
        if (other.max_ns, self.max_rank) > (self.max_ns, other.max_rank) {
            (self.max_ns, self.max_rank, self.max_host) =
                (other.max_ns, other.max_rank, other.max_host);
        }
    }
}
