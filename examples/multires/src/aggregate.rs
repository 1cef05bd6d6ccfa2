//! Aggregation: the patches of many ranks go to few, who write them.

use std::ops::Range;

use mpi::Count;
use mpi::datatype::PartitionMut;
use mpi::request::WaitGuard;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::{profile, profile_scope};

use crate::arguments::Share;
use crate::grid::Grid;

/// A compressed patch: the bytes of each level.
pub(crate) type Patch = Vec<Vec<u8>>;

/// The patches of each file, and the size of each level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The bytes of each level of each patch.
    pub(crate) sizes: Vec<Vec<u64>>,
    /// The patches in each file; file `f` is written by rank `f * ranks / files`.
    pub(crate) files: Vec<Range<usize>>,
}

impl Plan {
    /// Returns the rank that writes a file.
    pub(crate) fn writer(&self, file: usize, ranks: usize) -> usize {
        file * ranks / self.files.len()
    }
}

/// Tells all ranks how long all patches are, and shares them out. Collective.
#[profile(name = "gather", tag = "COMM")]
pub(crate) fn plan(
    world: &SimpleCommunicator,
    grid: &Grid,
    mine: &[Patch],
    files: usize,
    share: Share,
) -> Plan {
    let own: Vec<u64> = mine.iter().flatten().map(|level| level.len() as u64).collect();
    let levels = crate::wavelet::levels(grid.patch) as usize;
    let count = |rank| int(grid.patches_of(rank).len() * levels);
    let counts: Vec<Count> = (0..grid.ranks()).map(count).collect();
    let displacements: Vec<Count> =
        (0..grid.ranks()).map(|rank| int(grid.patches_of(rank).start * levels)).collect();
    let mut sizes = vec![0_u64; grid.patches() * levels];
    let mut received = PartitionMut::new(&mut sizes[..], counts, displacements);
    world.all_gather_varcount_into(&own[..], &mut received);
    let sizes: Vec<Vec<u64>> = sizes.chunks_exact(levels).map(<[u64]>::to_vec).collect();
    let files = assign(&sizes, files, share);
    Plan { sizes, files }
}

fn int(count: usize) -> Count {
    count.try_into().expect("there are less than 2^31 levels")
}

/// Returns the patches of each file: as many, or of as many bytes.
#[profile(name = "assign", tag = "COMP")]
fn assign(sizes: &[Vec<u64>], files: usize, share: Share) -> Vec<Range<usize>> {
    let weight = |patch: &Vec<u64>| match share {
        Share::Bytes => patch.iter().sum::<u64>().max(1),
        Share::Patches => 1,
    };
    let all: u64 = sizes.iter().map(weight).sum();
    let mut before = 0;
    let mut ends = vec![0];
    for (patch, size) in sizes.iter().enumerate() {
        // This file has its part.
        while before * files as u64 >= all * ends.len() as u64 && ends.len() < files {
            ends.push(patch);
        }
        before += weight(size);
    }
    ends.resize(files + 1, sizes.len());
    ends.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Sends this rank's patches to those who write them, and returns, for each file that this rank
/// writes, its number and its bytes: level after level, each of all patches. Collective.
#[profile(name = "AGG")]
pub(crate) fn aggregate(
    world: &SimpleCommunicator,
    grid: &Grid,
    plan: &Plan,
    mine: &[Patch],
) -> Vec<(usize, Vec<u8>)> {
    let rank = world.rank().cast_unsigned() as usize;
    let own = grid.patches_of(rank);
    let process = |rank: usize| world.process_at_rank(rank.try_into().expect("a rank is an int"));
    let levels = crate::wavelet::levels(grid.patch) as usize;
    // One message for each file: level after level, each of all patches.
    let messages: Vec<(usize, Vec<u8>)> = (0..plan.files.len())
        .map(|file| (file, common(&own, &plan.files[file])))
        .filter(|(_, patches)| !patches.is_empty())
        .map(|(file, patches)| {
            let levels = (0..levels).flat_map(|level| {
                patches.clone().flat_map(move |patch| mine[patch - own.start][level].clone())
            });
            (file, levels.collect())
        })
        .collect();
    mpi::request::scope(|scope| {
        let sends: Vec<_> = messages
            .iter()
            .map(|(file, bytes)| {
                profile_scope!("send", tag = "COMM");
                let to = process(plan.writer(*file, grid.ranks()));
                WaitGuard::from(to.immediate_send(scope, &bytes[..]))
            })
            .collect();
        let written = (0..plan.files.len()).filter(|&f| plan.writer(f, grid.ranks()) == rank);
        let files = written.map(|file| {
            let parts: Vec<(Range<usize>, Vec<u8>)> = (0..grid.ranks())
                .map(|from| (from, common(&grid.patches_of(from), &plan.files[file])))
                .filter(|(_, patches)| !patches.is_empty())
                .map(|(from, patches)| {
                    profile_scope!("recv", tag = "COMM");
                    let size: u64 = patches.clone().flat_map(|patch| &plan.sizes[patch]).sum();
                    let mut bytes = vec![0; usize::try_from(size).expect("it fits in memory")];
                    process(from).receive_into(&mut bytes[..]);
                    (patches, bytes)
                })
                .collect();
            (file, join(plan, levels, &parts))
        });
        let files: Vec<_> = files.collect();
        profile_scope!("wait", tag = "COMM");
        drop(sends);
        files
    })
}

/// Puts the levels of several ranks in the order of the file.
fn join(plan: &Plan, levels: usize, parts: &[(Range<usize>, Vec<u8>)]) -> Vec<u8> {
    let mut rests: Vec<&[u8]> = parts.iter().map(|(_, bytes)| &bytes[..]).collect();
    let mut file = Vec::with_capacity(rests.iter().map(|rest| rest.len()).sum());
    for level in 0..levels {
        for (rest, (patches, _)) in rests.iter_mut().zip(parts) {
            let size: u64 = patches.clone().map(|patch| plan.sizes[patch][level]).sum();
            let (taken, left) = rest.split_at(usize::try_from(size).expect("it is in memory"));
            file.extend_from_slice(taken);
            *rest = left;
        }
    }
    file
}

fn common(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_share_patches_or_bytes() {
        let sizes: Vec<Vec<u64>> = [[1, 9], [1, 9], [10, 90], [10, 90]].map(Vec::from).to_vec();
        assert_eq!(assign(&sizes, 2, Share::Patches), [0..2, 2..4]);
        assert_eq!(assign(&sizes, 2, Share::Bytes), [0..3, 3..4]);
        let whole = assign(&sizes, 1, Share::Bytes);
        assert_eq!((whole.len(), whole[0].clone()), (1, 0..4));
        let many = assign(&sizes, 6, Share::Patches);
        assert_eq!((many.len(), many[5].end), (6, 4));
        assert!(many.windows(2).all(|pair| pair[0].end == pair[1].start));
    }
}
