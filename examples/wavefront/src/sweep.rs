//! A sweep: each rank waits for the planes of its neighbours towards one corner, and computes its
//! own, so that a front of computation moves to the other corner.

use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;

use crate::arguments::Arguments;
use crate::block::{Block, Point};

/// From which corner a front comes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Corner {
    First,
    Last,
}

/// A rank's part of a sweep.
#[derive(Debug)]
pub(crate) struct Sweep {
    block: Block,
    /// The ranks from which columns and rows come, and to which they go.
    before: [Option<i32>; 2],
    after: [Option<i32>; 2],
    /// Points in a column or row, and planes.
    side: usize,
    planes: usize,
    planes_per_message: usize,
}

/// Returns how many ranks stand in a row, and how many rows of them: as square as can be.
fn grid(ranks: u32) -> [u32; 2] {
    let divides = |x: &u32| ranks.is_multiple_of(*x) && x * x <= ranks;
    let x = (1..=ranks).filter(divides).max().unwrap_or(1);
    [ranks / x, x]
}

impl Sweep {
    /// Returns the part of a rank, whose block begins as many points from that corner as its place
    /// in the grid of ranks says.
    pub(crate) fn new(arguments: Arguments, rank: u32, ranks: u32, corner: Corner) -> Self {
        let [width, height] = grid(ranks);
        let [x, y] = [rank % width, rank / width];
        // The neighbours on the side of the first corner, and on that of the last one.
        let [left, up] = [(x > 0).then(|| rank - 1), (y > 0).then(|| rank - width)];
        let right = (x + 1 < width).then(|| rank + 1);
        let down = (y + 1 < height).then(|| rank + width);
        let (place, before, after) = match corner {
            Corner::First => ([x, y], [left, up], [right, down]),
            Corner::Last => ([width - 1 - x, height - 1 - y], [right, down], [left, up]),
        };
        let begin = place.map(|place| place * arguments.points);
        Self {
            block: Block::new(arguments.points, arguments.planes, begin),
            before: before.map(|rank| rank.map(u32::cast_signed)),
            after: after.map(|rank| rank.map(u32::cast_signed)),
            side: arguments.points as usize,
            planes: arguments.planes as usize,
            planes_per_message: arguments.planes_per_message as usize,
        }
    }

    /// Computes all planes, each `times` times. Collective.
    #[profile]
    pub(crate) fn sweep(&mut self, world: &SimpleCommunicator, times: u32) {
        self.block.clear();
        let mut first = 0;
        while first < self.planes {
            let planes = first..self.planes.min(first + self.planes_per_message);
            let count = planes.len() * self.side;
            let [columns, rows] = self.before.map(|rank| receive(world, rank, count));
            self.block.compute(planes.clone(), [&columns, &rows], times);
            for (rank, points) in self.after.iter().zip(self.block.ends(planes.clone())) {
                if let Some(rank) = *rank {
                    send(world, rank, &points);
                }
            }
            first = planes.end;
        }
    }

    /// Returns the largest error of this rank.
    pub(crate) fn error(&self) -> f64 {
        self.block.error()
    }
}

/// Takes the values of this many points from a neighbour; none where there is no neighbour.
#[profile]
fn receive(world: &SimpleCommunicator, rank: Option<i32>, count: usize) -> Vec<Point> {
    let Some(rank) = rank else { return Vec::new() };
    let mut points = vec![[0.0; 5]; count];
    world.process_at_rank(rank).receive_into(points.as_flattened_mut());
    points
}

/// Gives the values of points to a neighbour.
#[profile]
fn send(world: &SimpleCommunicator, rank: i32, points: &[Point]) {
    world.process_at_rank(rank).send(points.as_flattened());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grid_is_as_square_as_can_be() {
        let grids = [1, 2, 6, 7, 16].map(grid);
        assert_eq!(grids, [[1, 1], [2, 1], [3, 2], [7, 1], [4, 4]]);
    }
}
