//! One grid: its equation -laplace(u) = f, and what is done on it and with the next coarser one.

use mpi::topology::CartesianCommunicator;
use tinyprof::profile;

use crate::field::Field;

/// A rank's block of one grid.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) u: Field,
    pub(crate) f: Field,
    residual: Field,
    /// The size of a cell, squared; 1 on the finest grid.
    cell_squared: f64,
    /// 1 where the first cell of the block is a black one.
    parity: usize,
}

impl Level {
    /// Returns the block of the rank at these coordinates of the grid of ranks.
    pub(crate) fn new(side: usize, cell: f64, coordinates: [usize; 3]) -> Self {
        let field = Field::new(side);
        let parity = coordinates.iter().map(|at| at * side).sum::<usize>() % 2;
        let (f, residual) = (field.clone(), field.clone());
        Self { u: field, f, residual, cell_squared: cell * cell, parity }
    }

    /// Improves the solution by sweeps of Gauss-Seidel, red cells before black ones. Collective.
    #[profile]
    pub(crate) fn smooth(&mut self, grid: &CartesianCommunicator, sweeps: u32, times: u32) {
        for colour in (0..sweeps).flat_map(|_| [0, 1]) {
            self.u.exchange(grid);
            self.relax(colour, times);
        }
    }

    /// Solves the equation in the cells of one colour, `times` times: they depend on those of the
    /// other colour alone, so that it is the same each time.
    #[profile]
    fn relax(&mut self, colour: usize, times: u32) {
        let side = self.u.side();
        for _ in 0..times {
            for (i, j) in (0..side).flat_map(|i| (0..side).map(move |j| (i, j))) {
                let first = (i + j + self.parity + colour) % 2;
                for k in (first..side).step_by(2) {
                    let place = self.u.place([i, j, k]);
                    let f = self.cell_squared * self.f.value(place);
                    self.u.replace(place, (f + self.u.around(place)) / 6.0);
                }
            }
            std::hint::black_box(&mut self.u);
        }
    }

    /// Computes what is left of the equation, and returns the sum of its squares on this rank.
    /// Collective.
    #[profile]
    pub(crate) fn find_residual(&mut self, grid: &CartesianCommunicator) -> f64 {
        self.u.exchange(grid);
        let mut squares = 0.0;
        for cell in Field::cells(self.u.side()) {
            let place = self.u.place(cell);
            let applied = (6.0 * self.u.value(place) - self.u.around(place)) / self.cell_squared;
            let left = self.f.value(place) - applied;
            self.residual.replace(place, left);
            squares += left * left;
        }
        squares
    }

    /// Takes the residual of the finer grid as the equation of this one, for its correction.
    #[profile]
    pub(crate) fn restrict(&mut self, fine: &Self) {
        self.u.clear();
        for cell in Field::cells(self.u.side()) {
            let parts = Field::cells(2).map(|part| fine.residual.at(inside(cell, part)));
            self.f.set(cell, parts.sum::<f64>() / 8.0);
        }
    }

    /// Adds the correction that the coarser grid has found.
    #[profile]
    pub(crate) fn correct(&mut self, coarse: &Self) {
        for cell in Field::cells(coarse.u.side()) {
            for part in Field::cells(2) {
                let fine = inside(cell, part);
                self.u.set(fine, self.u.at(fine) + coarse.u.at(cell));
            }
        }
    }
}

/// Returns the cell of the finer grid that is this one of the eight of a cell.
fn inside(cell: [usize; 3], part: [usize; 3]) -> [usize; 3] {
    std::array::from_fn(|axis| 2 * cell[axis] + part[axis])
}
