//! The program of such jobs that has regions and the profiler. See `plain` for the other one.
#![expect(clippy::print_stdout, reason = "the tests read what the ranks print")]

use std::process::ExitCode;

use mpi::traits::Communicator;
use tinyprof::profile_scope;
use tinyprof_mpi as _;

#[path = "mpmd/exchange.rs"]
mod exchange;

fn main() -> ExitCode {
    let universe = mpi::initialize().expect("MPI is not initialised yet");
    let world = universe.world();
    for _ in 0..=world.rank() {
        profile_scope!("work");
    }
    println!("{}", exchange::with_all(&world));
    ExitCode::from(7)
}
