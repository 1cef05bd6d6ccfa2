//! The distribution of patches: each goes from the rank in whose block it lies to the one that
//! works on it.

use mpi::request::WaitGuard;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::{profile, profile_scope};

use crate::field::Cells;
use crate::grid::Grid;

/// Returns the patches that this rank works on, one after another. Collective.
#[profile(name = "PART")]
pub(crate) fn distribute(world: &SimpleCommunicator, grid: &Grid, block: &Cells) -> Vec<Cells> {
    let rank = world.rank().cast_unsigned() as usize;
    let outgoing = cut(grid, rank, block);
    let process = |rank: usize| world.process_at_rank(rank.try_into().expect("a rank is an int"));
    let mut mine: Vec<Cells> =
        grid.patches_of(rank).map(|_| Cells::zeros([grid.patch; 3])).collect();
    mpi::request::scope(|scope| {
        profile_scope!("exCell");
        let (kept, sent): (Vec<_>, Vec<_>) =
            outgoing.iter().partition(|(patch, _)| grid.worker(*patch) == rank);
        // Patches of two ranks arrive in the order in which they are sent: that of their numbers.
        let sends: Vec<_> = sent
            .iter()
            .map(|(patch, cells)| {
                profile_scope!("send", tag = "COMM");
                let to = process(grid.worker(*patch));
                WaitGuard::from(to.immediate_send(scope, &cells.values[..]))
            })
            .collect();
        for (patch, cells) in grid.patches_of(rank).zip(&mut mine) {
            profile_scope!("recv", tag = "COMM");
            let home = grid.home(patch);
            match kept.iter().find(|(own, _)| *own == patch) {
                Some((_, own)) => cells.values.clone_from(&own.values),
                None => {
                    process(home).receive_into(&mut cells.values[..]);
                }
            }
        }
        profile_scope!("wait", tag = "COMM");
        drop(sends);
    });
    mine
}

/// Cuts the patches out of a block.
#[profile(name = "assign", tag = "COMP")]
fn cut(grid: &Grid, rank: usize, block: &Cells) -> Vec<(usize, Cells)> {
    let begin = grid.block_begin(rank);
    let own = (0..grid.patches()).filter(|&patch| grid.home(patch) == rank);
    own.map(|patch| {
        let at = grid.patch_begin(patch);
        let inside = std::array::from_fn(|axis| at[axis] - begin[axis]);
        (patch, block.cut(inside, grid.patch))
    })
    .collect()
}
