//! A program without a profiler, as a partner of programs with one: its ranks call collectives on
//! the world right after MPI is initialised, and others just before it ends. Argument: how it ends,
//! as for `hook`. See `mpmd`.
#![expect(clippy::print_stdout, reason = "the tests read what the ranks print")]

use std::process::ExitCode;

#[path = "mpmd/exchange.rs"]
mod exchange;

fn main() -> ExitCode {
    let universe = mpi::initialize().expect("MPI is not initialised yet");
    println!("{}", exchange::with_all(&universe.world()));
    ExitCode::from(7)
}
