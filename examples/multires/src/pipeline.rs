//! The way of the data of a step, from the blocks of the simulation to files.

use std::fs;
use std::io::Result;
use std::path::Path;
use std::time::Duration;

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;

use crate::aggregate::{Patch, Plan, aggregate, plan};
use crate::arguments::Arguments;
use crate::code::compress;
use crate::field::Cells;
use crate::files;
use crate::grid::Grid;
use crate::partition::distribute;
use crate::wavelet::{by_level, transform};

/// Writes the blocks of all ranks, and returns how many bytes there are in all. Collective.
///
/// # Errors
///
/// A file of this rank cannot be written.
#[profile(name = "step")]
pub(crate) fn write_step(
    world: &SimpleCommunicator,
    grid: &Grid,
    arguments: &Arguments,
    directory: &Path,
    block: &Cells,
) -> Result<u64> {
    let mut patches = distribute(world, grid, block);
    let levels = build_hierarchy(&mut patches);
    let compressed = compress_all(&levels);
    let ranks = grid.ranks();
    let wanted = arguments.aggregators.map_or(ranks.div_ceil(4), |files| files as usize);
    let plan = plan(world, grid, &compressed, wanted.min(ranks), arguments.share);
    let files = aggregate(world, grid, &plan, &compressed);
    write_files(world, grid, arguments, directory, (&plan, &files))?;
    Ok(plan.sizes.iter().flatten().sum())
}

/// Transforms all patches of this rank, and puts their values in order of their resolution.
#[profile(name = "wave")]
fn build_hierarchy(patches: &mut [Cells]) -> Vec<Vec<Vec<i32>>> {
    patches.iter_mut().for_each(transform);
    patches.iter().map(by_level).collect()
}

/// Compresses all levels. Patches in turbulence take longer, and become larger.
#[profile(name = "ZFP")]
fn compress_all(patches: &[Vec<Vec<i32>>]) -> Vec<Patch> {
    let levels = |patch: &Vec<Vec<i32>>| patch.iter().map(|level| compress(level)).collect();
    patches.iter().map(levels).collect()
}

/// Writes the files of this rank, and what a reader has to know. All are there when it returns.
/// Collective.
#[profile(name = "wrt")]
fn write_files(
    world: &SimpleCommunicator,
    grid: &Grid,
    arguments: &Arguments,
    directory: &Path,
    (plan, files): (&Plan, &[(usize, Vec<u8>)]),
) -> Result<()> {
    let rank = world.rank().cast_unsigned();
    let slow =
        (arguments.slow_writer == Some(rank)).then(|| Duration::from_millis(arguments.slow_ms));
    let mut written = fs::create_dir_all(directory);
    for (file, bytes) in files {
        written = written.and_then(|()| files::write(directory, *file, bytes, slow));
    }
    if rank == 0 {
        written = written.and_then(|()| files::write_meta(directory, grid, plan));
    }
    // Also where a file could not be written: others are in the barrier.
    world.barrier();
    written
}
