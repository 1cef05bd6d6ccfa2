//! The single collective that the transform needs, as a trait: MPI for the program, memory for the
//! tests.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use rustfft::num_complex::Complex64;

/// Ranks that can exchange blocks.
pub(crate) trait Exchange {
    /// Sends block q of `send` to rank q, and receives block q of `receive` from rank q. Both
    /// buffers have one block of equal length for each rank. Collective.
    fn all_to_all(&self, send: &[Complex64], receive: &mut [Complex64]);
}

impl Exchange for SimpleCommunicator {
    fn all_to_all(&self, send: &[Complex64], receive: &mut [Complex64]) {
        self.all_to_all_into(send, receive);
    }
}

/// Ranks as threads of one process: the algorithm under test is the one that runs on MPI.
#[cfg(test)]
pub(crate) mod memory {
    use std::sync::{Barrier, Mutex};

    use super::{Complex64, Exchange};

    /// The shared state of the ranks: the send buffer of each, and a barrier before and after it is
    /// read.
    struct Board {
        sent: Vec<Mutex<Vec<Complex64>>>,
        barrier: Barrier,
    }

    /// One rank of the process.
    pub(crate) struct Rank<'a> {
        board: &'a Board,
        rank: usize,
    }

    impl Exchange for Rank<'_> {
        fn all_to_all(&self, send: &[Complex64], receive: &mut [Complex64]) {
            let board = self.board;
            *board.sent[self.rank].lock().unwrap() = send.to_vec();
            board.barrier.wait();
            let length = receive.len() / board.sent.len();
            for (from, block) in board.sent.iter().zip(receive.chunks_exact_mut(length)) {
                block.copy_from_slice(&from.lock().unwrap()[self.rank * length..][..length]);
            }
            board.barrier.wait();
        }
    }

    /// Distributes `data` over `ranks` ranks, runs `work` on each share, and joins the shares
    /// again.
    pub(crate) fn on_ranks<W>(ranks: usize, data: &mut [Complex64], work: W)
    where
        W: Fn(usize, &Rank<'_>, &mut [Complex64]) + Sync,
    {
        let sent = (0..ranks).map(|_| Mutex::default()).collect();
        let (board, work) = (&Board { sent, barrier: Barrier::new(ranks) }, &work);
        let share = data.len() / ranks;
        std::thread::scope(|scope| {
            for (rank, data) in data.chunks_exact_mut(share).enumerate() {
                scope.spawn(move || work(rank, &Rank { board, rank }, data));
            }
        });
    }
}
