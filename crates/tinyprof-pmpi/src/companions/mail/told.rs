//! What ranks of other hosts tell of themselves beside companions, so that a rank that has waited
//! for one can find out why.
//!
//! ```text
//!  | companion | number of words u64 | words |        little endian
//! ```
//!
//! On one host a rank looks at the page of another one when it has waited. Here the other one
//! cannot know who will wait: it tells of itself now and then, with a message that it sends anyway.

use tinyprof_messages::companion::Companion;
use tinyprof_messages::delay::{Pulled, Sizes};

/// The least time between two times that a rank tells another one of itself, in ns.
const EACH_NS: u64 = 200_000;
/// The same for each byte that it has told, in ns: 10 MB a second at most.
const EACH_BYTE_NS: u64 = 100;
/// By how much later than a message the state of its sender may be, in ns.
const LATER_NS: u64 = 20_000;
/// The ranks that are told apart, by a hash. A power of two.
const RANKS: usize = 256;

/// Up to when each rank has been told enough.
pub(super) struct Telling {
    due: Box<[(i32, u64); RANKS]>,
    /// The words that are told.
    pub(super) words: Vec<u64>,
}

impl Telling {
    pub(super) fn new() -> Self {
        let words = vec![0; Pulled::mail_words(&Sizes::RECORDER)];
        Self { due: Box::new([(0, 0); RANKS]), words }
    }

    /// Returns whether a rank, relative to this one, is to be told of this one.
    pub(super) fn is_due(&self, relative: i32, now_ns: u64) -> bool {
        let (of, due_ns) = self.due[place(relative)];
        of != relative || now_ns >= due_ns
    }

    /// Notes that a rank is told as many words.
    pub(super) fn tell(&mut self, relative: i32, now_ns: u64, words: usize) {
        self.due[place(relative)] = (relative, now_ns + each_ns(words));
    }
}

/// What other ranks have told last.
pub(super) struct Told {
    ranks: Box<[Rank; RANKS]>,
    /// The place for a message.
    pub(super) buffer: Vec<u8>,
}

#[derive(Default)]
struct Rank {
    relative: i32,
    at_ns: u64,
    words: Vec<u64>,
}

/// Where the number of words is in a message.
const NUMBER: usize = Companion::LENGTH;
/// Where the words are.
const WORDS: usize = NUMBER + 8;

impl Told {
    pub(super) fn new() -> Self {
        let bytes = WORDS + 8 * Pulled::mail_words(&Sizes::RECORDER);
        Self { ranks: Box::new(std::array::from_fn(|_| Rank::default())), buffer: vec![0; bytes] }
    }

    /// Forgets the words of the last message, as the next one may have none.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.buffer[NUMBER..WORDS].fill(0);
    }

    /// Returns the companion of the message in the buffer.
    #[inline]
    pub(super) fn companion(&self) -> Option<Companion> {
        Companion::from_bytes(&self.buffer[..NUMBER])
    }

    /// Keeps what the message in the buffer tells of a rank, relative to this one, as it was at
    /// `at_ns`.
    #[inline]
    pub(super) fn keep(&mut self, relative: i32, at_ns: u64) {
        if self.buffer[NUMBER..WORDS] != [0; 8] {
            self.keep_words(relative, at_ns);
        }
    }

    #[cold]
    #[inline(never)]
    fn keep_words(&mut self, relative: i32, at_ns: u64) {
        let (all, _) = self.buffer[NUMBER..].as_chunks::<8>();
        let mut all = all.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let number = all.next().and_then(|number| usize::try_from(number).ok());
        let number = number.filter(|number| *number <= all.len()).unwrap_or(0);
        let rank = &mut self.ranks[place(relative)];
        (rank.relative, rank.at_ns) = (relative, at_ns);
        rank.words.clear();
        rank.words.extend(all.take(number));
    }

    /// Returns what a rank, relative to this one, has told of the moment at which it came, or of
    /// shortly before; none if it has not. Its clock may be wrong by `unsure_ns`: then it may seem
    /// to have told after the call had ended that has waited for it.
    pub(super) fn of(&self, relative: i32, came_ns: u64, unsure_ns: u64) -> Option<&[u64]> {
        let rank = &self.ranks[place(relative)];
        let until_ns = rank.at_ns + each_ns(rank.words.len());
        let is_of_then = rank.at_ns <= came_ns + LATER_NS + unsure_ns && came_ns <= until_ns;
        let is_there = rank.relative == relative && is_of_then && !rank.words.is_empty();
        is_there.then_some(&rank.words)
    }
}

fn each_ns(words: usize) -> u64 {
    EACH_NS.max(EACH_BYTE_NS * 8 * words as u64)
}

#[expect(clippy::cast_sign_loss, reason = "a hash")]
const fn place(relative: i32) -> usize {
    (relative as usize).wrapping_mul(61) % RANKS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(told: &mut Told, words: &[u64]) {
        told.clear();
        let number = (words.len() as u64).to_le_bytes();
        let all = number.into_iter().chain(words.iter().flat_map(|word| word.to_le_bytes()));
        told.buffer[NUMBER..].iter_mut().zip(all).for_each(|(to, from)| *to = from);
    }

    #[test]
    fn what_was_told_counts_for_the_time_until_it_is_told_again() {
        let mut told = Told::new();
        message(&mut told, &[7, 8, 9]);
        told.keep(-3, 5_000_000);
        assert_eq!(told.of(-3, 5_000_000, 0), Some(&[7, 8, 9][..]));
        assert_eq!(told.of(-3, 5_000_000 + EACH_NS, 0), Some(&[7, 8, 9][..]));
        assert_eq!(told.of(-3, 5_000_001 + EACH_NS, 0), None, "it has not told again");
        assert_eq!(told.of(-3, 4_000_000, 0), None, "it has done more since it came");
        assert_eq!(
            told.of(-3, 4_000_000, 1_000_000),
            Some(&[7, 8, 9][..]),
            "as far as clocks know"
        );
        assert_eq!(told.of(2, 5_000_000, 0), None, "another rank");
        // A companion alone.
        message(&mut told, &[]);
        told.keep(-3, 5_100_000);
        assert_eq!(told.of(-3, 5_000_000, 0), Some(&[7, 8, 9][..]));
        let mut telling = Telling::new();
        assert!(telling.is_due(4, 0));
        telling.tell(4, 1_000, 10);
        assert!(!telling.is_due(4, 1_000 + EACH_NS - 1) && telling.is_due(4, 1_000 + EACH_NS));
        telling.tell(4, 1_000, 1_000);
        assert!(!telling.is_due(4, 1_000 + EACH_NS), "much is told more rarely");
    }

    #[test]
    fn a_number_of_words_that_is_none_is_nothing() {
        let mut told = Told::new();
        message(&mut told, &[1]);
        told.buffer[NUMBER + 7] = 0xff;
        told.keep(1, 100);
        assert_eq!(told.of(1, 100, 0), None);
    }
}
