//! Names: how the ranks of a communicator find each other in shared memory without a message.
//!
//! Each derives the name from what all of them know: the communicator that the new one was made
//! from, its ranks, and how many there were of the kind. The first to come enters it in a table, in
//! which the others find the number of the communicator and its board. So a communicator costs the
//! program no operation, which could meet its own: several threads may make some at a time.
//!
//! ```text
//!  | lock | number of the last communicator | broken |
//!  | communicator 0: name, number and board, ranks that have left | communicator 1 | ...
//! ```

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use tinyprof_segment::clock::monotonic_ns;

/// The most communicators that have a name at a time.
const NAMES: usize = 4096;
/// The most of them that have a board.
pub(super) const BOARDS: u32 = 256;
/// The place in the table of those that have no board.
const NO_BOARD: u32 = u32::MAX;
const LOCK: usize = 0;
const LAST: usize = 1;
const BROKEN: usize = 2;
const HEADER_WORDS: usize = 8;
const ENTRY_WORDS: usize = 3;
/// The longest time to wait for another rank, which may have been killed with the lock.
const LOCKED_NS_MAX: u64 = 1_000_000_000;

/// The table of names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Names {
    words: &'static [AtomicU64],
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The place in the table.
    pub(super) place: u32,
    /// The number of the communicator, which no other of the job has had, above 0.
    pub(super) epoch: u32,
    pub(super) board: Option<u32>,
}

impl Names {
    pub(super) const WORDS: usize = HEADER_WORDS + NAMES * ENTRY_WORDS;

    /// Returns the table in memory of this many words, which are 0 at first.
    pub(super) fn new(words: &'static [AtomicU64]) -> Self {
        Self { words }
    }

    /// Returns what a name other than 0 stands for, which is the same for all ranks until as many
    /// have left as it has. `None` if nobody can know: then [`is_broken`](Self::is_broken).
    pub(super) fn join(&self, name: u64) -> Option<Named> {
        let joined = self.locked(|| self.find(name).or_else(|| self.enter(name))).flatten();
        if joined.is_none() {
            self.break_up();
        }
        joined
    }

    /// Notes that a rank is missing among those of some communicator: what boards say is not
    /// all any more.
    pub(super) fn break_up(&self) {
        self.words[BROKEN].store(1, Relaxed);
    }

    /// Returns whether a rank may be missing from a board.
    #[inline]
    pub(super) fn is_broken(&self) -> bool {
        self.words[BROKEN].load(Relaxed) != 0
    }

    /// Notes that a rank has freed a communicator of this many ranks.
    pub(super) fn leave(&self, place: u32, ranks: u32) {
        let [name, _, left] = self.entry(place as usize);
        let leave = || {
            if left.fetch_add(1, Relaxed) + 1 == u64::from(ranks) {
                left.store(0, Relaxed);
                name.store(0, Relaxed);
            }
        };
        // Otherwise its place is not used again.
        let _ = self.locked(leave);
    }

    /// Calls `work` while no other rank is in here; `None` if one does not come out.
    fn locked<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let lock = &self.words[LOCK];
        let mut since_ns = None;
        while lock.compare_exchange_weak(0, 1, Acquire, Relaxed).is_err() {
            let now_ns = monotonic_ns();
            if now_ns - *since_ns.get_or_insert(now_ns) > LOCKED_NS_MAX {
                return None;
            }
            std::thread::yield_now();
        }
        let result = work();
        lock.store(0, Release);
        Some(result)
    }

    fn entry(&self, place: usize) -> &'static [AtomicU64; ENTRY_WORDS] {
        let words = &self.words[HEADER_WORDS + place * ENTRY_WORDS..][..ENTRY_WORDS];
        words.try_into().expect("an entry has this many words")
    }

    /// Returns the places with the names in them, or 0.
    fn names(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        (0..NAMES).map(|place| (place, self.entry(place)[0].load(Relaxed)))
    }

    fn find(&self, name: u64) -> Option<Named> {
        let (place, _) = self.names().find(|(_, other)| *other == name)?;
        self.at(place)
    }

    fn at(&self, place: usize) -> Option<Named> {
        let word = self.entry(place)[1].load(Relaxed);
        #[expect(clippy::cast_possible_truncation, reason = "its halves")]
        let (epoch, board) = ((word >> 32) as u32, word as u32);
        let board = (board != NO_BOARD).then_some(board);
        Some(Named { place: u32::try_from(place).ok()?, epoch, board })
    }

    fn enter(&self, name: u64) -> Option<Named> {
        // Another rank that had no room has no communicator of this name.
        let (place, _) = self.names().find(|(_, other)| *other == 0 && !self.is_broken())?;
        let epoch = self.words[LAST].fetch_add(1, Relaxed) + 1;
        let board = self.free_board().unwrap_or(NO_BOARD);
        let [into, number, left] = self.entry(place);
        number.store(epoch << 32 | u64::from(board), Relaxed);
        left.store(0, Relaxed);
        into.store(name, Relaxed);
        self.at(place)
    }

    fn free_board(&self) -> Option<u32> {
        let mut used = [false; BOARDS as usize];
        for (place, _) in self.names().filter(|(_, name)| *name != 0) {
            if let Some(board) = self.at(place).and_then(|named| named.board) {
                used[board as usize] = true;
            }
        }
        (0..BOARDS).find(|board| !used[*board as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let words = (0..Names::WORDS).map(|_| AtomicU64::new(0));
        Names::new(Box::leak(words.collect()))
    }

    #[test]
    fn all_ranks_find_the_same_under_a_name_until_all_have_left() {
        let names = names();
        let [first, second] = [7, 9].map(|name| names.join(name).expect("there is room"));
        assert_ne!(first.epoch, second.epoch);
        assert_ne!(first.board, second.board);
        names.leave(first.place, 2);
        assert_eq!(names.join(7), Some(first), "the other rank may come later");
        names.leave(first.place, 2);
        let again = names.join(7).expect("there is room");
        assert_eq!(again.board, first.board);
        assert!(again.epoch > second.epoch);
    }

    #[test]
    fn without_a_board_there_is_a_number_and_without_a_number_it_is_said() {
        let names = names();
        let all: Vec<Named> = (1..=NAMES as u64).filter_map(|name| names.join(name)).collect();
        assert_eq!(all.len(), NAMES);
        assert_eq!(all.iter().filter(|named| named.board.is_some()).count(), BOARDS as usize);
        assert!(!names.is_broken());
        assert_eq!(names.join(NAMES as u64 + 1), None);
        assert!(names.is_broken());
        names.leave(all[0].place, 1);
        assert_eq!(names.join(NAMES as u64 + 1), None, "as for the rank that came first");
        assert_eq!(names.join(5), Some(all[4]));
    }

    #[test]
    fn ranks_that_come_at_once_agree() {
        let names = names();
        std::thread::scope(|scope| {
            let join = || (1..500_u64).map(|name| names.join(name)).collect::<Vec<_>>();
            let ranks: Vec<_> = (0..4).map(|_| scope.spawn(join)).collect();
            let all: Vec<_> = ranks.into_iter().map(|rank| rank.join().unwrap()).collect();
            assert!(all.iter().all(|one| *one == all[0] && one.iter().all(Option::is_some)));
        });
    }
}
