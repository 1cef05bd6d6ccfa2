//! The communication of all ranks of a job, whichever program they run.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Root, Source};

/// The number of rounds: few, as MPICH's ranks spin while they wait.
const ROUNDS: i32 = 5;

/// Runs reductions, a broadcast, a ring of messages and a communicator on the world, from the first
/// moment to the last. Returns the same line on each rank if all is right.
pub(crate) fn with_all(world: &SimpleCommunicator) -> String {
    let (rank, size) = (world.rank(), world.size());
    let mut results = Vec::new();
    for round in 0..ROUNDS {
        let (mut sum, mut maximum) = (0_i64, 0_i64);
        world.all_reduce_into(&i64::from(rank + round), &mut sum, SystemOperation::sum());
        world.all_reduce_into(&i64::from(rank * round), &mut maximum, SystemOperation::max());
        let mut word = if rank == 0 { 1000 + round } else { -1 };
        world.process_at_rank(0).broadcast_into(&mut word);
        let twin = world.duplicate();
        let from = mpi::point_to_point::send_receive::<i32, _, _, _>(
            &rank,
            &twin.process_at_rank((rank + 1) % size),
            &twin.process_at_rank((rank + size - 1) % size),
        );
        let neighbour_is_right = from.0 == (rank + size - 1) % size;
        results.push((sum, maximum, word, neighbour_is_right));
    }
    // Received from any rank, with any tag: a message of other origin would be taken for one of
    // these.
    if rank == 0 {
        let mut got: Vec<i32> = (1..size).map(|_| world.any_process().receive::<i32>().0).collect();
        got.sort_unstable();
        assert_eq!(got, (1..size).collect::<Vec<_>>());
    } else {
        world.process_at_rank(0).send(&rank);
    }
    let expected = (0..ROUNDS).map(|round| {
        let sum = (0..size).map(|rank| i64::from(rank + round)).sum::<i64>();
        (sum, i64::from((size - 1) * round), 1000 + round, true)
    });
    assert_eq!(results, expected.collect::<Vec<_>>());
    format!("{size} ranks are right")
}
