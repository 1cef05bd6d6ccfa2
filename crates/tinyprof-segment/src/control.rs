//! Commands to a thread that runs, in words of its segment's header, and its answers.
//!
//! ```text
//! the thread:   65 accepts: see [`Accepts`]
//!               66 answer: number of the command; high half: see [`Answer`]
//!               67 when it answered, ns         68 until when it keeps events, ns; 0: not asked
//!               69 since when it is held, ns; 0: it is not
//!               70 whether it keeps events: see [`keeping`](crate::layout::keeping)
//!               71 since when measuring is off, ticks; 0: it is on     78 the same in ns
//!               79 for how long it was off before, ns
//! the client:   72 command: number, above 0; high half: see [`Verb`]; written last
//!               73 until when, ns                   74 [`check`] of the others but 75
//!               75 lease: when the client was last there, ns
//!               76 date of the command, unix ns     77 when it was written, ns
//!               80 .. 87 who has given it: UTF-8, and zeros
//!               88 .. 119 what it is about, such as patterns: UTF-8, and zeros
//! ```
//!
//! All times but the date are of `CLOCK_MONOTONIC`. What a thread has obeyed is in its
//! [log](crate::obeyed). A thread looks at its command where a visit ends while the
//! bit [`WATCHED`](crate::layout::execution::WATCHED) is set. What a client has written only in
//! part is no command.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, fence};

use crate::layout::{execution, header};
use crate::words::{high, low, pack};

/// The time for which a thread is held at most, in ns.
pub const HOLD_NS_MAX: u64 = 60_000_000_000;

/// The time after which a client that has not renewed its lease counts as gone, in ns.
pub const LEASE_NS: u64 = 3_000_000_000;

/// The commands that the user allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Accepts {
    /// None: others may only read.
    #[default]
    Nothing,
    /// Those that change what is recorded.
    Recording,
    /// Also those that hold the program.
    Holding,
}

impl Accepts {
    const ALL: [Self; 3] = [Self::Nothing, Self::Recording, Self::Holding];

    /// Returns what the word of a header says; nothing, if it makes no sense.
    #[must_use]
    pub fn of_word(word: u64) -> Self {
        Self::ALL.into_iter().find(|one| one.to_word() == word).unwrap_or_default()
    }

    /// Returns the word of a header.
    #[must_use]
    pub const fn to_word(self) -> u64 {
        self as u64
    }
}

/// An order to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Keep visits one by one until some time.
    Record,
    /// Wait until some time, or until the client goes.
    Hold,
    /// End what the last command has begun.
    Release,
    /// Measure nothing until [`On`](Self::On).
    Off,
    /// Measure again.
    On,
    /// Begin another part of the run, at a flush point on which all ranks agree.
    Reset,
    /// Begin another part, in which patterns say which regions are recorded.
    Filter,
    /// Begin another part, in which patterns say which metrics are recorded.
    Metrics,
}

impl Verb {
    const ALL: [Self; 8] = [
        Self::Record,
        Self::Hold,
        Self::Release,
        Self::Off,
        Self::On,
        Self::Reset,
        Self::Filter,
        Self::Metrics,
    ];

    /// Returns the number in words; never another one in the future.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Record => 1,
            Self::Hold => 2,
            Self::Release => 3,
            Self::Off => 4,
            Self::On => 5,
            Self::Reset => 6,
            Self::Filter => 7,
            Self::Metrics => 8,
        }
    }

    /// Returns the name in `tinyprof ctl`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Hold => "hold",
            Self::Release => "release",
            Self::Off => "off",
            Self::On => "on",
            Self::Reset => "reset",
            Self::Filter => "filter",
            Self::Metrics => "metrics",
        }
    }

    /// Returns whether the command is about something: in a profile, that is behind its author.
    #[must_use]
    pub const fn has_argument(number: u32) -> bool {
        number == Self::Filter.number() || number == Self::Metrics.number()
    }

    /// Returns the verb of a number; `None` if it is not known here.
    #[must_use]
    pub fn of_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.number() == number)
    }
}

/// A thread's answer to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It does so.
    Done,
    /// It does not: the user does not allow it.
    NotAllowed,
    /// It keeps events already, as the environment says.
    KeepsAlready,
    /// It does not know this command.
    Unknown,
    /// It does not: others rely on what it does now.
    NotPossible,
}

impl Answer {
    const ALL: [Self; 5] =
        [Self::Done, Self::NotAllowed, Self::KeepsAlready, Self::Unknown, Self::NotPossible];

    /// Returns the number in words; never another one in the future.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Done => 1,
            Self::NotAllowed => 2,
            Self::KeepsAlready => 3,
            Self::Unknown => 4,
            Self::NotPossible => 5,
        }
    }
}

/// The words of the name of whoever gives commands.
pub const NAME_WORDS: usize = 8;
/// The words of what a command is about.
pub const ARGUMENT_WORDS: usize = 32;
/// The bytes of what a command is about, at most.
pub const ARGUMENT_BYTES_MAX: usize = ARGUMENT_WORDS * 8;
const _: () = assert!(header::GIVER + NAME_WORDS == header::ARGUMENT);
const _: () = assert!(header::ARGUMENT + ARGUMENT_WORDS == header::WORDS);

/// The origin of a command: who has given it, and when; and what it is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The date, in ns since 1970-01-01 UTC: equal for all threads that are given it at once, also
    /// on other hosts.
    pub date_ns: u64,
    /// When it was written, in ns of `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// The name: UTF-8, and zeros.
    pub name: [u64; NAME_WORDS],
    /// The argument of the command, such as patterns: UTF-8, and zeros.
    pub argument: [u64; ARGUMENT_WORDS],
}

