//! Groups of ranks, as ranks of the world.

use std::ffi::c_int;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use super::{Communicator, ELSEWHERE, world_rank};
use crate::abi::Handle;
use crate::library::Mpi;

/// The most ranks of all communicators together whose ranks in the world are kept: 16 MiB.
const RANKS_MAX: u64 = 4 << 20;

static RANKS_KEPT: AtomicU64 = AtomicU64::new(0);

impl Communicator {
    /// Returns the ranks of a group in the world, relative to the caller's. The program passes the
    /// group in a call under way. `None` if MPI returns an error.
    pub(crate) fn relative_in_group(mpi: &Mpi, group: Handle) -> Option<Vec<i32>> {
        let world_rank = world_rank(mpi)?;
        let mut size = 0;
        // SAFETY: the group is live, and the place is valid.
        let code = unsafe { mpi.group_size(group, &raw mut size) };
        if code != 0 {
            return None;
        }
        let ranks = in_world(mpi, group, size)?;
        let relative = |rank: c_int| if rank < 0 { ELSEWHERE } else { rank - world_rank };
        Some(ranks.into_iter().map(relative).collect())
    }
}

/// Makes room for this many ranks, if there is some.
pub(super) fn reserve(count: u64) -> Option<()> {
    let more = |kept: u64| (kept + count <= RANKS_MAX).then_some(kept + count);
    RANKS_KEPT.fetch_update(Relaxed, Relaxed, more).ok().map(drop)
}

/// Returns the relative ranks in the world of all ranks of a communicator, unless they are too
/// many.
pub(super) fn relative(
    mpi: &Mpi,
    handle: Handle,
    ranks: c_int,
    is_inter: bool,
    world_rank: c_int,
) -> Option<Box<[i32]>> {
    let count = u64::from(ranks.unsigned_abs());
    reserve(count)?;
    let translate = || {
        let group = group_of(mpi, handle, is_inter)?;
        let ranks = in_world(mpi, group, ranks);
        free(mpi, group);
        ranks
    };
    let Some(translated) = translate() else {
        RANKS_KEPT.fetch_sub(count, Release);
        return None;
    };
    let relative = |&rank: &c_int| if rank < 0 { ELSEWHERE } else { rank - world_rank };
    Some(translated.iter().map(relative).collect())
}

/// Returns the ranks in the world of the first ranks of a group, which is live; a number below 0
/// for one that is none of it.
fn in_world(mpi: &Mpi, group: Handle, ranks: c_int) -> Option<Vec<c_int>> {
    let numbers: Vec<c_int> = (0..ranks).collect();
    let mut translated = vec![0; numbers.len()];
    let world = group_of(mpi, mpi.abi.world, false)?;
    let (from, to) = (numbers.as_ptr(), translated.as_mut_ptr());
    // SAFETY: both groups are live, and both arrays hold as many ranks.
    let code = unsafe { mpi.group_translate_ranks(group, ranks, from, world, to) };
    free(mpi, world);
    (code == 0).then_some(translated)
}

fn group_of(mpi: &Mpi, handle: Handle, is_remote: bool) -> Option<Handle> {
    let mut group = Handle(0);
    let place = &raw mut group;
    let code = if is_remote {
        // SAFETY: the handle is live, and the place is valid.
        unsafe { mpi.comm_remote_group(handle, place) }
    } else {
        // SAFETY: the handle is live, and the place is valid.
        unsafe { mpi.comm_group(handle, place) }
    };
    (code == 0).then_some(group)
}

/// Frees a group of ours.
fn free(mpi: &Mpi, mut group: Handle) {
    // SAFETY: the group is ours, and is freed once.
    let _ = unsafe { mpi.group_free(&raw mut group) };
}

/// Gives room for this many ranks back.
pub(super) fn give_back(count: u64) {
    RANKS_KEPT.fetch_sub(count, Relaxed);
}
