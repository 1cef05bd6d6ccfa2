//! Estimates the latency of the network from the rank's own calls, and from what others say.

use crate::latency::Latency;
use crate::time::{Offset, duration, signed};

/// The longest time of a call that finds all that it waits for, in ns.
const LONGEST_BASE_NS: i64 = 1_000;

/// The shortest times that were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Network {
    /// The shortest time from the sending of a message until the call that has waited for it ended,
    /// in ns, here or elsewhere; 0 if there was none.
    nearest_ns: u32,
    /// By how much the shortest call was shorter than the longest base, in ns.
    quicker_ns: u16,
    /// The shortest time as others are told.
    nearest: Latency,
}

impl Network {
    /// Returns the time of a call that finds all that it waits for, in ns; 0 if none was seen.
    #[inline]
    pub(super) const fn base_ns(self) -> i64 {
        if self.quicker_ns == 0 { 0 } else { LONGEST_BASE_NS - self.quicker_ns as i64 }
    }

    /// Returns the shortest time that a message takes, in ns.
    #[inline]
    pub(super) const fn latency_ns(self) -> u64 {
        (self.nearest_ns as u64).saturating_sub(self.base_ns().unsigned_abs())
    }

    /// Returns the shortest time of a message and the call that has waited for it, for others: they
    /// subtract what a call takes with them, as a rank that has made few knows too much of that.
    #[inline]
    pub(super) const fn nearest(self) -> Latency {
        self.nearest
    }

    /// Returns the time of a small message, as it was measured, or else as it was seen.
    #[inline]
    pub(super) fn latency_to(self, offset: Offset) -> i64 {
        signed(if offset.latency_ns == 0 { self.latency_ns() } else { offset.latency_ns })
    }

    /// Notes how long a call took after both its rank and the partner were there.
    #[inline]
    pub(super) fn took(&mut self, ns: i64) {
        let quicker_ns = (LONGEST_BASE_NS - ns).clamp(0, LONGEST_BASE_NS);
        #[expect(clippy::cast_sign_loss, reason = "limited")]
        let quicker_ns = quicker_ns as u16;
        self.quicker_ns = self.quicker_ns.max(quicker_ns);
    }

    /// Notes that a message took at most `ns`. `has_waited`: the rank has waited for it, so that it
    /// took not much less, either. Others tell nothing as long as there was none.
    #[inline]
    pub(super) fn came_after(&mut self, ns: i64, has_waited: bool) {
        let ns = u32::try_from(duration(ns)).unwrap_or(u32::MAX);
        // 0 is nothing yet: one less than that is the largest number.
        let is_nearer = ns.wrapping_sub(1) < self.nearest_ns.wrapping_sub(1);
        if is_nearer && (has_waited || self.nearest_ns > 0) {
            self.is_nearer(ns);
        }
    }

    /// Rare.
    #[inline(never)]
    fn is_nearer(&mut self, ns: u32) {
        self.nearest_ns = ns;
        self.nearest = Latency::of(ns.into());
    }

    /// Takes over what another rank says.
    #[inline]
    pub(super) fn hear(&mut self, nearest: Latency) {
        if nearest.is_shorter(self.nearest) {
            self.nearest = nearest;
            self.nearest_ns = u32::try_from(nearest.ns()).unwrap_or(u32::MAX);
        }
    }

    /// Takes over what has become known of an earlier call.
    #[inline]
    pub(super) fn combine(&mut self, other: Self) {
        self.quicker_ns = self.quicker_ns.max(other.quicker_ns);
        self.came_after(other.nearest_ns.into(), other.nearest_ns > 0);
    }
}
