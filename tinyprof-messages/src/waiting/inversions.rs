//! Order inversions at wildcard receives.

/// The virtual times of the last 16 messages that a wildcard receive has delivered.
///
/// A message that was sent, in virtual time, before one that has already been delivered is an
/// inversion: without measurement the program might have taken another way.
///
/// ```
/// use tinyprof_messages::waiting::Inversions;
///
/// let mut order = Inversions::default();
/// assert!(!order.deliver(500, 0));
/// assert!(!order.deliver(800, 0));
/// assert!(order.deliver(700, 0), "sent before the one at 800");
/// assert!(!order.deliver(780, 50), "within the uncertainty");
/// assert_eq!(order.count(), 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Inversions {
    window: [i64; Self::CAPACITY],
    next: usize,
    count: u64,
}

impl Inversions {
    /// The number of messages that are remembered.
    pub const CAPACITY: usize = 16;

    /// Takes note of a message that was sent at `virtual_ns`, on the receiver's clock. Returns
    /// true, and counts, if it comes after one that was sent more than `tolerance_ns` later:
    /// the uncertainty of the clocks, and the time by which a message may overtake another one
    /// on the way without anybody having measured anything.
    #[inline]
    pub fn deliver(&mut self, virtual_ns: i64, tolerance_ns: u64) -> bool {
        let latest_ns = self.window.iter().copied().fold(i64::MIN, i64::max);
        let is_inverted = latest_ns > virtual_ns.saturating_add_unsigned(tolerance_ns);
        self.window[self.next] = virtual_ns;
        self.next = (self.next + 1) % Self::CAPACITY;
        self.count += u64::from(is_inverted);
        is_inverted
    }

    /// Returns the number of inversions.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
}

impl Default for Inversions {
    fn default() -> Self {
        Self { window: [i64::MIN; Self::CAPACITY], next: 0, count: 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_window_forgets() {
        let mut order = Inversions::default();
        order.deliver(9_000, 0);
        let inverted = (0..20).filter(|at| order.deliver(*at, 0)).count();
        assert_eq!(inverted, 16, "until the first message has left the window");
    }

    proptest! {
        #[test]
        fn messages_in_virtual_order_are_none(mut times in proptest::collection::vec(0_i64.., 0..50)) {
            times.sort_unstable();
            let mut order = Inversions::default();
            prop_assert!(!times.iter().any(|at| order.deliver(*at, 0)));
        }
    }
}
