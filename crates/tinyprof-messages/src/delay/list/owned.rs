//! The owner's side of a list: where a key is, and which entry gives way.

use std::sync::atomic::Ordering::Relaxed;

use tinyprof_segment::primitive::AtomicU64;

use super::{List, TOTAL, USED, Word, key_of};

/// Adds time to a key of a list that has no index, because it is a copy of another rank's. If it is
/// full the least of its entries gives way, or the new one. Owner only, within a change.
pub(in crate::delay) fn merge(words: &[AtomicU64], key: u64, ns: u64) {
    add(&words[TOTAL], ns);
    let used = List::new(words).used();
    if let Some(place) = (0..used).find(|place| words[key_of(*place)].get() == key) {
        return add(&words[key_of(place) + 1], ns);
    }
    let mut place = used;
    if key_of(used) + 1 < words.len() {
        words[USED].store(used as u64 + 1, Relaxed);
    } else {
        let least = (0..used).map(|place| (words[key_of(place) + 1].get(), place)).min();
        match least {
            Some((least_ns, least)) if least_ns < ns => place = least,
            _ => return,
        }
    }
    words[key_of(place)].store(key, Relaxed);
    words[key_of(place) + 1].store(ns, Relaxed);
}

/// What the owner of a list knows besides: where a key is, and which entry is to give way.
///
/// As in the algorithm *Space-Saving*, a key that takes the place of another inherits its rank in
/// the order of eviction, so that one with more than its share of the whole stays. Other than
/// there its time starts at 0: times are never too large.
#[derive(Debug)]
pub(in crate::delay) struct Owned {
    room: usize,
    /// Places by hash, plus 1; 0 is free. A power of two, at least twice the room.
    index: Box<[u16]>,
    inherited_ns: Box<[u64]>,
    /// The place at which the search for an entry that gives way goes on.
    hand: usize,
}

/// The entries among which the least one gives way.
const CANDIDATES: usize = 16;

impl Owned {
    pub(in crate::delay) fn new(room: usize) -> Self {
        let room = room.min(usize::from(u16::MAX) - 1);
        let index = vec![0; (2 * room).next_power_of_two()].into_boxed_slice();
        Self { room, index, inherited_ns: vec![0; room].into_boxed_slice(), hand: 0 }
    }

    /// Adds time to a key. Within a change.
    #[inline]
    pub(in crate::delay) fn add(&mut self, words: &[AtomicU64], key: u64, ns: u64) {
        add(&words[TOTAL], ns);
        let mut at = self.home(key);
        loop {
            match usize::from(self.index[at]) {
                0 => return self.enter(words, key, ns, at),
                place if words[key_of(place - 1)].get() == key => {
                    return add(&words[key_of(place - 1) + 1], ns);
                }
                _ => at = (at + 1) & (self.index.len() - 1),
            }
        }
    }

    /// Adds time that has no key. Within a change.
    #[inline]
    pub(in crate::delay) fn add_other(words: &[AtomicU64], ns: u64) {
        add(&words[TOTAL], ns);
    }

    /// Returns the time of a key.
    #[inline]
    pub(in crate::delay) fn place(&self, words: &[AtomicU64], key: u64) -> Option<usize> {
        let mut at = self.home(key);
        loop {
            match usize::from(self.index[at]) {
                0 => return None,
                place if words[key_of(place - 1)].get() == key => return Some(place - 1),
                _ => at = (at + 1) & (self.index.len() - 1),
            }
        }
    }

    #[inline(always)]
    fn home(&self, key: u64) -> usize {
        let mixed = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (mixed >> 40) as usize & (self.index.len() - 1)
    }

    /// Makes an entry for a new key, whose place in the index is free. Rare but in lists that are
    /// too small.
    #[cold]
    #[inline(never)]
    #[expect(clippy::cast_possible_truncation, reason = "the room is below 2^16")]
    fn enter(&mut self, words: &[AtomicU64], key: u64, ns: u64, mut at: usize) {
        if self.room == 0 {
            return;
        }
        let used = List::new(words).used();
        let place = if used < self.room {
            words[USED].store(used as u64 + 1, Relaxed);
            used
        } else {
            let place = self.least(words);
            self.remove(words, place);
            at = self.home(key);
            while self.index[at] != 0 {
                at = (at + 1) & (self.index.len() - 1);
            }
            place
        };
        self.index[at] = place as u16 + 1;
        words[key_of(place)].store(key, Relaxed);
        words[key_of(place) + 1].store(ns, Relaxed);
    }

