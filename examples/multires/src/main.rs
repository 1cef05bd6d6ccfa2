//! A field written at many resolutions in parallel over MPI, profiled by TinyProf: the third
//! application of the paper on TinyProf. Patches are distributed, transformed, compressed,
//! collected by aggregators and written, so that a reader can take as much resolution as it needs.

mod aggregate;
mod arguments;
mod code;
mod field;
mod files;
mod grid;
mod partition;
mod pipeline;
mod verify;
mod wavelet;

use std::process::ExitCode;

use clap::Parser;
use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;
use tinyprof_mpi as _; // The only line needed: this crate intercepts MPI_Init and MPI_Finalize.

use crate::arguments::Arguments;
use crate::field::Cells;
use crate::grid::Grid;

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program says its results")]
fn main() -> ExitCode {
    let Some(universe) = mpi::initialize() else {
        eprintln!("multires: MPI is initialised already");
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
    let (bytes, wrong) = run(&world, &arguments);
    if is_reporter {
        let (ranks, steps) = (world.size(), arguments.steps);
        let cells = (1_u64 << (3 * arguments.size)) * u64::from(ranks.cast_unsigned());
        println!(
            "multires: {ranks} ranks, {steps} steps of {cells} cells in {bytes} bytes, {wrong} wrong"
        );
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Writes all steps and reads each again; returns the bytes of the last one, and how much of what
/// was read, on all ranks, is not what was written. Collective.
#[profile]
#[expect(clippy::print_stderr, reason = "a program says what it cannot do")]
fn run(world: &SimpleCommunicator, arguments: &Arguments) -> (u64, u64) {
    let [rank, ranks] = [world.rank(), world.size()].map(|count| count.cast_unsigned() as usize);
    let grid = Grid::new(ranks, 1 << arguments.size, 1 << arguments.patch);
    let (mut bytes, mut wrong) = (0, 0);
    for step in 0..arguments.steps {
        let width = grid.blocks[0] * grid.block;
        let block = Cells::of_field(grid.block_begin(rank), grid.block, width, step);
        let directory = arguments.output.join(format!("step-{step:04}"));
        let written = pipeline::write_step(world, &grid, arguments, &directory, &block);
        let read = written.and_then(|size| {
            bytes = size;
            verify::count_wrong(&directory, rank, &block)
        });
        wrong += read.map_or_else(
            |error| {
                eprintln!("multires: rank {rank}: {}: {error}", directory.display());
                1
            },
            |wrong| wrong as u64,
        );
    }
    let mut all_wrong = 0;
    world.all_reduce_into(&wrong, &mut all_wrong, SystemOperation::sum());
    (bytes, all_wrong)
}