impl Given {
    /// Returns who gives a command now. A name of more than 64 bytes is cut.
    #[must_use]
    pub fn by(name: &str, date_ns: u64, at_ns: u64) -> Self {
        Self { date_ns, at_ns, name: words_of(name), argument: [0; ARGUMENT_WORDS] }
    }

    /// Returns it with what the command is about. A text of more than [`ARGUMENT_BYTES_MAX`] bytes
    /// is cut.
    #[must_use]
    pub fn about(self, text: &str) -> Self {
        Self { argument: words_of(text), ..self }
    }

    /// Returns the name. What is no UTF-8 is replaced.
    #[must_use]
    pub fn name(&self) -> String {
        text_of(&self.name)
    }

    /// Returns what the command is about. What is no UTF-8 is replaced.
    #[must_use]
    pub fn argument(&self) -> String {
        text_of(&self.argument)
    }

    fn words(&self) -> impl Iterator<Item = (usize, u64)> + use<> {
        let texts = (header::GIVER..).zip(self.name.into_iter().chain(self.argument));
        [(header::DATE_NS, self.date_ns), (header::GIVEN_NS, self.at_ns)].into_iter().chain(texts)
    }

    fn read(word: impl Fn(usize) -> u64) -> Self {
        let name = std::array::from_fn(|at| word(header::GIVER + at));
        let argument = std::array::from_fn(|at| word(header::ARGUMENT + at));
        Self { date_ns: word(header::DATE_NS), at_ns: word(header::GIVEN_NS), name, argument }
    }
}

/// Returns a text in words, cut between characters if it is too long.
fn words_of<const WORDS: usize>(text: &str) -> [u64; WORDS] {
    let end = (0..=WORDS * 8).rev().find(|&at| text.is_char_boundary(at));
    let bytes = &text.as_bytes()[..end.unwrap_or(0)];
    let byte = |at: usize| u64::from(bytes.get(at).copied().unwrap_or(0)) << (at % 8 * 8);
    std::array::from_fn(|at| (at * 8..at * 8 + 8).map(byte).sum())
}

/// Returns the text in words.
#[must_use]
pub fn text_of(words: &[u64]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// A command as it is in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
    /// The number that tells it from others.
    pub number: u32,
    /// The number of its verb.
    pub verb_number: u32,
    /// When it ends, in ns of `CLOCK_MONOTONIC`.
    pub until_ns: u64,
    /// Its origin.
    pub given: Given,
}

impl Command {
    /// Returns its verb; `None` if it is not known here.
    #[must_use]
    pub fn verb(&self) -> Option<Verb> {
        Verb::of_number(self.verb_number)
    }
}

/// The [`check`] of what is being written.
const NO_CHECK: u64 = 0;

/// Returns the word by which a thread knows that a command is whole.
#[must_use]
pub fn check(command: u64, until_ns: u64, given: &Given) -> u64 {
    // An odd constant mixes all bits upwards; the rotation brings them down again.
    let mix = |before: u64, word: u64| {
        (before.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ word)
            .rotate_left(29)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    given.words().fold(mix(command, until_ns), |before, (_, word)| mix(before, word))
}

/// Writes a command into a header, and has its thread look at it. Returns its number. One client at
/// a time.
pub fn command(header: &[AtomicU64], verb: Verb, until_ns: u64, given: &Given) -> u32 {
    let number = low(header[header::COMMAND].load(Relaxed)).checked_add(1).unwrap_or(1);
    for (at, word) in stores(pack(number, verb.number()), until_ns, given) {
        // No word of a command is there before the one that the check of the last is gone.
        fence(Release);
        header[at].store(word, Release);
    }
    call(header);
    number
}

/// Returns the words of a command in the order in which a client writes them. Wherever it is
/// killed, the number of the last command is there, so that the next one is another.
fn stores(
    command: u64,
    until_ns: u64,
    given: &Given,
) -> impl Iterator<Item = (usize, u64)> + use<> {
    let last = [(header::CHECK, check(command, until_ns, given)), (header::COMMAND, command)];
    let first = [(header::CHECK, NO_CHECK), (header::UNTIL_NS, until_ns)];
    first.into_iter().chain(given.words()).chain(last)
}

/// Has the thread of a header look at its command: again, if it has not answered.
pub fn call(header: &[AtomicU64]) {
    let bit = u64::from(execution::WATCHED) << 32;
    header[header::EXECUTION].fetch_or(bit, AcqRel);
}

/// Returns the command in a header; `None` if there is none, or it is not whole.
#[must_use]
pub fn commanded(word: impl Fn(usize) -> u64) -> Option<Command> {
    let (command, until_ns) = (word(header::COMMAND), word(header::UNTIL_NS));
    let given = Given::read(&word);
    if command == 0 || word(header::CHECK) != check(command, until_ns, &given) {
        return None;
    }
    Some(Command { number: low(command), verb_number: high(command), until_ns, given })
}

/// Writes the answer to the command of this number.
pub fn answer(header: &[AtomicU64], number: u32, answer: Answer, now_ns: u64) {
    header[header::ANSWERED_NS].store(now_ns, Relaxed);
    header[header::ANSWER].store(pack(number, answer.number()), Release);
}

/// Returns the answer to the command of this number; `None` if there is none yet.
#[must_use]
pub fn answered(header: &[AtomicU64], number: u32) -> Option<Answer> {
    let word = header[header::ANSWER].load(Acquire);
    let known = Answer::ALL.into_iter().find(|answer| answer.number() == high(word));
    (low(word) == number).then(|| known.unwrap_or(Answer::Unknown))
}

#[cfg(test)]
mod tests;
