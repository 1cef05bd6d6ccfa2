//! The commands that a thread has obeyed, in a block of its segment: the first of them one by one,
//! all others as a number. The thread writes, and others read at any time.
//!
//! ```text
//! line 0       0 entries that are whole   1 commands that had no room   2 .. 7 unused, 0
//! then, six lines each:
//!     0 number of the verb; high half: of the answer      1 date of the command, unix ns
//!     2 when it was written, ns    3 when it was obeyed, ns    4 when it was over, ns; 0: not yet
//!     5 flush point at which it was done; 0: at none, or not yet
//!     6 .. 7 unused, 0             8 .. 15 who has given it: UTF-8, and zeros
//!     16 .. 47 what it is about: UTF-8, and zeros
//! ```
//!
//! All times but the date are of `CLOCK_MONOTONIC`.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::control::{ARGUMENT_WORDS, Answer, Command, Given, NAME_WORDS};
use crate::layout::LINE_WORDS;
use crate::words::{high, low, pack};

/// The words of a log, of which as many as a power of two allows are entries.
pub const WORDS: usize = 512 * LINE_WORDS;

const ENTRIES: usize = 0;
const WITHOUT_ROOM: usize = 1;

/// The words of an entry.
const ENTRY_WORDS: usize = 6 * LINE_WORDS;
const ENTRIES_MAX: usize = (WORDS - LINE_WORDS) / ENTRY_WORDS;

const VERB: usize = 0;
const DATE_NS: usize = 1;
const GIVEN_NS: usize = 2;
const OBEYED_NS: usize = 3;
const OVER_NS: usize = 4;
const FLUSH_POINT: usize = 5;
const GIVER: usize = 8;
const ARGUMENT: usize = GIVER + NAME_WORDS;
const _: () = assert!(ARGUMENT + ARGUMENT_WORDS == ENTRY_WORDS);

/// A command that a thread has obeyed, or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Obeyed {
    /// The number of its [`Verb`](crate::control::Verb).
    pub verb: u32,
    /// The number of the [`Answer`].
    pub answer: u32,
    /// The origin of the command.
    pub given: Given,
    /// When the thread has looked at it, in ns of `CLOCK_MONOTONIC`.
    pub obeyed_ns: u64,
    /// When what it has begun was over; 0 if that is not so yet, or it has begun nothing.
    pub over_ns: u64,
    /// The flush point at which it was done; 0 if that is none, or not so yet.
    pub flush_point: u64,
}

/// Adds a command to the log in these words, and returns its position; `None` if there is no room.
/// Owner only.
pub fn add(log: &[AtomicU64], command: &Command, answer: Answer, now_ns: u64) -> Option<usize> {
    let entries = log.first()?.load(Relaxed);
    let at = usize::try_from(entries).ok().filter(|&at| at < ENTRIES_MAX);
    let entry = at.and_then(|at| words_of(log, at));
    let (Some(at), Some(entry)) = (at, entry) else {
        log.get(WITHOUT_ROOM)?.fetch_add(1, Relaxed);
        return None;
    };
    entry[VERB].store(pack(command.verb_number, answer.number()), Relaxed);
    entry[DATE_NS].store(command.given.date_ns, Relaxed);
    entry[GIVEN_NS].store(command.given.at_ns, Relaxed);
    entry[OBEYED_NS].store(now_ns, Relaxed);
    entry[OVER_NS].store(0, Relaxed);
    entry[FLUSH_POINT].store(0, Relaxed);
    let texts = command.given.name.into_iter().chain(command.given.argument);
    entry[GIVER..].iter().zip(texts).for_each(|(to, word)| to.store(word, Relaxed));
    log[ENTRIES].store(entries + 1, Release);
    Some(at)
}

/// Says that what the command at `position` has begun is over. Owner only.
pub fn end(log: &[AtomicU64], position: usize, now_ns: u64) {
    if let Some(entry) = words_of(log, position) {
        entry[OVER_NS].store(now_ns, Relaxed);
    }
}

