//! How ranks that share no memory combine when they entered a collective operation.

use std::ffi::{c_int, c_void};

use tinyprof_messages::clock::Clock;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::Offset;
use tinyprof_messages::waiting::Collective;

use super::common_clock::Span;
use crate::abi::Handle;
use crate::library::Mpi;

/// The words that are combined: a meeting, and how much time was left when the first rank came; of
/// an operation from a root, whether it tells of itself.
const COMBINED: usize = Meeting::WORDS + 1;

type Words = [u64; COMBINED];

/// The result of an exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchanged {
    words: Words,
    size: u32,
}

impl Exchanged {
    /// Returns the last entry of all.
    pub(super) fn meeting(&self) -> Meeting {
        let [words @ .., _] = self.words;
        Meeting::from_words(words.map(u64::cast_signed), self.size)
    }

    /// Returns when the last rank entered, in ns.
    pub(super) fn last_ns(&self) -> u64 {
        u64::try_from(self.meeting().last_ns).unwrap_or(0)
    }

    /// Returns the last rank.
    pub(super) fn last_rank(&self) -> u32 {
        self.meeting().last_rank
    }

    /// Returns whether the root of an operation from it tells of itself.
    pub(super) const fn has_told(&self) -> bool {
        let [.., told] = self.words;
        told == 1
    }

    /// Returns for how long the first rank has waited for the last, in ns.
    pub(super) fn longest_ns(&self) -> u64 {
        let [.., left] = self.words;
        self.last_ns().saturating_sub(i64::MAX.cast_unsigned().saturating_sub(left))
    }
}

/// Returns what a rank without a clock says: nobody waits for it.
pub(super) const fn nothing() -> Words {
    [0; COMBINED]
}

/// Returns when this rank entered the operation.
pub(super) fn words(clock: &Clock, span: Span, rank: u32, size: u32) -> Words {
    let meeting = clock.meeting(span.entered_ns, Offset::default(), rank);
    let mut words = nothing();
    // None is negative: the common clock begins with the host.
    let all = meeting.to_words(size).map(|word| word.max(0).cast_unsigned());
    words[..Meeting::WORDS].copy_from_slice(&all);
    words[Meeting::WORDS] = i64::MAX.cast_unsigned().saturating_sub(span.entered_ns);
    words
}

/// Returns the same for the root of an operation from it, which tells of itself or not.
pub(super) const fn words_of_root(mut words: Words, tells: bool) -> Words {
    words[Meeting::WORDS] = tells as u64;
    words
}

/// Combines the words of all ranks that one waits for; `None` if MPI returns an error.
pub(super) fn exchange(
    mpi: &Mpi,
    twin: Handle,
    kind: Collective,
    root: c_int,
    own: Words,
    size: u32,
) -> Option<Exchanged> {
    let mut all = own;
    let from = own.as_ptr().cast::<c_void>();
    let to = all.as_mut_ptr().cast::<c_void>();
    let (word, max) = (mpi.abi.word, mpi.abi.max);
    let code = match kind {
        Collective::Barrier | Collective::AllToAll => {
            // SAFETY: the twin is live, all its ranks have called the program's operation and call
            // this one now, and both arrays hold as many words.
            unsafe { mpi.allreduce(from, to, WORDS, word, max, twin) }
        }
        Collective::FromRoot => {
            // SAFETY: the twin is live, all its ranks have called the program's operation and call
            // this one now, and both arrays hold as many words.
            unsafe { mpi.bcast(to, WORDS, word, root, twin) }
        }
        Collective::ToRoot => {
            // SAFETY: the twin is live, all its ranks have called the program's operation and call
            // this one now, and both arrays hold as many words.
            unsafe { mpi.reduce(from, to, WORDS, word, max, root, twin) }
        }
        Collective::Scan => {
            // SAFETY: the twin is live, all its ranks have called the program's operation and call
            // this one now, and both arrays hold as many words.
            unsafe { mpi.scan(from, to, WORDS, word, max, twin) }
        }
    };
    (code == 0).then_some(Exchanged { words: all, size })
}

/// The number of words, as MPI counts.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "6")]
const WORDS: c_int = COMBINED as c_int;
