//! Calls of a rank, and the offsets between the clocks of ranks.

/// The largest time, and the largest distance between clocks, that is computed with: 73 years.
/// Sums of three cannot overflow, whatever a damaged companion contains.
const LIMIT_NS: i64 = 1 << 61;

/// Returns a time or a duration as a signed number, limited so that sums cannot overflow.
#[inline]
pub(crate) fn signed(ns: u64) -> i64 {
    ns.min(LIMIT_NS.cast_unsigned()).cast_signed()
}

/// Limits a time that another rank has sent.
#[inline]
pub(crate) fn limited(ns: i64) -> i64 {
    ns.clamp(-LIMIT_NS, LIMIT_NS)
}

/// Returns a duration, 0 if it is negative.
#[inline]
pub(crate) fn duration(ns: i64) -> u64 {
    ns.max(0).cast_unsigned()
}

/// A call that a rank has made, in ns on its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// When the rank entered it.
    pub entered_ns: u64,
    /// When the rank left it.
    pub left_ns: u64,
}

impl Call {
    /// Returns the duration of the call in ns.
    #[must_use]
    #[inline]
    pub const fn duration_ns(self) -> u64 {
        self.left_ns.saturating_sub(self.entered_ns)
    }
}

/// The distance between another clock and that of the rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// The number of ns to add to a time of the other clock to get that of this rank's clock.
    pub ns: i64,
    /// By how much that may be wrong, in either direction. 0 within a node, where all ranks read
    /// one clock.
    pub uncertainty_ns: u64,
    /// The time that a small message takes to the other rank: half of the shortest exchange that
    /// measured the offset. 0 if unknown: then each message may be wrong by the true latency,
    /// because a message travels while its receiver still computes.
    pub latency_ns: u64,
    /// The time that a byte of a large message takes to the other rank, in ps. 0 if unknown. Used
    /// where a message came unnoticed, and without measurement might not have come yet.
    pub ps_per_byte: u64,
}

impl Offset {
    /// Nothing is known of the other clock.
    pub const UNKNOWN: Self =
        Self { ns: 0, uncertainty_ns: u64::MAX, latency_ns: 0, ps_per_byte: 0 };

    #[inline]
    pub(crate) const fn is_unknown(self) -> bool {
        self.uncertainty_ns == u64::MAX
    }

    /// Returns the time that the bytes of a message take, in ns.
    #[inline]
    pub(crate) fn transfer_ns(self, bytes: u64) -> i64 {
        signed(bytes.saturating_mul(self.ps_per_byte) / 1_000)
    }
}

/// A receive that was posted before the call that completes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Post {
    /// When it was posted, in ns on the rank's clock.
    pub posted_ns: u64,
    /// The rank's [intrusion](crate::clock::Clock::intrusion_ns) at that moment.
    pub intrusion_ns: u64,
}

impl Offset {
    /// Returns a time of the other clock as one of the rank's clock.
    #[inline]
    pub(crate) fn to_mine(self, other_ns: i64) -> i64 {
        limited(limited(other_ns) + limited(self.ns))
    }

    /// Returns a time of the rank's clock as one of the other clock.
    #[inline]
    pub(crate) fn to_other(self, mine_ns: i64) -> i64 {
        limited(limited(mine_ns) - limited(self.ns))
    }
}
