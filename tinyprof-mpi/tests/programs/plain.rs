//! A program that knows nothing of a profiler, as a partner of those that do: its ranks call
//! collectives on the world as soon as MPI is there, and others just before it ends. Argument: how
//! it ends, as `hook` does. See `mpmd`.
#![expect(clippy::print_stdout, reason = "the tests read what the ranks print")]

use std::process::ExitCode;

#[path = "mpmd/exchange.rs"]
mod exchange;

fn main() -> ExitCode {
    let universe = mpi::initialize().expect("MPI is not initialised yet");
    println!("{}", exchange::with_all(&universe.world()));
    ExitCode::from(7)
}
