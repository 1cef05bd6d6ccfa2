//! A program outside of this workspace. All of `main` is profiled, and `main` owns MPI, so that MPI
//! is finalised inside of a region.

use mpi::collective::SystemOperation;
use mpi::traits::*;
use tinyprof::profile;
use tinyprof_mpi as _;

#[profile]
fn sum(world: &impl Communicator) -> i32 {
    let mut sum = 0;
    world.all_reduce_into(&world.rank(), &mut sum, SystemOperation::sum());
    sum
}

#[profile]
fn main() {
    let universe = mpi::initialize().unwrap();
    let world = universe.world();
    for _ in 0..3 {
        println!("the sum is {}", sum(&world));
    }
}
