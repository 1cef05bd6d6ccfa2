//! The line of a forest fire over MPI, profiled by TinyProf: a master knows the weather and the
//! line, and workers spread a section of it each.

mod arguments;
mod line;
mod master;
mod messages;
mod weather;
mod worker;

use std::process::ExitCode;

use clap::Parser;
use mpi::traits::*;
use tinyprof_mpi as _; // The only line needed: this crate intercepts MPI_Init and MPI_Finalize.

use crate::arguments::Arguments;

/// The largest error of a right result.
const TOLERANCE: f64 = 1e-8;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says its results")]
fn main() -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("fire: MPI is initialised already");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    let is_master = world.rank() == messages::MASTER;
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // If the terminal is gone, nobody can read the error.
            drop(is_master.then(|| error.print()));
            return ExitCode::from(u8::from(error.use_stderr()) * 2);
        }
    };
    if !is_master {
        worker::work(&world, &arguments);
        return ExitCode::SUCCESS;
    }
    let line = master::lead(&world, &arguments);
    let time = f64::from(arguments.steps) * line::STEP;
    let error = line::error(&line, time, weather::WIND);
    let Arguments { points, steps, .. } = arguments;
    println!("fire: {} ranks, {points} points, {steps} steps, error {error:.1e}", world.size());
    if error < TOLERANCE { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
