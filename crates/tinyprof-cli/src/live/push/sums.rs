//! Sums that never fall, although what is seen of a job may: a host falls silent, a rank is killed,
//! a record cannot be read.

use std::collections::HashMap;

use tinyprof_picture::RankSet;

/// Sums by name and label, and the ranks that they are of.
#[derive(Debug, Default)]
pub(super) struct Sums {
    sums: HashMap<(&'static str, String), Sum>,
    /// All ranks that were ever seen, and those of the last look.
    ever: RankSet,
    last: RankSet,
    change: Change,
}

#[derive(Debug, Default)]
struct Sum {
    /// The part of ranks that are lost.
    gone: u128,
    told: u128,
}

/// How ranks differ from those of the look before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Change {
    /// None that was ever seen is missing.
    #[default]
    Whole,
    /// Some are missing, and they are those that were missing before.
    AsBefore,
    /// Some have been lost since, or some have come back.
    Other,
}

impl Sums {
    /// Begins a look at these ranks.
    pub(super) fn look(&mut self, ranks: &RankSet) {
        let mut all = self.ever.clone();
        all.absorb(ranks);
        let are_new = |rank| self.last.contains(rank) || !self.ever.contains(rank);
        self.change = if all.len() == ranks.len() {
            Change::Whole
        } else if self.last.iter().all(|rank| ranks.contains(rank)) && ranks.iter().all(are_new) {
            Change::AsBefore
        } else {
            Change::Other
        };
        (self.ever, self.last) = (all, ranks.clone());
    }

    /// Returns the number of ranks that were ever seen.
    pub(super) fn ranks_ever(&self) -> u64 {
        self.ever.len()
    }

    /// Returns the sum to tell where this one is seen now. Of ranks that are lost, it has what was
    /// seen last; what others do from then on is added.
    pub(super) fn add(&mut self, name: &'static str, label: String, seen: u128) -> u128 {
        let sum = self.sums.entry((name, label)).or_default();
        match self.change {
            Change::Whole => sum.gone = 0,
            Change::AsBefore => {}
            Change::Other => sum.gone = sum.told.saturating_sub(seen),
        }
        sum.told = sum.told.max(sum.gone.saturating_add(seen));
        sum.told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at ranks and their sums, one look after the other.
    fn told(looks: &[(&[u32], u128)]) -> Vec<u128> {
        let mut sums = Sums::default();
        let of = |(ranks, seen): &(&[u32], u128)| {
            sums.look(&ranks.iter().copied().collect());
            sums.add("time", String::new(), *seen)
        };
        looks.iter().map(of).collect()
    }

    #[test]
    fn a_record_that_cannot_be_read_changes_nothing() {
        assert_eq!(told(&[(&[0, 1], 10), (&[0, 1], 7), (&[0, 1], 12)]), [10, 10, 12]);
    }

    #[test]
    fn what_lost_ranks_did_stays_and_others_go_on() {
        let looks: [(&[u32], u128); 4] = [(&[0, 1], 100), (&[0], 55), (&[0], 60), (&[0], 61)];
        assert_eq!(told(&looks), [100, 100, 105, 106]);
    }

    #[test]
    fn ranks_that_come_back_do_not_count_twice() {
        let looks: [(&[u32], u128); 4] = [(&[0, 1], 100), (&[0], 55), (&[0], 60), (&[0, 1], 120)];
        assert_eq!(told(&looks), [100, 100, 105, 120]);
        // Of three hosts one comes back, another one does not.
        let looks: [(&[u32], u128); 4] =
            [(&[0, 1, 2], 300), (&[0], 100), (&[0, 1], 230), (&[0, 1], 240)];
        assert_eq!(told(&looks), [300, 300, 300, 310]);
    }

    #[test]
    fn ranks_that_are_seen_for_the_first_time_count() {
        assert_eq!(told(&[(&[0], 10), (&[0, 1], 30)]), [10, 30]);
        assert_eq!(told(&[(&[0, 1], 20), (&[0], 12), (&[0, 2], 19)]), [20, 20, 27]);
    }
}
