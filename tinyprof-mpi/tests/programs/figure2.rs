//! The example of the paper's Figure 2, in Rust: main, compute as a loop, update on odd ranks only,
//! exchange with comm and write. Argument: the file that the ranks write to.

use std::fs::File;
use std::os::unix::fs::FileExt;

use mpi::traits::{Communicator, CommunicatorCollectives};
use tinyprof::{profile, profile_loop, profile_scope};
use tinyprof_mpi as _;

fn compute(rank: i32) -> f64 {
    let mut sum = 0.0;
    profile_loop!(
        "compute",
        mode = each,
        for i in 0..3 {
            sum += (0..1000).map(|k| f64::from(k * (i + 1)).sqrt()).sum::<f64>();
        }
    );
    if rank % 2 == 1 {
        profile_scope!("update");
        sum *= 0.5;
    }
    sum
}

#[profile]
fn exchange(world: &impl Communicator, file: &File, value: f64) {
    for _ in 0..3_u64 {
        let mut total = 0.0_f64;
        {
            profile_scope!("comm");
            world.all_reduce_into(&value, &mut total, mpi::collective::SystemOperation::sum());
        }
        {
            profile_scope!("write");
            let offset = u64::from(world.rank().unsigned_abs()) * 8;
            file.write_at(&total.to_le_bytes(), offset)
                .expect("the test gives a file that can be written");
        }
    }
}

#[profile(name = "main")]
fn execution(world: &impl Communicator, file: &File) {
    let value = compute(world.rank());
    exchange(world, file, value);
}

fn main() {
    let universe = mpi::initialize().expect("MPI is not initialised yet");
    let world = universe.world();
    let path = std::env::args().nth(1).expect("the first argument is a file");
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .expect("it can be opened");
    for _ in 0..2 {
        execution(&world, &file);
    }
}
