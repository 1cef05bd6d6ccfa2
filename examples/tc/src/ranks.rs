//! The operations that the algorithm needs of the ranks, as a trait: MPI for the program, memory
//! for the tests.

use mpi::Count;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// Ranks that exchange messages of any length and add up numbers. All methods but `rank` and `size`
/// are collective.
pub(crate) trait Ranks {
    fn rank(&self) -> usize;
    fn size(&self) -> usize;
    /// Sends the first `counts[0]` words to rank 0, the next `counts[1]` to rank 1, and so on.
    /// Returns the received words, ordered by sending rank.
    fn all_to_all(&self, words: &[u32], counts: &[usize]) -> Vec<u32>;
    /// Replaces each number by its sum over all ranks.
    fn sum(&self, numbers: &mut [u64]);
}

/// The largest number of bytes that a rank sends or receives in one collective: MPI counts words,
/// over all other ranks, in an `int`.
const ROUND_BYTES_MAX: usize = 1 << 30;

impl Ranks for SimpleCommunicator {
    fn rank(&self) -> usize {
        plain(Communicator::rank(self))
    }

    fn size(&self) -> usize {
        plain(Communicator::size(self))
    }

    fn all_to_all(&self, words: &[u32], counts: &[usize]) -> Vec<u32> {
        in_rounds(self, words, counts, ROUND_BYTES_MAX / size_of::<u32>() / counts.len())
    }

    fn sum(&self, numbers: &mut [u64]) {
        let own = numbers.to_vec();
        self.all_reduce_into(&own[..], numbers, SystemOperation::sum());
    }
}

/// Exchanges words in rounds in which no rank sends more than `most` words to another.
fn in_rounds(world: &SimpleCommunicator, words: &[u32], counts: &[usize], most: usize) -> Vec<u32> {
    let ours: Vec<u64> = counts.iter().map(|&count| count as u64).collect();
    let mut theirs = vec![0_u64; counts.len()];
    world.all_to_all_into(&ours[..], &mut theirs[..]);
    let coming: Vec<usize> =
        theirs.iter().map(|&count| usize::try_from(count).expect("it fits in memory")).collect();
    let (starts, places) = (starts(counts), starts(&coming));
    let longest = counts.iter().chain(&coming).copied().max().unwrap_or(0).div_ceil(most) as u64;
    let mut rounds = 0;
    world.all_reduce_into(&longest, &mut rounds, SystemOperation::max());
    let mut received = vec![0; coming.iter().sum()];
    for round in 0..usize::try_from(rounds).expect("a round has its words in memory") {
        let part = |counts: &[usize], starts: &[usize]| -> (Vec<Count>, Vec<usize>) {
            let length = |count: &usize| narrow(count.saturating_sub(round * most).min(most));
            let begin = |start: &usize| start + round * most;
            (counts.iter().map(length).collect(), starts.iter().map(begin).collect())
        };
        let (send_counts, send_starts) = part(counts, &starts);
        let (receive_counts, receive_starts) = part(&coming, &places);
        // Displacements are also `int`, so each round gets a contiguous piece of its own.
        let outgoing = gathered(words, &send_counts, &send_starts);
        let mut incoming = vec![0_u32; receive_counts.iter().map(|&count| plain(count)).sum()];
        let (send_at, receive_at) = (displacements(&send_counts), displacements(&receive_counts));
        world.all_to_all_varcount_into(
            &Partition::new(&outgoing[..], &send_counts[..], &send_at[..]),
            &mut PartitionMut::new(&mut incoming[..], &receive_counts[..], &receive_at[..]),
        );
        let mut rest = &incoming[..];
        for (&count, &at) in receive_counts.iter().zip(&receive_starts) {
            let (here, after) = rest.split_at(plain(count));
            received[at..at + here.len()].copy_from_slice(here);
            rest = after;
        }
    }
    received
}

fn gathered(words: &[u32], counts: &[Count], starts: &[usize]) -> Vec<u32> {
    let pieces = counts.iter().zip(starts).filter(|(count, _)| **count > 0);
    pieces.flat_map(|(&count, &start)| &words[start..start + plain(count)]).copied().collect()
}

fn starts(counts: &[usize]) -> Vec<usize> {
    counts.iter().scan(0, |next, count| Some(std::mem::replace(next, *next + count))).collect()
}

fn displacements(counts: &[Count]) -> Vec<Count> {
    counts.iter().scan(0, |next, count| Some(std::mem::replace(next, *next + count))).collect()
}

fn plain(count: Count) -> usize {
    usize::try_from(count).expect("MPI counts from zero")
}

fn narrow(count: usize) -> Count {
    Count::try_from(count).expect("a round is short enough for an int")
}

/// Ranks as threads of one process: the algorithm under test is the one that runs on MPI.
#[cfg(test)]
pub(crate) mod memory {
    use std::sync::{Barrier, Mutex};

    use super::Ranks;

    /// The shared state of the ranks: the messages of each rank, the numbers, and a barrier around
    /// each use.
    struct Board {
        sent: Vec<Mutex<Vec<Vec<u32>>>>,
        numbers: Vec<Mutex<Vec<u64>>>,
        barrier: Barrier,
    }

    /// One rank of the process.
    pub(crate) struct Rank<'a> {
        board: &'a Board,
        rank: usize,
    }

    impl Ranks for Rank<'_> {
        fn rank(&self) -> usize {
            self.rank
        }

        fn size(&self) -> usize {
            self.board.sent.len()
        }

        fn all_to_all(&self, words: &[u32], counts: &[usize]) -> Vec<u32> {
            let mut rest = words;
            let mut messages = Vec::new();
            for &count in counts {
                let (message, after) = rest.split_at(count);
                messages.push(message.to_vec());
                rest = after;
            }
            assert!(rest.is_empty() && messages.len() == self.size());
            *self.board.sent[self.rank].lock().unwrap() = messages;
            self.board.barrier.wait();
            let received = self
                .board
                .sent
                .iter()
                .flat_map(|sent| sent.lock().unwrap()[self.rank].clone())
                .collect();
            self.board.barrier.wait();
            received
        }

        fn sum(&self, numbers: &mut [u64]) {
            *self.board.numbers[self.rank].lock().unwrap() = numbers.to_vec();
            self.board.barrier.wait();
            numbers.fill(0);
            for of_rank in &self.board.numbers {
                numbers
                    .iter_mut()
                    .zip(of_rank.lock().unwrap().iter())
                    .for_each(|(sum, number)| *sum += number);
            }
            self.board.barrier.wait();
        }
    }

    /// Returns the results of `work` on `ranks` ranks.
    pub(crate) fn on_ranks<T: Send>(ranks: usize, work: impl Fn(&Rank<'_>) -> T + Sync) -> Vec<T> {
        let board = &Board {
            sent: (0..ranks).map(|_| Mutex::default()).collect(),
            numbers: (0..ranks).map(|_| Mutex::default()).collect(),
            barrier: Barrier::new(ranks),
        };
        let work = &work;
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..ranks).map(|rank| scope.spawn(move || work(&Rank { board, rank }))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }
}
