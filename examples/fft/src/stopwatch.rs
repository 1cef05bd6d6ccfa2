//! A stopwatch for the slowest rank, by MPI's clock.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// A stopwatch that starts when all ranks have arrived.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    start_s: f64,
}

impl Stopwatch {
    /// Starts the stopwatch. Collective.
    pub(crate) fn start(world: &SimpleCommunicator) -> Self {
        world.barrier();
        Self { start_s: mpi::time() }
    }

    /// Prints the elapsed time, on rank 0. Collective.
    #[expect(clippy::print_stdout, reason = "it was asked for")]
    pub(crate) fn stop(self, world: &SimpleCommunicator, what: &str) {
        let own_s = mpi::time() - self.start_s;
        let mut slowest_s = 0.0;
        world.all_reduce_into(&own_s, &mut slowest_s, SystemOperation::max());
        if world.rank() == 0 {
            println!("{what} took {slowest_s:.6} s");
        }
    }
}