/// Says at which flush point the command at `position` was done. Any thread of the owner's process.
pub fn done_at(log: &[AtomicU64], position: usize, flush_point: u64, now_ns: u64) {
    if let Some(entry) = words_of(log, position) {
        entry[FLUSH_POINT].store(flush_point, Relaxed);
        entry[OVER_NS].store(now_ns, Relaxed);
    }
}

fn words_of(log: &[AtomicU64], position: usize) -> Option<&[AtomicU64]> {
    let begin = LINE_WORDS + position.checked_mul(ENTRY_WORDS)?;
    log.get(begin..begin + ENTRY_WORDS)
}

/// Returns the commands in a log, the oldest first, and the number of those that had no room. Any
/// process: `word` may return anything.
#[must_use]
pub fn read(word: impl Fn(usize) -> u64) -> (Vec<Obeyed>, u64) {
    let entries = usize::try_from(word(ENTRIES)).map_or(ENTRIES_MAX, |all| all.min(ENTRIES_MAX));
    let entry = |at: usize| {
        let word = |of: usize| word(LINE_WORDS + at * ENTRY_WORDS + of);
        let name = std::array::from_fn(|of| word(GIVER + of));
        let argument = std::array::from_fn(|of| word(ARGUMENT + of));
        Obeyed {
            verb: low(word(VERB)),
            answer: high(word(VERB)),
            given: Given { date_ns: word(DATE_NS), at_ns: word(GIVEN_NS), name, argument },
            obeyed_ns: word(OBEYED_NS),
            over_ns: word(OVER_NS),
            flush_point: word(FLUSH_POINT),
        }
    };
    ((0..entries).map(entry).collect(), word(WITHOUT_ROOM))
}

/// Like [`read`], of words that their thread may be changing.
#[must_use]
pub fn read_of(log: &[AtomicU64]) -> (Vec<Obeyed>, u64) {
    // Whoever sees the number sees the entries.
    let ordering = |at| if at == ENTRIES { Acquire } else { Relaxed };
    read(|at| log.get(at).map_or(0, |word| word.load(ordering(at))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Verb;

    fn log() -> Vec<AtomicU64> {
        (0..WORDS).map(|_| AtomicU64::new(0)).collect()
    }

    fn command(number: u32) -> Command {
        let given = Given::by("ada@login", u64::from(number), 2).about("-*");
        Command { number, verb_number: Verb::Hold.number(), until_ns: 9, given }
    }

    #[test]
    fn commands_are_read_as_they_were_added() {
        let log = log();
        assert_eq!(read_of(&log), (vec![], 0));
        let at = add(&log, &command(7), Answer::Done, 5).expect("there is room");
        assert_eq!(read_of(&log).0[0].over_ns, 0);
        end(&log, at, 8);
        assert_eq!(read_of(&log).0[0].flush_point, 0);
        done_at(&log, at, 1_204, 8);
        let (obeyed, without_room) = read_of(&log);
        let (verb, answer) = (Verb::Hold.number(), Answer::Done.number());
        let given = command(7).given;
        assert_eq!(
            obeyed,
            [Obeyed { verb, answer, given, obeyed_ns: 5, over_ns: 8, flush_point: 1_204 }]
        );
        assert_eq!((obeyed[0].given.name().as_str(), without_room), ("ada@login", 0));
    }

    #[test]
    fn the_first_have_room_and_the_rest_are_counted() {
        let log = log();
        let kept = (0..1_000).filter_map(|at| add(&log, &command(at), Answer::Done, 5)).count();
        let (obeyed, without_room) = read_of(&log);
        assert_eq!((obeyed.len(), without_room), (kept, 1_000 - kept as u64));
        assert!(kept > 60 && (0..).zip(&obeyed).all(|(at, one)| one.given.date_ns == at));
    }

    #[test]
    fn damage_is_no_panic() {
        let (obeyed, _) = read(|_| u64::MAX);
        assert_eq!(obeyed.len(), ENTRIES_MAX);
        assert!(!obeyed[0].given.name().is_empty());
        assert_eq!(add(&[], &command(1), Answer::Done, 1), None);
        end(&[], usize::MAX / 32, 1);
        done_at(&[], usize::MAX / 32, 1, 1);
    }
}
