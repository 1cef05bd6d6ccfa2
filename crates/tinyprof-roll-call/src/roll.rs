//! The lists of who is here, and what is said of them.

use std::collections::HashMap;

use crate::Place;

/// The jobs that share a name and a size, of which one at a time may call its roll.
type Key = (String, u32);

/// One list of ranks, of which each member `M` is to be told the answer.
#[derive(Debug)]
struct Roll<M> {
    members: HashMap<u32, M>,
    /// Whether all are here, once that has been said.
    is_all: Option<bool>,
    /// The number by which members know their roll again.
    number: u64,
}

/// All rolls of a keeper.
#[derive(Debug)]
pub(crate) struct Rolls<M> {
    rolls: HashMap<Key, Roll<M>>,
    /// How many rolls there have been.
    number: u64,
}

impl<M> Default for Rolls<M> {
    fn default() -> Self {
        Self { rolls: HashMap::new(), number: 0 }
    }
}

impl<M> Rolls<M> {
    /// Enters a rank. Returns the number of its roll, and if this was the last one all members, who
    /// are to be told so. `None` if it cannot be entered: there is no such place, or two jobs are
    /// mixed up, of which nothing can be said.
    pub(crate) fn enter(&mut self, place: &Place, member: M) -> Option<(u64, Vec<M>)> {
        if place.rank >= place.size {
            return None;
        }
        let key = (place.job.clone(), place.size);
        // A roll of which all has been said belongs to an earlier job, or to the one that has
        // started this.
        if self.rolls.get(&key).is_none_or(|roll| roll.is_all == Some(true)) {
            self.number += 1;
            let roll = Roll { members: HashMap::new(), is_all: None, number: self.number };
            self.rolls.insert(key.clone(), roll);
        }
        let roll = self.rolls.get_mut(&key)?;
        if roll.is_all.is_some() || roll.members.contains_key(&place.rank) {
            roll.is_all = Some(false);
            return None;
        }
        roll.members.insert(place.rank, member);
        let mut told = Vec::new();
        if roll.members.len() == place.size as usize {
            roll.is_all = Some(true);
            told.extend(roll.members.drain().map(|(_, member)| member));
        }
        Some((roll.number, told))
    }

    /// Returns whether all ranks of a roll are here. The first question decides for ever.
    pub(crate) fn answer(&mut self, place: &Place, number: u64) -> bool {
        let key = (place.job.clone(), place.size);
        match self.rolls.get_mut(&key).filter(|roll| roll.number == number) {
            Some(roll) => *roll.is_all.get_or_insert(false),
            // Only a roll of which all are here is followed by another one.
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(job: &str, rank: u32, size: u32) -> Place {
        Place { job: job.to_owned(), rank, size }
    }

    #[test]
    fn all_are_told_when_the_last_one_has_come() {
        let mut rolls = Rolls::default();
        let number = |entered: Option<(u64, Vec<char>)>| entered.expect("it is entered").0;
        assert_eq!(rolls.enter(&place("j", 1, 3), 'b'), Some((1, Vec::new())));
        assert_eq!(rolls.enter(&place("k", 1, 3), 'x'), Some((2, Vec::new())), "another job");
        assert_eq!(number(rolls.enter(&place("j", 0, 3), 'a')), 1);
        let (_, mut told) = rolls.enter(&place("j", 2, 3), 'c').expect("it is entered");
        told.sort_unstable();
        assert_eq!(told, ['a', 'b', 'c']);
        assert!(rolls.answer(&place("j", 2, 3), 1));
        // The next job of the same launcher.
        assert_eq!(number(rolls.enter(&place("j", 2, 3), 'd')), 3);
        assert!(rolls.answer(&place("j", 1, 3), 1), "the first job's answer stays");
        assert!(!rolls.answer(&place("j", 2, 3), 3));
    }

    #[test]
    fn the_first_question_decides() {
        let mut rolls = Rolls::default();
        let (number, _) = rolls.enter(&place("j", 0, 2), 'a').expect("it is entered");
        assert!(!rolls.answer(&place("j", 0, 2), number));
        assert_eq!(rolls.enter(&place("j", 1, 2), 'b'), None, "too late");
        assert!(!rolls.answer(&place("j", 0, 2), number));
    }

    #[test]
    fn of_two_jobs_that_are_mixed_up_nothing_is_said() {
        let mut rolls = Rolls::default();
        let (number, _) = rolls.enter(&place("", 0, 2), 'a').expect("it is entered");
        assert_eq!(rolls.enter(&place("", 0, 2), 'b'), None);
        assert_eq!(rolls.enter(&place("", 1, 2), 'c'), None);
        assert!(!rolls.answer(&place("", 0, 2), number));
        assert_eq!(rolls.enter(&place("", 2, 2), 'd'), None, "no such rank");
    }
}
