//! What the phases need of a communicator: little enough to be MPI, or virtual ranks in one thread.
//!
//! The operations are async: MPI's are done when they return, so its futures are ready at once; virtual ranks
//! really wait for each other, as tasks of one thread.

pub(crate) mod by_hand;
#[cfg(feature = "rsmpi")]
mod rsmpi;
pub(crate) mod virtual_ranks;

#[cfg(feature = "rsmpi")]
pub(crate) use rsmpi::{Rsmpi, run_to_end};

/// A group of ranks that exchange bytes. Every rank must call the same collectives in the same order.
pub(crate) trait Communicator: Sized {
    /// The rank of the caller, 0-based.
    fn rank(&self) -> u32;

    /// The number of ranks; at least 1.
    fn size(&self) -> u32;

    /// The maximum over all ranks, word by word. All ranks pass the same number of words. Collective.
    async fn all_max(&self, words: &[u64]) -> Vec<u64>;

    /// The bytes of rank 0, on every rank; what the others pass does not matter. Collective.
    async fn broadcast(&self, bytes: Vec<u8>) -> Vec<u8>;

    /// All ranks' bytes one after the other on rank 0, nothing elsewhere. Equal lengths. Collective.
    async fn gather(&self, bytes: &[u8]) -> Vec<u8>;

    /// The same for ranks whose lengths differ; rank 0 knows them, the others pass nothing. Collective.
    async fn gather_varying(&self, bytes: &[u8], lengths: &[usize]) -> Vec<u8>;

    /// Sends to one rank, which must receive.
    async fn send(&self, to: u32, bytes: &[u8]);

    /// What one rank sends: messages between two ranks arrive in their order.
    async fn receive(&self, from: u32) -> Vec<u8>;

    /// The ranks that pass the same colour, in the order of their ranks here. Collective.
    async fn split(&self, colour: u32) -> Self;
}
