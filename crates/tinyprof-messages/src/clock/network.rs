//! Estimates the latency of the network from the rank's own calls.

use crate::time::{Offset, duration, signed};

/// The longest time of a call that finds all that it waits for, in ns.
const LONGEST_BASE_NS: i64 = 1_000;

/// The shortest times that were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Network {
    /// By how much the shortest call was shorter than the longest base, in ns.
    quicker_ns: u32,
    /// The shortest time from the sending of a message until the call that has waited for it ended,
    /// in ns; 0 if there was none.
    nearest_ns: u64,
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
        self.nearest_ns.saturating_sub(self.base_ns().unsigned_abs())
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
        let quicker_ns = quicker_ns as u32;
        self.quicker_ns = self.quicker_ns.max(quicker_ns);
    }

    /// Notes that a message arrived `ns` after it was sent, while the rank was waiting for it.
    #[inline]
    pub(super) fn came_after(&mut self, ns: i64) {
        self.is_nearer(duration(ns));
    }

    #[inline]
    fn is_nearer(&mut self, ns: u64) {
        // 0 is nothing yet: one less than that is the largest number.
        if ns.wrapping_sub(1) < self.nearest_ns.wrapping_sub(1) {
            self.nearest_ns = ns;
        }
    }

    /// Takes over what another one has seen.
    #[inline]
    pub(super) fn hear(&mut self, other: Self) {
        self.quicker_ns = self.quicker_ns.max(other.quicker_ns);
        self.is_nearer(other.nearest_ns);
    }
}
