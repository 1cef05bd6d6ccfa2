//! How ranks that share no memory combine when they entered a collective operation.

use std::ffi::{c_int, c_void};

use tinyprof_messages::clock::Clock;
use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::time::Offset;
use tinyprof_messages::waiting::Collective;

use super::common_clock::Span;
use crate::abi::Handle;
use crate::library::Mpi;

/// The words of a meeting.
type Words = [u64; Meeting::WORDS];

/// Returns when this rank entered the operation.
pub(super) fn words(clock: &Clock, span: Span, rank: u32, size: u32) -> Words {
    let meeting = clock.meeting(span.entered_ns, Offset::default(), rank);
    // None is negative: the common clock begins with the host.
    meeting.to_words(size).map(|word| word.max(0).cast_unsigned())
}

/// Combines the words of all ranks that one waits for; `None` if MPI returns an error.
pub(super) fn exchange(
    mpi: &Mpi,
    twin: Handle,
    kind: Collective,
    root: c_int,
    own: Words,
) -> Option<Words> {
    let mut all = own;
    let from = own.as_ptr().cast::<c_void>();
    let to = all.as_mut_ptr().cast::<c_void>();
    let (word, max) = (mpi.abi.word, mpi.abi.max);
    let code = match kind {
        Collective::Barrier | Collective::AllToAll => {
            // SAFETY: the twin is live, all its ranks have called the program's operation and call
            // this one now, and both arrays hold four words.
            unsafe { mpi.allreduce(from, to, WORDS, word, max, twin) }
        }
        Collective::FromRoot => {
            // SAFETY: the twin is live, all its ranks have called the program's operation and call
            // this one now, and both arrays hold four words.
            unsafe { mpi.bcast(to, WORDS, word, root, twin) }
        }
        Collective::ToRoot => {
            // SAFETY: the twin is live, all its ranks have called the program's operation and call
            // this one now, and both arrays hold four words.
            unsafe { mpi.reduce(from, to, WORDS, word, max, root, twin) }
        }
        Collective::Scan => {
            // SAFETY: the twin is live, all its ranks have called the program's operation and call
            // this one now, and both arrays hold four words.
            unsafe { mpi.scan(from, to, WORDS, word, max, twin) }
        }
    };
    (code == 0).then_some(all)
}

/// The number of words, as MPI counts.
#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "4")]
const WORDS: c_int = Meeting::WORDS as c_int;
