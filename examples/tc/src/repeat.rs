//! Repetition of the work, equally often on all ranks, and the time it took.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::arguments::Arguments;
use crate::ranks::Ranks;

/// Repeats the work as the arguments say and returns the last result. Collective.
#[expect(clippy::print_stdout, reason = "the time was asked for")]
pub(crate) fn repeat<T>(
    arguments: &Arguments,
    world: &SimpleCommunicator,
    mut work: impl FnMut() -> T,
) -> T {
    if arguments.time {
        world.barrier();
    }
    let start_s = mpi::time();
    let mut times = 0;
    loop {
        let done = work();
        times += 1;
        let enough = match arguments.seconds {
            Some(seconds) => on_rank_0(world, mpi::time() - start_s >= f64::from(seconds)),
            None => times == arguments.repeat,
        };
        if enough {
            if arguments.time {
                let slowest_s = slowest_s(world, mpi::time() - start_s);
                if Ranks::rank(world) == 0 {
                    println!("tc: {times} closures took {slowest_s:.6} s");
                }
            }
            return done;
        }
    }
}

/// Returns the decision of rank 0: clocks differ, and either all ranks continue or none.
/// Collective.
fn on_rank_0(world: &SimpleCommunicator, says: bool) -> bool {
    let mut yes = [u64::from(says && Ranks::rank(world) == 0)];
    world.sum(&mut yes);
    yes != [0]
}

fn slowest_s(world: &SimpleCommunicator, own_s: f64) -> f64 {
    let mut slowest_s = 0.0;
    world.all_reduce_into(&own_s, &mut slowest_s, SystemOperation::max());
    slowest_s
}
