//! The limit on the time for looking at other ranks: a part of the run, saved up for bursts.

/// The time of which looks may take one.
const PART: u64 = 200;
/// The most that is saved, in ns: about a thousand looks, so that a short run has all of them.
const SAVED_NS_MAX: i64 = 1_000_000;
/// The most that is owed, in ns.
const OWED_NS_MAX: i64 = 50_000;
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
        let earned_ns = now_ns.saturating_sub(self.counted_ns) / PART;
        self.counted_ns += earned_ns * PART;
        let earned_ns = i64::try_from(earned_ns).unwrap_or(i64::MAX);
        self.saved_ns = self.saved_ns.saturating_add(earned_ns).min(SAVED_NS_MAX);
        self.saved_ns > 0
    }

    /// Takes the time of a look. The last one may take more than there is left.
    #[inline]
    pub(super) fn spend(&mut self, look_ns: u64) {
        self.saved_ns -= i64::try_from(look_ns.min(LOOK_NS_MAX)).unwrap_or(0);
        self.saved_ns = self.saved_ns.max(-OWED_NS_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how long looks take that are asked for every 900 ns of some time.
    fn spent_ns(run_ns: u64) -> u64 {
        let (mut budget, mut spent_ns) = (Budget::new(), 0);
        for now_ns in (0..run_ns).step_by(900) {
            if budget.allows(now_ns) {
                budget.spend(700);
                spent_ns += 700;
            }
        }
        spent_ns
    }

    #[test]
    fn looks_take_their_part_of_the_time() {
        // What is saved when the run begins, and 1/200 of it.
        assert!((5_990_000..6_010_000).contains(&spent_ns(1_000_000_000)));
    }

    #[test]
    fn a_short_run_has_all_looks() {
        assert_eq!(spent_ns(900_000), 700_000);
    }

    #[test]
    fn an_interrupted_look_does_not_end_looking() {
        let mut budget = Budget::new();
        for _ in 0..100 {
            budget.spend(u64::MAX);
        }
        assert!(!budget.allows(9_900_000));
        assert!(budget.allows(10_100_000));
        assert!(budget.allows(0), "time that goes back is no time");
    }
}
