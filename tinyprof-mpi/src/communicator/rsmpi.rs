//! The communicator of a real MPI, through rsmpi.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use mpi::collective::{CommunicatorCollectives, Root, SystemOperation};
use mpi::datatype::PartitionMut;
use mpi::point_to_point::{Destination, Source};
use mpi::topology::{Color, Communicator as _, SimpleCommunicator};
use mpi::{Count, Rank};

use super::Communicator;

/// A communicator of ours alone: duplicated, so that no message of the program can match one of these.
pub(crate) struct Rsmpi {
    communicator: SimpleCommunicator,
}

impl Rsmpi {
    /// Duplicates `program`'s communicator. Collective over it.
    pub(crate) fn duplicate_of(program: &impl mpi::topology::Communicator) -> Self {
        Self { communicator: program.duplicate() }
    }

    fn root(&self) -> mpi::topology::Process<'_> {
        self.communicator.process_at_rank(0)
    }
}

/// MPI counts in `int`s; the phases send larger messages in chunks.
fn count(length: usize) -> Count {
    Count::try_from(length).expect("messages are cut into chunks below 2^31 bytes")
}

fn rank(number: u32) -> Rank {
    Rank::try_from(number).expect("a rank came from MPI, so it fits")
}

fn unsigned(number: Rank) -> u32 {
    u32::try_from(number).expect("MPI gives ranks and sizes that are not negative")
}

/// An empty slice of a vector dangles at address 1, which is what Open MPI calls `MPI_IN_PLACE`: it refuses it, or
/// worse, believes it. This empty slice has an address of its own.
fn placed(bytes: &[u8]) -> &[u8] {
    static SOMEWHERE: [u8; 1] = [0];
    if bytes.is_empty() { &SOMEWHERE[..0] } else { bytes }
}

impl Communicator for Rsmpi {
    fn rank(&self) -> u32 {
        unsigned(self.communicator.rank())
    }

    fn size(&self) -> u32 {
        unsigned(self.communicator.size())
    }

    async fn all_max(&self, words: &[u64]) -> Vec<u64> {
        let mut result = vec![0_u64; words.len()];
        self.communicator.all_reduce_into(words, &mut result, SystemOperation::max());
        result
    }

    async fn broadcast(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        let mut length = bytes.len() as u64;
        self.root().broadcast_into(&mut length);
        bytes.resize(usize::try_from(length).expect("rank 0 holds this message in memory"), 0);
        if !bytes.is_empty() {
            self.root().broadcast_into(&mut bytes[..]);
        }
        bytes
    }

    async fn gather(&self, bytes: &[u8]) -> Vec<u8> {
        if self.rank() != 0 {
            self.root().gather_into(placed(bytes));
            return Vec::new();
        }
        let mut all = vec![0; bytes.len() * self.size() as usize];
        self.root().gather_into_root(placed(bytes), &mut all[..]);
        all
    }

    async fn gather_varying(&self, bytes: &[u8], lengths: &[usize]) -> Vec<u8> {
        if self.rank() != 0 {
            self.root().gather_varcount_into(placed(bytes));
            return Vec::new();
        }
        let total: usize = lengths.iter().sum();
        // At least one byte: the buffer, too, must not dangle.
        let mut all = vec![0; total.max(1)];
        let counts: Vec<Count> = lengths.iter().map(|&length| count(length)).collect();
        let displacements: Vec<Count> = lengths
            .iter()
            .scan(0, |end, &length| {
                let start = count(*end);
                *end += length;
                Some(start)
            })
            .collect();
        let mut partition = PartitionMut::new(&mut all[..], counts, displacements);
        self.root().gather_varcount_into_root(placed(bytes), &mut partition);
        all.truncate(total);
        all
    }

    async fn send(&self, to: u32, bytes: &[u8]) {
        self.communicator.process_at_rank(rank(to)).send(placed(bytes));
    }

    async fn receive(&self, from: u32) -> Vec<u8> {
        self.communicator.process_at_rank(rank(from)).receive_vec().0
    }

    async fn split(&self, colour: u32) -> Self {
        let own = self.communicator.split_by_color(Color::with_value(rank(colour)));
        Self { communicator: own.expect("a rank that gives a colour is in the group of that colour") }
    }
}

/// Runs the phases on MPI, whose operations are done when they return.
///
/// # Panics
/// If the future waits for something else than a [`Rsmpi`].
pub(crate) fn run_to_end<T>(phases: impl Future<Output = T>) -> T {
    match pin!(phases).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("MPI's futures are ready at once"),
    }
}
