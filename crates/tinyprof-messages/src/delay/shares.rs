//! How a wait is shared out among its causes.

use super::cause::Cause;
use super::costs::Kind;

/// The causes of a wait, and how much of each there is: the delays of the rank that came last, and
/// its own waiting by cause.
///
/// If there is more than was waited, each has its share; if there is less, the remainder is
/// [`Cause::UNEXPLAINED`].
#[derive(Debug)]
pub(super) struct Shares {
    causes: Vec<(Cause, Kind, u64)>,
    waited_ns: u64,
    total_ns: u64,
    finest: u64,
}

impl Shares {
    /// Returns room for this many causes, of which each is 1/`finest` of a wait at least.
    pub(super) fn new(room: usize, finest: u64) -> Self {
        let finest = finest.max(1);
        Self { causes: Vec::with_capacity(room + 1), waited_ns: 0, total_ns: 0, finest }
    }

    pub(super) fn clear(&mut self, waited_ns: u64) {
        self.causes.clear();
        self.total_ns = 0;
        self.waited_ns = waited_ns;
    }

    #[inline]
    pub(super) fn direct(&mut self, cause: Cause, ns: u64) {
        self.push(cause, Kind::Direct, ns);
    }

    #[inline]
    pub(super) fn propagated(&mut self, cause: Cause, ns: u64) {
        self.push(cause, Kind::Propagated, ns);
    }

    #[inline]
    fn push(&mut self, cause: Cause, kind: Kind, ns: u64) {
        // The room is enough for all; if it were not, the rest would be unexplained.
        if ns > 0 && self.causes.len() < self.causes.capacity() {
            self.causes.push((cause, kind, ns));
            self.total_ns = self.total_ns.saturating_add(ns);
        }
    }

    /// Returns the parts of the waiting, whose sum it is. Those that are too small to be kept are
    /// [`Cause::OTHER`]: a chain of ranks would pass ever smaller ones on.
    pub(super) fn of_waiting(&self) -> impl Iterator<Item = (Cause, Kind, u64)> + use<'_> {
        let Self { waited_ns, total_ns, .. } = *self;
        let smallest_ns = waited_ns / self.finest;
        let mut before = (0_u64, 0_u64);
        // The sum up to each is rounded, so that rounding loses nothing.
        let scaled = move |(cause, kind, ns): (Cause, Kind, u64)| {
            let sum = before.0.saturating_add(ns);
            let part = match sum {
                _ if total_ns <= waited_ns => sum,
                _ if sum == total_ns => waited_ns,
                _ => part_of(waited_ns, sum, total_ns),
            };
            let part_ns = part - before.1;
            let is_small = part_ns < smallest_ns;
            let share = (if is_small { Cause::OTHER } else { cause }, kind, part_ns);
            before = (sum, part);
            share
        };
        let unexplained_ns = waited_ns.saturating_sub(total_ns);
        let unexplained = (Cause::UNEXPLAINED, Kind::Direct, unexplained_ns);
        let shares = self.causes.iter().copied().map(scaled);
        shares.chain([unexplained]).filter(|(_, _, ns)| *ns > 0)
    }
}

/// Returns `whole * part / all`, rounded down; `part` is not above `all`. With whole numbers, as a
/// program may want signals for each number that is rounded.
fn part_of(whole: u64, part: u64, all: u64) -> u64 {
    let all = all.max(1);
    whole.checked_mul(part).map_or_else(
        || {
            let wide = u128::from(whole) * u128::from(part) / u128::from(all);
            u64::try_from(wide).map_or(whole, |wide| wide.min(whole))
        },
        |product| (product / all).min(whole),
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shares(waited_ns: u64, delays: &[u64]) -> Vec<(Cause, Kind, u64)> {
        let mut shares = Shares::new(delays.len(), 10);
        shares.clear(waited_ns);
        delays.iter().zip(1..).for_each(|(ns, cause)| shares.direct(Cause::from_word(cause), *ns));
        shares.of_waiting().collect()
    }

    proptest! {
        #[test]
        fn the_parts_are_the_waiting(
            waited_ns in 0_u64..1 << 50,
            delays in proptest::collection::vec(0_u64..1 << 40, 0..20),
        ) {
            let sum: u64 = shares(waited_ns, &delays).iter().map(|share| share.2).sum();
            prop_assert_eq!(sum, waited_ns);
        }
    }

    #[test]
    fn more_delay_than_waiting_is_scaled() {
        let found: Vec<u64> = shares(100, &[300, 0, 100]).iter().map(|share| share.2).collect();
        assert_eq!(found, [75, 25]);
    }

    #[test]
    fn what_is_too_small_is_other() {
        let found = shares(100, &[70, 9, 21]);
        assert_eq!(found[1], (Cause::OTHER, Kind::Direct, 9));
    }

    #[test]
    fn what_no_delay_explains_is_said() {
        let found = shares(100, &[30]);
        assert_eq!(found[1], (Cause::UNEXPLAINED, Kind::Direct, 70));
    }
}
