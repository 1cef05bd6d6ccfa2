//! Pi by random numbers over MPI, profiled by TinyProf: a master has packets of points, and gives
//! one to any worker who asks, until the estimate is good enough.

mod arguments;
mod packets;
mod points;

use std::process::ExitCode;
#[expect(clippy::disallowed_types, reason = "MPI_Wtime would be a call in the profile")]
use std::time::Instant;

use clap::Parser;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;
use tinyprof_mpi as _; // The only line needed: this crate intercepts MPI_Init and MPI_Finalize.

use crate::arguments::Arguments;
use crate::points::Estimate;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says its results")]
fn main() -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("pi: MPI is initialised already");
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
    // A clock that is no call of MPI.
    #[expect(clippy::disallowed_types, reason = "MPI_Wtime would be a call in the profile")]
    let start = Instant::now();
    let estimate = estimate(arguments, &world);
    if arguments.time {
        print_time(&world, start.elapsed().as_secs_f64());
    }
    let (pi, error) = (estimate.pi(), estimate.error());
    if is_reporter {
        let Estimate { below, points } = estimate;
        println!(
            "pi: {} ranks, {pi:.5} +- {error:.5}, {below} of {points} points below",
            world.size()
        );
    }
    let is_right = (pi - std::f64::consts::PI).abs() < 5.0 * error;
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Prints the time of the master, and of the slowest worker. Collective.
#[expect(clippy::print_stdout, reason = "a program says its results")]
fn print_time(world: &SimpleCommunicator, own_s: f64) {
    let is_master = world.rank() == 0;
    let (mut worker_s, own) = (0.0, if is_master { 0.0 } else { own_s });
    world.all_reduce_into(&own, &mut worker_s, SystemOperation::max());
    if is_master {
        println!("pi: the master took {own_s:.6} s, the slowest worker {worker_s:.6} s");
    }
}

/// Does rounds until the error is small enough. Collective.
#[profile]
fn estimate(arguments: Arguments, world: &SimpleCommunicator) -> Estimate {
    let mut estimate = Estimate::default();
    for round in 0.. {
        let mine = packets::round(world, arguments, round);
        let mut below = 0;
        world.all_reduce_into(&mine, &mut below, SystemOperation::sum());
        estimate.below += below;
        estimate.points += arguments.packets * arguments.points;
        if estimate.error() <= arguments.error {
            break;
        }
    }
    estimate
}
