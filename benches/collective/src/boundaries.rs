//! The cost of a boundary at which no checkpoint is due: the program that mpiexec starts, with and
//! without a checkpoint interval in its environment.

use std::hint::black_box;

use mpi::collective::SystemOperation;
use mpi::traits::*;
use tinyprof::collect::monotonic_ns;
use tinyprof::{profile, profile_loop, profile_scope};
use tinyprof_bench_collective::rows::{BoundaryRow, median};

use crate::print_row;

/// Number of flush points of one round, and number of rounds, whose median counts.
const BOUNDARIES: u64 = 200_000;
const ROUNDS: u32 = 31;

pub(crate) fn run() -> Result<(), String> {
    let universe = mpi::initialize().ok_or("MPI is initialised already")?;
    let world = universe.world();
    let own = [boundary_ps(loop_without), boundary_ps(loop_with), boundary_ps(roots)];
    let mut most = [0; 3];
    world.all_reduce_into(&own, &mut most, SystemOperation::max());
    if world.rank() != 0 {
        return Ok(());
    }
    print_row(&BoundaryRow {
        ranks: world.size().unsigned_abs(),
        interval: tinyprof::collect::settings()
            .interim_interval
            .is_some_and(|interval| !interval.is_zero()),
        iteration_ps: most[0],
        boundary_iteration_ps: most[1],
        execution_ps: most[2],
    })
}

/// Returns the time of one step of `steps`, in picoseconds.
fn boundary_ps(steps: fn(u64)) -> u64 {
    let rounds = (0..ROUNDS).map(|_| {
        let start_ns = monotonic_ns();
        steps(BOUNDARIES);
        (monotonic_ns() - start_ns) * 1000 / BOUNDARIES
    });
    median(rounds.collect::<Vec<_>>())
}

#[profile]
fn loop_without(count: u64) {
    profile_loop!(
        "iteration",
        mode = total,
        for i in 0..count {
            black_box(i);
        }
    );
}

#[profile]
fn loop_with(count: u64) {
    profile_loop!(
        "iteration with a boundary",
        mode = total,
        flush_point,
        for i in 0..count {
            black_box(i);
        }
    );
}

fn roots(count: u64) {
    for i in 0..count {
        profile_scope!("execution");
        black_box(i);
    }
}
