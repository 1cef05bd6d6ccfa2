//! Integers sorted by buckets over MPI, profiled by TinyProf: ranks agree on who gets which range
//! of keys, all send to all, and each sorts what it has then.

mod arguments;
mod buckets;
mod keys;
mod verify;

use std::process::ExitCode;

use clap::Parser;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;
use tinyprof_mpi as _; // The only line needed: this crate intercepts MPI_Init and MPI_Finalize.

use crate::arguments::Arguments;
use crate::verify::Order;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says its results")]
fn main() -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("sort: MPI is initialised already");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    let is_reporter = world.rank() == 0;
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // If the terminal is gone, nobody can read the error.
            drop(is_reporter.then(|| error.print()));
            return ExitCode::from(u8::from(error.use_stderr()) * 2);
        }
    };
    let order = solve(arguments, &world);
    if is_reporter {
        let (ranks, keys, median) = (world.size(), arguments.keys, order.median);
        let order = if order.is_right { "in order" } else { "NOT in order" };
        println!("sort: {ranks} ranks, {keys} keys {order}, median {median}");
    }
    if order.is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Sorts, and looks at the last result. Collective.
#[profile]
fn solve(arguments: Arguments, world: &SimpleCommunicator) -> Order {
    let (rank, ranks) = (world.rank().cast_unsigned(), world.size().cast_unsigned());
    let keys = keys::keys(keys::numbers(arguments.keys, rank, ranks));
    let mut sorted = Vec::new();
    for _ in 0..arguments.repeat {
        sorted = buckets::sort(world, &keys, arguments.split);
    }
    verify::verify(world, &keys, &sorted)
}
