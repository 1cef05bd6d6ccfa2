//! Checks that keys are sorted, on any number of ranks.

use mpi::collective::SystemOperation;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

/// The result of a check: equal in all runs with the same keys.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Order {
    /// Whether no key is before a smaller one, on all ranks, and none was lost or changed.
    pub(crate) is_right: bool,
    /// The key in the middle.
    pub(crate) median: u32,
}

/// Looks at the keys of all ranks before and after. Collective.
pub(crate) fn verify(world: &SimpleCommunicator, before: &[u32], after: &[u32]) -> Order {
    let own = u64::from(after.is_sorted());
    let largest = after.last().copied().unwrap_or_default();
    // The largest key of all ranks before this one. Rank 0 has none, and keeps its 0.
    let mut bound = 0_u32;
    world.exclusive_scan_into(&largest, &mut bound, SystemOperation::max());
    let bound = if world.rank() == 0 { 0 } else { bound };
    let follows = u64::from(after.first().is_none_or(|&first| bound <= first));

    let sums = [before, after].map(|keys| {
        let sum = keys.iter().map(|&key| u64::from(key)).sum::<u64>();
        let squares = keys.iter().map(|&key| u64::from(key) * u64::from(key));
        [keys.len() as u64, sum, squares.fold(0, u64::wrapping_add)]
    });
    let mine = [sums[0][0], sums[0][1], sums[0][2], sums[1][0], sums[1][1], sums[1][2]];
    let mut all = [0_u64; 6];
    world.all_reduce_into(&mine[..], &mut all[..], SystemOperation::sum());
    let mut in_order = 0_u64;
    world.all_reduce_into(&(own & follows), &mut in_order, SystemOperation::min());

    let mut end = 0_u64;
    world.scan_into(&(after.len() as u64), &mut end, SystemOperation::sum());
    let first = end - after.len() as u64;
    let middle = (all[0] / 2).checked_sub(first).and_then(|index| usize::try_from(index).ok());
    // One rank has it; keys are not negative.
    let mine = middle.and_then(|index| after.get(index).copied()).unwrap_or_default();
    let mut median = 0_u32;
    world.all_reduce_into(&mine, &mut median, SystemOperation::max());
    Order { is_right: in_order == 1 && all[..3] == all[3..], median }
}
