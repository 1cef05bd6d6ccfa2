//! A triangular system solved in wavefronts over MPI, profiled by TinyProf: a front of computation
//! moves from corner to corner over a grid of ranks, plane by plane, as in NAS LU.

mod arguments;
mod block;
mod sweep;

use std::process::ExitCode;

use clap::Parser;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;
use tinyprof_mpi as _; // The only line needed: this crate intercepts MPI_Init and MPI_Finalize.

use crate::arguments::Arguments;
use crate::sweep::{Corner, Sweep};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says its results")]
fn main() -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("wavefront: MPI is initialised already");
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
    let error = solve(arguments, &world);
    if is_reporter {
        let Arguments { points, planes, steps, .. } = arguments;
        let ranks = world.size();
        println!(
            "wavefront: {ranks} ranks, {points} x {points} x {planes} points each, {steps} steps, error {error}"
        );
    }
    if error == 0.0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Does all steps, and returns the largest error of all ranks. Collective.
#[profile]
fn solve(arguments: Arguments, world: &SimpleCommunicator) -> f64 {
    let (rank, ranks) = (world.rank().cast_unsigned(), world.size().cast_unsigned());
    let mut sweeps =
        [Corner::First, Corner::Last].map(|corner| Sweep::new(arguments, rank, ranks, corner));
    let times = if arguments.slow_rank == Some(rank) { arguments.slow_by } else { 1 };
    for _ in 0..arguments.steps {
        sweeps.iter_mut().for_each(|sweep| sweep.sweep(world, times));
    }
    let error = sweeps.iter().map(Sweep::error).fold(0.0, f64::max);
    let mut largest = 0.0;
    world.all_reduce_into(&error, &mut largest, SystemOperation::max());
    largest
}
