//! The limit on the time for looking at other ranks: a part of the run, saved up for bursts.

/// The time of which looks may take one.
const PART: i64 = 50;
/// The most that is saved, in ns: about a hundred looks.
const SAVED_NS_MAX: i64 = 50_000;
/// The most that counts as one look, in ns. One that takes longer was interrupted.
const LOOK_NS_MAX: u64 = 20_000;

/// The time that is left for looking at other ranks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    saved_ns: i64,
    counted_ns: u64,
}

impl Budget {
    pub(super) const fn new() -> Self {
        Self { saved_ns: SAVED_NS_MAX, counted_ns: 0 }
    }

    /// Returns whether there is time for a look now.
    #[inline]
    pub(super) fn allows(&mut self, now_ns: u64) -> bool {
        let passed_ns = now_ns.saturating_sub(self.counted_ns);
        let passed_ns = i64::try_from(passed_ns).unwrap_or(i64::MAX);
        self.counted_ns = self.counted_ns.max(now_ns);
        self.saved_ns = self.saved_ns.saturating_add(passed_ns / PART).min(SAVED_NS_MAX);
        self.saved_ns > 0
    }

    /// Takes the time of a look. The last one may take more than there is left.
    #[inline]
    pub(super) fn spend(&mut self, look_ns: u64) {
        self.saved_ns -= i64::try_from(look_ns.min(LOOK_NS_MAX)).unwrap_or(0);
        self.saved_ns = self.saved_ns.max(-SAVED_NS_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_take_their_part_of_the_time() {
        let (mut budget, mut spent_ns) = (Budget::new(), 0);
        for now_ns in (0..100_000_000).step_by(1_000) {
            if budget.allows(now_ns) {
                budget.spend(700);
                spent_ns += 700;
            }
        }
        assert!((2_000_000..2_060_000).contains(&spent_ns), "{spent_ns}");
    }

    #[test]
    fn an_interrupted_look_does_not_end_looking() {
        let mut budget = Budget::new();
        for _ in 0..10 {
            budget.spend(u64::MAX);
        }
        assert!(!budget.allows(2_400_000));
        assert!(budget.allows(2_600_000));
        assert!(budget.allows(0), "time that goes back is no time");
    }
}
