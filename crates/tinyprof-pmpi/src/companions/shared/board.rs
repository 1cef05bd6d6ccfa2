//! A board: where the ranks of a communicator write when they entered a collective operation.
//!
//! Each writes before it enters, and looks at the others when it has left: who it has waited for
//! has entered, and so has written. Nobody waits for a rank that the operation itself does not wait
//! for.
//!
//! ```text
//!  | instance 0: a record of each rank | 1 | ... | 63 |
//! ```

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::ways::Hints;

/// The instances that are kept. A rank that is not waited for may be this many ahead of the others.
const INSTANCES: usize = 64;
/// A stamp, and the part of a rank.
const RECORD_WORDS: usize = 1 + Meeting::RECORD_WORDS;
/// The stamp of a record that is being written.
const WRITTEN_NOW: u64 = u64::MAX;

/// The memory of a board.
#[derive(Clone, Copy, Debug)]
pub(super) struct Board {
    words: &'static [AtomicU64],
    ranks: usize,
}

/// An operation on a communicator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instance {
    /// The number of the communicator that all its ranks know.
    pub(super) epoch: u32,
    /// The number of the operation on it.
    pub(super) number: u32,
}

/// What the ranks have written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::companions) enum Read {
    /// The latest of those that have entered.
    Meeting(Meeting),
    /// None of them has entered.
    Nobody,
    /// One of them is so far ahead that its record is gone.
    Lost,
}

/// What a rank has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::companions) enum Part {
    Of(Meeting, Hints),
    /// It has not entered.
    Nobody,
    /// It is so far ahead that its record is gone.
    Lost,
}

impl Board {
    /// Returns the words of a board for communicators of at most this many ranks.
    pub(super) const fn words(ranks: usize) -> usize {
        INSTANCES * ranks * RECORD_WORDS
    }

    /// Returns the board in memory of this many words, which are 0 at first.
    pub(super) fn new(words: &'static [AtomicU64], ranks: usize) -> Self {
        Self { words, ranks }
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> &'static [AtomicU64] {
        self.words
    }

    fn record(&self, instance: Instance, rank: u32) -> &'static [AtomicU64] {
        let row = instance.number as usize % INSTANCES;
        let begin = (row * self.ranks + rank as usize) * RECORD_WORDS;
        &self.words[begin..begin + RECORD_WORDS]
    }

    /// Writes when the caller has entered, whose rank is that in `own`.
    #[inline]
    pub(super) fn write(&self, instance: Instance, own: &Meeting, hints: Hints) {
        let record = self.record(instance, own.last_rank);
        record[0].store(WRITTEN_NOW, Relaxed);
        fence(Release);
        for (place, word) in record[1..].iter().zip(own.to_record(hints)) {
            place.store(word, Relaxed);
        }
        record[0].store(instance.stamp(), Release);
    }

    /// Returns what `ranks` have written, for one that has left the operation.
    #[inline]
    pub(super) fn read(&self, instance: Instance, ranks: impl IntoIterator<Item = u32>) -> Read {
        let mut all = None;
        for rank in ranks {
            match self.part(instance, rank) {
                Part::Of(one, _) => {
                    all = Some(all.map_or(one, |all: Meeting| all.combine(one)));
                }
                Part::Nobody => {}
                Part::Lost => return Read::Lost,
            }
        }
        all.map_or(Read::Nobody, Read::Meeting)
    }

    /// Returns what a rank has written.
    #[inline]
    pub(super) fn part(&self, instance: Instance, rank: u32) -> Part {
        let record = self.record(instance, rank);
        let stamp = record[0].load(Acquire);
        if stamp != instance.stamp() {
            return if instance.is_before(stamp) { Part::Lost } else { Part::Nobody };
        }
        let words = std::array::from_fn(|at| record[at + 1].load(Relaxed));
        fence(Acquire);
        if record[0].load(Relaxed) != stamp {
            return Part::Lost;
        }
        let (one, hints) = Meeting::from_record(words, rank);
        Part::Of(one, hints)
    }
}

impl Instance {
    #[inline]
    fn stamp(self) -> u64 {
        u64::from(self.epoch) << 32 | u64::from(self.number)
    }

    /// Returns whether a stamp is that of a later operation, of this communicator or of the one
    /// that has the board now.
    #[inline]
    fn is_before(self, stamp: u64) -> bool {
        stamp > self.stamp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANKS: u32 = 4;

    fn board() -> Board {
        let words = (0..Board::words(RANKS as usize)).map(|_| AtomicU64::new(0));
        Board::new(Box::leak(words.collect()), RANKS as usize)
    }

    fn entered(rank: u32, at_ns: i64) -> Meeting {
        Meeting::new(at_ns, 0, 0, rank)
    }

    #[test]
    fn who_has_left_reads_those_that_have_entered() {
        let (board, instance) = (board(), Instance { epoch: 3, number: 1 });
        assert_eq!(board.read(instance, 0..RANKS), Read::Nobody);
        board.write(instance, &entered(2, 50), Hints::default());
        board.write(instance, &entered(0, 70), Hints::default());
        let Read::Meeting(meeting) = board.read(instance, 0..RANKS) else { panic!() };
        assert_eq!((meeting.last_rank, meeting.last_ns), (0, 70));
        let Read::Meeting(meeting) = board.read(instance, 1..RANKS) else { panic!() };
        assert_eq!((meeting.last_rank, meeting.last_ns), (2, 50));
    }

    #[test]
    fn an_operation_before_is_nobody_and_one_after_is_lost() {
        let board = board();
        let at = |number| Instance { epoch: 3, number };
        board.write(at(5), &entered(1, 50), Hints::default());
        assert_eq!(board.read(at(5 + 64), 0..RANKS), Read::Nobody);
        board.write(at(5 + 64), &entered(1, 60), Hints::default());
        assert_eq!(board.read(at(5), 0..RANKS), Read::Lost);
        let later = Instance { epoch: 4, number: 5 };
        assert_eq!(board.read(later, 0..RANKS), Read::Nobody);
        board.write(later, &entered(1, 70), Hints::default());
        assert_eq!(board.read(at(5 + 64), 0..RANKS), Read::Lost);
    }

    #[test]
    fn a_reader_never_sees_half_of_a_record() {
        const ROUNDS: u32 = 200_000;
        let board = board();
        // The rows are few, so that the writer often writes what is being read.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..ROUNDS {
                    let instance = Instance { epoch: 1, number };
                    let (own, hints) = Meeting::from_record([number.into(); 4], 1);
                    board.write(instance, &own, hints);
                }
            });
            for number in 0..ROUNDS {
                let instance = Instance { epoch: 1, number };
                if let Read::Meeting(read) = board.read(instance, 1..2) {
                    assert_eq!(read, Meeting::from_record([number.into(); 4], 1).0);
                }
            }
        });
    }
}
