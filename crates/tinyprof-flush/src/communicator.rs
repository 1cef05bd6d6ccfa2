//! The operations that the phases need of a communicator: few enough to be implemented by MPI, or
//! by virtual ranks in one thread.
//!
//! The operations are async: those of MPI are started and then tested, with a deadline; virtual
//! ranks wait for each other as tasks of one thread.

pub(crate) mod by_hand;
mod interruption;
pub(crate) mod virtual_ranks;

use std::fmt;

pub use interruption::Interruption;

/// A group of ranks that exchange bytes. Every rank must call the same collectives in the same
/// order.
///
/// Receivers know the lengths of all messages: `phases::chunks` sends unknown lengths first, and
/// splits messages that are too long. After an operation that did not complete, no other may be
/// called.
#[expect(async_fn_in_trait, reason = "ranks are tasks of one thread: no future has to be `Send`")]
pub trait Communicator: Sized {
    /// Returns the rank of the caller, 0-based.
    fn rank(&self) -> u32;

    /// Returns the number of ranks, at least 1.
    fn size(&self) -> u32;

    /// Returns the maxima and the sums over all ranks, word by word; sums wrap. All ranks pass the
    /// same number of words. Collective.
    async fn all_reduce(
        &self,
        maxima: &[u64],
        sums: &[u64],
    ) -> Result<(Vec<u64>, Vec<u64>), Interrupted>;

    /// Returns the maximum over all ranks, word by word. All ranks pass the same number of words.
    /// Collective.
    async fn all_max(&self, words: &[u64]) -> Result<Vec<u64>, Interrupted> {
        Ok(self.all_reduce(words, &[]).await?.0)
    }

    /// Returns the bytes of rank 0 on every rank. The other ranks pass as many bytes, of any value.
    /// Collective.
    async fn broadcast(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Interrupted>;

    /// Returns the bytes that every rank passes, rank by rank, on rank 0, and nothing elsewhere.
    /// Rank 0 knows all lengths, the others pass none. A rank without bytes sends no message.
    /// Collective.
    async fn gather(&self, bytes: Vec<u8>, lengths: &[usize]) -> Result<Vec<Vec<u8>>, Interrupted>;

    /// Sends to one rank, which must receive.
    async fn send(&self, to: u32, bytes: Vec<u8>) -> Result<(), Interrupted>;

    /// Receives `length` bytes from one rank. Messages between two ranks arrive in order.
    async fn receive(&self, from: u32, length: usize) -> Result<Vec<u8>, Interrupted>;

    /// Returns an empty message with room for `bytes` bytes. If there is no memory for them, the
    /// rank leaves, as after any other operation that did not complete.
    ///
    /// # Errors
    /// When there is no memory for them.
    fn room(&self, bytes: usize) -> Result<Vec<u8>, Interrupted> {
        Ok(Vec::with_capacity(bytes))
    }

    /// Returns the communicator of `size` consecutive ranks from `first` on, one of which is the
    /// caller. Every rank makes it by itself: it costs no message, whereas `MPI_Comm_split` costs
    /// one with every rank. It can be used to send, to receive and to gather.
    fn subgroup(&self, first: u32, size: u32) -> Self;
}

/// An operation that did not complete, because other ranks did not come in time or MPI failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupted {
    /// The reason, with the missing ranks as far as this rank knows them.
    pub cause: Interruption,
    /// True if this rank is to inform the user: one of those that are left, as far as they know of
    /// each other.
    pub is_reporter: bool,
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}
