//! Order inversions at wildcard receives.

/// The times at which the last 16 messages were sent that a wildcard receive has delivered.
///
/// A message that was sent after one that has already been delivered, and before it in virtual
/// time, is an inversion: without measurement the program might have taken another way. Messages
/// that overtook each other on the way are none: that has nothing to do with measurement.
///
/// ```
/// use tinyprof_messages::waiting::Inversions;
///
/// let mut order = Inversions::default();
/// assert!(!order.deliver(500, 500, 0));
/// assert!(!order.deliver(800, 800, 0));
/// assert!(order.deliver(900, 500, 0), "without measurement before the one at 800");
/// assert!(!order.deliver(910, 780, 50), "within the uncertainty");
/// assert!(!order.deliver(600, 600, 0), "overtaken on the way");
/// assert_eq!(order.count(), 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Inversions {
    /// When they were sent, and when without measurement.
    window: [(i64, i64); Self::CAPACITY],
    next: usize,
    count: u64,
}

/// The part of an intrusion that is not sure: the cost of a visit depends on the code around it.
const UNSURE_PART: u64 = 3;

impl Inversions {
    /// The number of messages that are remembered.
    pub const CAPACITY: usize = 16;

    /// Notes a message that was sent at `sent_ns`, and without measurement at `virtual_ns`,
    /// both on the receiver's clock. Returns true, and counts, if it comes after one that was sent
    /// earlier, and without measurement surely later: by more than `tolerance_ns`, the uncertainty
    /// of the clocks, and a third of the distance between both intrusions.
    #[inline]
    pub fn deliver(&mut self, sent_ns: i64, virtual_ns: i64, tolerance_ns: u64) -> bool {
        let intrusion_ns = sent_ns.saturating_sub(virtual_ns);
        let is_inverted = self.window.iter().any(|(sent, virtual_of_it)| {
            let apart_ns = sent.saturating_sub(*virtual_of_it).abs_diff(intrusion_ns);
            let unsure_ns = tolerance_ns.saturating_add(apart_ns / UNSURE_PART);
            *sent <= sent_ns && *virtual_of_it > virtual_ns.saturating_add_unsigned(unsure_ns)
        });
        self.window[self.next] = (sent_ns, virtual_ns);
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
        Self { window: [(i64::MIN, i64::MIN); Self::CAPACITY], next: 0, count: 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_window_forgets() {
        let mut order = Inversions::default();
        order.deliver(10_000, 9_900, 0);
        let inverted = (10_001..10_021).filter(|at| order.deliver(*at, at - 2_000, 0)).count();
        assert_eq!(inverted, 16, "until the first message has left the window");
    }

    proptest! {
        #[test]
        fn messages_in_virtual_order_are_none(mut times in proptest::collection::vec(0_i64.., 0..50)) {
            times.sort_unstable();
            let mut order = Inversions::default();
            prop_assert!(!times.iter().any(|at| order.deliver(*at, *at, 0)));
        }
    }
}