    /// Returns the place of an entry that gives way, whose rank the next one inherits.
    fn least(&mut self, words: &[AtomicU64]) -> usize {
        let order =
            |place: usize| words[key_of(place) + 1].get().saturating_add(self.inherited_ns[place]);
        let candidates = (0..CANDIDATES.min(self.room)).map(|step| (self.hand + step) % self.room);
        let (least_ns, place) =
            candidates.map(|place| (order(place), place)).min().unwrap_or_default();
        self.hand = (self.hand + CANDIDATES) % self.room;

        self.inherited_ns[place] = least_ns;
        place
    }

    /// Takes a place out of the index, and closes the gap.
    fn remove(&mut self, words: &[AtomicU64], place: usize) {
        let mask = self.index.len() - 1;
        let mut gap = self.home(words[key_of(place)].get());
        while usize::from(self.index[gap]) != place + 1 {
            gap = (gap + 1) & mask;
        }
        let mut at = (gap + 1) & mask;
        while self.index[at] != 0 {
            // An entry may move to the gap unless its home lies behind the gap.
            let key = words[key_of(usize::from(self.index[at]) - 1)].get();
            let home = self.home(key);
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(gap) & mask) {
                self.index[gap] = self.index[at];
                gap = at;
            }
            at = (at + 1) & mask;
        }
        self.index[gap] = 0;
    }
}

/// Adds to a word that only the caller writes.
#[inline(always)]
pub(in crate::delay) fn add(word: &AtomicU64, ns: u64) {
    word.store(word.load(Relaxed).wrapping_add(ns), Relaxed);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::words;
    use super::*;

    fn shared(entries: usize) -> Vec<AtomicU64> {
        (0..words(entries)).map(|_| AtomicU64::new(0)).collect()
    }

    proptest! {
        #[test]
        fn every_key_is_found_and_nothing_is_lost(
            adds in proptest::collection::vec((0_u64..40, 1_u64..1_000), 1..400),
        ) {
            let (words, mut owned) = (shared(8), Owned::new(8));
            for (key, ns) in &adds {
                owned.add(&words, *key, *ns);
                let list = List::new(&words);
                for (place, (key, _)) in list.entries().enumerate() {
                    prop_assert_eq!(owned.place(&words, key), Some(place));
                }
            }
            let list = List::new(&words);
            let total: u64 = adds.iter().map(|(_, ns)| ns).sum();
            prop_assert_eq!(list.total_ns(), total);
            prop_assert_eq!(list.rest_ns() + list.entries().map(|(_, ns)| ns).sum::<u64>(), total);
            for (key, ns) in list.entries() {
                let all: u64 = adds.iter().filter(|add| add.0 == key).map(|(_, ns)| ns).sum();
                prop_assert!(ns <= all);
            }
        }
    }

    #[test]
    fn a_key_with_more_than_its_share_stays() {
        let (words, mut owned) = (shared(8), Owned::new(8));
        for round in 0..1_000 {
            owned.add(&words, 1, 300);
            (0..4).for_each(|other| owned.add(&words, 100 + 4 * round + other, 100));
        }
        let found = List::new(&words).entries().find(|(key, _)| *key == 1);
        assert_eq!(found, Some((1, 300_000)));
    }

    #[test]
    fn a_key_of_many_small_times_stays_among_larger_ones() {
        let (words, mut owned) = (shared(8), Owned::new(8));
        (10..18).for_each(|other| owned.add(&words, other, 100));
        for round in 0..1_000 {
            owned.add(&words, 1, 60);
            (0..3).for_each(|other| owned.add(&words, 100 + 3 * round + other, 100));
        }
        let found = List::new(&words).entries().find(|(key, _)| *key == 1);
        assert!(found.is_some_and(|(_, ns)| ns > 55_000), "{found:?}");
    }

    #[test]
    fn the_least_of_a_copy_gives_way() {
        let words = shared(2);
        for (key, ns) in [(1, 10), (2, 500), (1, 5), (3, 8), (4, 70)] {
            merge(&words, key, ns);
        }
        let list = List::new(&words);
        assert_eq!(list.entries().collect::<Vec<_>>(), [(4, 70), (2, 500)]);
        assert_eq!((list.total_ns(), list.rest_ns()), (593, 23));
    }
}
