//! A product of matrices around a ring of MPI ranks, profiled by TinyProf: each rank has rows of
//! both matrices, and those of the second one travel.

mod arguments;
mod product;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;
use tinyprof_mpi as _; // The only line needed: this crate intercepts MPI_Init and MPI_Finalize.

use crate::arguments::Arguments;
use crate::product::{Product, Stages};

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says its results")]
fn main() -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("matmul: MPI is initialised already");
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
        let n = arguments.rows * world.size().cast_unsigned();
        println!("matmul: {} ranks, {n} x {n}, error {error}", world.size());
    }
    if error == 0.0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Does all products, and returns the largest error of all ranks. Collective.
#[profile]
fn solve(arguments: Arguments, world: &SimpleCommunicator) -> f64 {
    let (rank, ranks) = (world.rank().cast_unsigned(), world.size().cast_unsigned());
    let mut product = Product::new(arguments.rows, rank, ranks);
    let is_slow = arguments.slow_rank == Some(rank);
    let pause = is_slow.then(|| Duration::from_millis(arguments.pause_ms));
    for _ in 0..arguments.repeat {
        product.multiply(world, pause);
    }
    if arguments.time {
        print_stages(product.stages(), world);
    }
    let mut largest = 0.0;
    world.all_reduce_into(&product.error(), &mut largest, SystemOperation::max());
    largest
}

/// Prints how long the stages took, as the mean of all ranks. Collective.
#[expect(clippy::print_stdout, reason = "a program says its results")]
fn print_stages(stages: Stages, world: &SimpleCommunicator) {
    let own_s = [stages.add_block, stages.pause, stages.pass_on].map(|time| time.as_secs_f64());
    let mut sum_s = [0.0; 3];
    world.all_reduce_into(&own_s, &mut sum_s, SystemOperation::sum());
    if world.rank() == 0 {
        let [add_block, pause, pass_on] = sum_s.map(|sum_s| sum_s / f64::from(world.size()));
        println!(
            "matmul: add_block took {add_block:.6} s, pause_for {pause:.6} s, pass_on {pass_on:.6} s"
        );
    }
}
