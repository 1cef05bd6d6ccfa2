//! The V-cycle, and the equation whose solution is known.
//!
//! u = the product of sin(pi (i + 1/2) / N) over three directions is an eigenvector of the discrete
//! operator, with the eigenvalue sum of 2 - 2 cos(pi / N): f is that times u, and the solution of
//! the discrete equation is u itself.

use std::f64::consts::PI;

use mpi::collective::SystemOperation;
use mpi::topology::CartesianCommunicator;
use mpi::traits::*;
use tinyprof::profile;

use crate::arguments::Arguments;
use crate::field::Field;
use crate::level::Level;

const SWEEPS: u32 = 2;
const COARSEST_SWEEPS: u32 = 8;

/// The residual is found to be small when it is less than this, relative to the first one.
const SMALL: f64 = 1e-10;

/// How it ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Solution {
    pub(crate) cycles: u32,
    pub(crate) levels: usize,
    /// The largest error of all ranks, where values go up to 1.
    pub(crate) error: f64,
}

/// Solves the equation. Collective.
#[profile]
pub(crate) fn solve(grid: &CartesianCommunicator, arguments: Arguments) -> Solution {
    let layout = grid.get_layout();
    let number = |count: &i32| count.cast_unsigned() as usize;
    let at: Vec<usize> = layout.coords.iter().map(number).collect();
    let sides =
        (0..arguments.levels.min(arguments.size + 1)).map(|level| 1 << (arguments.size - level));
    let new =
        |(level, side): (i32, usize)| Level::new(side, 2_f64.powi(level), [at[0], at[1], at[2]]);
    let mut levels: Vec<Level> = (0..).zip(sides).map(new).collect();

    let exact = exact(&levels[0].u, &layout.dims, &layout.coords);
    let eigenvalue = eigenvalue(levels[0].u.side(), &layout.dims);
    for cell in Field::cells(exact.side()) {
        levels[0].f.set(cell, eigenvalue * exact.at(cell));
    }

    let times = if arguments.slow_rank == Some(grid.rank().cast_unsigned()) {
        arguments.slow_by
    } else {
        1
    };
    let first = norm(grid, &mut levels[0]);
    let mut cycles = 0;
    while cycles < arguments.cycles && norm(grid, &mut levels[0]) > SMALL * first {
        cycle(&mut levels, grid, times);
        cycles += 1;
    }
    let differences =
        Field::cells(exact.side()).map(|cell| (levels[0].u.at(cell) - exact.at(cell)).abs());
    let mut error = 0.0;
    grid.all_reduce_into(&differences.fold(0.0, f64::max), &mut error, SystemOperation::max());
    Solution { cycles, levels: levels.len(), error }
}

/// Goes down to the coarsest grid and back, and improves the solution on each. Collective.
#[profile]
fn cycle(levels: &mut [Level], grid: &CartesianCommunicator, times: u32) {
    match levels {
        [] => {}
        [coarsest] => coarsest.smooth(grid, COARSEST_SWEEPS, times),
        [fine, coarser @ ..] => {
            fine.smooth(grid, SWEEPS, times);
            fine.find_residual(grid);
            coarser[0].restrict(fine);
            cycle(coarser, grid, times);
            fine.correct(&coarser[0]);
            fine.smooth(grid, SWEEPS, times);
        }
    }
}

/// Returns the norm of the residual of all ranks. Collective.
#[profile]
fn norm(grid: &CartesianCommunicator, level: &mut Level) -> f64 {
    let mut squares: f64 = 0.0;
    grid.all_reduce_into(&level.find_residual(grid), &mut squares, SystemOperation::sum());
    squares.sqrt()
}

/// Returns the solution on this rank.
fn exact(like: &Field, dims: &[i32], coordinates: &[i32]) -> Field {
    let side = like.side();
    let mut field = Field::new(side);
    let sine = |axis: usize, cell: usize| {
        let length = f64::from(dims[axis]);
        let place = f64::from(coordinates[axis]) + (index(cell) + 0.5) / index(side);
        (PI * place / length).sin()
    };
    for [i, j, k] in Field::cells(side) {
        field.set([i, j, k], sine(0, i) * sine(1, j) * sine(2, k));
    }
    field
}

fn eigenvalue(side: usize, dims: &[i32]) -> f64 {
    let cells = dims.iter().map(|&ranks| f64::from(ranks) * index(side));
    cells.map(|cells| 2.0 - 2.0 * (PI / cells).cos()).sum()
}

fn index(value: usize) -> f64 {
    f64::from(u32::try_from(value).expect("a side of cells is short"))
}
