//! Poisson's equation by multigrid over MPI, profiled by TinyProf: each rank has a block of a cube,
//! and a cycle goes down to ever coarser grids by recursion.

mod arguments;
mod field;
mod level;
mod solver;

use std::process::ExitCode;

use clap::Parser;
use mpi::topology::CartesianCommunicator;
use mpi::traits::*;
use tinyprof_mpi as _; // The only line needed: this crate intercepts MPI_Init and MPI_Finalize.

use crate::arguments::Arguments;
use crate::solver::Solution;

/// The largest error of a right result.
const TOLERANCE: f64 = 1e-8;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says its results")]
fn main() -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("multigrid: MPI is initialised already");
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
    let dims = blocks(world.size());
    let grid: Option<CartesianCommunicator> =
        world.create_cartesian_communicator(&dims, &[false; 3], false);
    let Some(grid) = grid else {
        eprintln!("multigrid: {dims:?} are not all ranks");
        return ExitCode::FAILURE;
    };
    let Solution { cycles, levels, error } = solver::solve(&grid, arguments);
    if is_reporter {
        let [x, y, z] = dims.map(|ranks| ranks << arguments.size);
        println!(
            "multigrid: {} ranks, {x} x {y} x {z} cells, {levels} grids, {cycles} cycles, error {error:.1e}",
            world.size()
        );
    }
    if error < TOLERANCE { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Returns how many blocks stand in each direction: as much of a cube as can be.
fn blocks(ranks: i32) -> [i32; 3] {
    let divisors = |of: i32| (1..=of).filter(move |by| of % by == 0);
    let ways =
        divisors(ranks).flat_map(|x| divisors(ranks / x).map(move |y| [x, y, ranks / x / y]));
    let best = ways.filter(|way| way.is_sorted_by(|a, b| a >= b)).min_by_key(|[x, y, z]| x + y + z);
    best.unwrap_or([ranks, 1, 1])
}

#[cfg(test)]
mod tests {
    #[test]
    fn blocks_are_as_much_of_a_cube_as_can_be() {
        let blocks = [1, 2, 5, 8, 12, 16].map(super::blocks);
        assert_eq!(blocks, [[1, 1, 1], [2, 1, 1], [5, 1, 1], [2, 2, 2], [3, 2, 2], [4, 2, 2]]);
    }
}
