//! Where blocks and patches lie, and which rank has which.

use std::ops::Range;

/// Cells, blocks or patches in three directions.
pub(crate) type Place = [usize; 3];

/// The whole: blocks of the simulation, one for each rank, of which each is cut into patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Blocks in each direction.
    pub(crate) blocks: Place,
    /// The side of a block and of a patch, in cells: powers of two.
    pub(crate) block: usize,
    pub(crate) patch: usize,
}

/// Returns all places of a box of these sides, the last coordinate first.
pub(crate) fn places(sides: Place) -> impl Iterator<Item = Place> + Clone {
    let plane = move |x| (0..sides[1]).flat_map(move |y| (0..sides[2]).map(move |z| [x, y, z]));
    (0..sides[0]).flat_map(plane)
}

/// Returns the number of a place in a box of these sides.
pub(crate) fn number(place: Place, sides: Place) -> usize {
    (place[0] * sides[1] + place[1]) * sides[2] + place[2]
}

impl Grid {
    /// Returns the grid for this many ranks: as much of a cube as can be.
    pub(crate) fn new(ranks: usize, block: usize, patch: usize) -> Self {
        let divisors = |of: usize| (1..=of).filter(move |by| of.is_multiple_of(*by));
        let ways =
            divisors(ranks).flat_map(|x| divisors(ranks / x).map(move |y| [x, y, ranks / x / y]));
        let cube = ways.min_by_key(|[x, y, z]| (x + y + z, *z));
        Self { blocks: cube.unwrap_or([ranks, 1, 1]), block, patch: patch.min(block) }
    }

    pub(crate) fn ranks(&self) -> usize {
        self.blocks.iter().product()
    }

    /// Returns the first cell of a rank's block.
    pub(crate) fn block_begin(&self, rank: usize) -> Place {
        let [_, y, z] = self.blocks;
        [rank / (y * z), rank / z % y, rank % z].map(|at| at * self.block)
    }

    /// Returns how many patches there are in each direction.
    fn patches_a_side(&self) -> Place {
        self.blocks.map(|blocks| blocks * self.block / self.patch)
    }

    pub(crate) fn patches(&self) -> usize {
        self.patches_a_side().iter().product()
    }

    /// Returns the first cell of a patch.
    pub(crate) fn patch_begin(&self, patch: usize) -> Place {
        let [_, y, z] = self.patches_a_side();
        [patch / (y * z), patch / z % y, patch % z].map(|at| at * self.patch)
    }

    /// Returns the rank in whose block a patch lies.
    pub(crate) fn home(&self, patch: usize) -> usize {
        number(self.patch_begin(patch).map(|at| at / self.block), self.blocks)
    }

    /// Returns the patches that a rank works on: one after another in the whole, so that those of
    /// an aggregator lie together.
    pub(crate) fn patches_of(&self, rank: usize) -> Range<usize> {
        let first = |rank: usize| self.patches() * rank / self.ranks();
        first(rank)..first(rank + 1)
    }

    /// Returns the rank that works on a patch.
    pub(crate) fn worker(&self, patch: usize) -> usize {
        // The last rank that begins at or before it.
        (0..self.ranks()).rfind(|&rank| self.patches_of(rank).start <= patch).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_patch_has_one_home_and_one_worker() {
        for ranks in [1, 3, 8, 12] {
            let grid = Grid::new(ranks, 8, 4);
            assert_eq!((grid.ranks(), grid.patches()), (ranks, ranks * 8));
            let mut homes = vec![0; ranks];
            for patch in 0..grid.patches() {
                homes[grid.home(patch)] += 1;
                assert!(grid.patches_of(grid.worker(patch)).contains(&patch));
                let [begin, block] = [grid.patch_begin(patch), grid.block_begin(grid.home(patch))];
                assert!((0..3).all(|axis| (block[axis]..block[axis] + 8).contains(&begin[axis])));
            }
            assert_eq!(homes, vec![8; ranks]);
        }
    }
}
