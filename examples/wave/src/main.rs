//! The wave equation on a line over MPI, profiled by TinyProf: rank 0 says how high the wave is,
//! each step neighbours exchange a point and all ranks compute theirs, and rank 0 collects the
//! results.
//!
//! Profiling takes the line `use tinyprof_mpi as _;`, and attributes on the functions that deserve
//! a name.

mod arguments;
mod line;

use std::process::ExitCode;

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;
use tinyprof_mpi as _; // The only line needed: this crate intercepts MPI_Init and MPI_Finalize.

use crate::arguments::Arguments;
use crate::line::Line;

/// The largest error of a right result.
const TOLERANCE: f64 = 1e-8;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says its results")]
fn main() -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("wave: MPI is initialised already");
        return ExitCode::FAILURE;
    };
    let world = universe.world();
    let is_reporter = world.rank() == 0;
    let arguments = match Arguments::read(is_reporter) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    let error = solve(arguments, &world);
    if is_reporter {
        let (ranks, points, steps) = (world.size(), arguments.points, arguments.steps);
        println!("wave: {ranks} ranks, {points} points each, {steps} steps, error {error:.1e}");
    }
    if error < TOLERANCE { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How high the wave is.
const HEIGHT: f64 = 1.0;

/// Does all steps, and returns the largest error of this rank, and on rank 0 that of all ranks.
/// Collective.
#[profile]
fn solve(arguments: Arguments, world: &SimpleCommunicator) -> f64 {
    let mut height = if world.rank() == 0 { HEIGHT } else { 0.0 };
    world.process_at_rank(0).broadcast_into(&mut height);
    let mut line = Line::new(arguments.points, height, world.rank(), world.size());
    let is_slow = arguments.slow_rank == u32::try_from(world.rank()).ok();
    let times = if is_slow { arguments.slow_by } else { 1 };
    for _ in 0..arguments.steps {
        line.exchange(world);
        line.update(times);
    }
    collect(world, arguments.points, line.error(arguments.steps))
}

/// Sends the points and the error of this rank to rank 0, which returns the largest error: one
/// without bound if a point is missing. Collective.
#[profile]
fn collect(world: &SimpleCommunicator, points: u32, own: f64) -> f64 {
    if world.rank() > 0 {
        world.process_at_rank(0).send(&points);
        world.process_at_rank(0).send(&own);
        return own;
    }
    let mut largest = own;
    for rank in 1..world.size() {
        let (theirs, _) = world.process_at_rank(rank).receive::<u32>();
        let (error, _) = world.process_at_rank(rank).receive::<f64>();
        largest = if theirs == points { largest.max(error) } else { f64::INFINITY };
    }
    largest
}
