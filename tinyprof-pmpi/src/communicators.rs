//! The communicators of the program: their sizes, and the ranks of their members in the world.
//!
//! A communicator is looked up in a table without locks. What is known of one is made on its first
//! use, and forgotten when it is freed.

use std::ffi::c_int;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};

use crate::abi::Handle;
use crate::library::Mpi;

/// Slots in the table, a power of two.
const SLOTS: usize = 8192;
/// The slots that are searched for a communicator.
const PROBES: usize = 16;
/// The most ranks of all communicators together whose ranks in the world are kept: 16 MiB.
const RANKS_MAX: u64 = 4 << 20;

/// The partner of a message to or from outside of the world, or where the table is full.
pub(crate) const ELSEWHERE: i32 = i32::MAX;

/// Our duplicate of a communicator, on which companions travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Twin {
    pub(crate) handle: Handle,
    /// Our own number for the communicator.
    pub(crate) number: u32,
    /// The number that all its ranks know. A later communicator of the same ranks has a greater
    /// one.
    pub(crate) epoch: u32,
}

/// A communicator in use.
#[derive(Debug)]
pub(crate) struct Communicator {
    handle: Handle,
    /// The caller's rank.
    pub(crate) rank: c_int,
    /// The number of ranks in the local group.
    pub(crate) size: c_int,
    /// The number of ranks in the remote group of an intercommunicator.
    pub(crate) remote_size: Option<c_int>,
    /// The ranks in the world, relative to the caller, by rank in the communicator: of the remote
    /// group for an intercommunicator. Empty if the rank is the same in the world.
    relative: Box<[i32]>,
    is_world: bool,
    world_rank: c_int,
    /// Its twin at level `messages`.
    twin: OnceLock<Twin>,
}

static TABLE: [AtomicPtr<Communicator>; SLOTS] = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];
static RANKS_KEPT: AtomicU64 = AtomicU64::new(0);
static WORLD_RANK: AtomicUsize = AtomicUsize::new(usize::MAX);

fn slots(handle: Handle) -> impl Iterator<Item = &'static AtomicPtr<Communicator>> {
    let first = handle.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    (first..first + PROBES).map(|at| &TABLE[at % SLOTS])
}

/// Calls `work` with what is known of a communicator that the program passes to MPI in a call under
/// way. Returns `None` if MPI does not answer, or the table has no room.
#[inline]
pub(crate) fn with<T>(
    mpi: &Mpi,
    handle: Handle,
    work: impl FnOnce(&Communicator) -> T,
) -> Option<T> {
    get(mpi, handle).map(work)
}

/// Returns what is known of a communicator, as [`with`] passes it, for the time of the call.
#[inline]
pub(crate) fn get(mpi: &Mpi, handle: Handle) -> Option<&'static Communicator> {
    find(handle).or_else(|| insert(mpi, handle))
}

/// Returns what is known of a communicator that the program passes to MPI in a call under way.
#[inline]
pub(crate) fn find(handle: Handle) -> Option<&'static Communicator> {
    // SAFETY: a pointer in the table is valid until the program frees the communicator, which it
    // must not do while it is used in a call.
    let mut known = slots(handle).filter_map(|slot| unsafe { slot.load(Acquire).as_ref() });
    known.find(|known| known.handle == handle)
}

#[cold]
#[inline(never)]
fn insert(mpi: &Mpi, handle: Handle) -> Option<&'static Communicator> {
    let new = Box::into_raw(Box::new(Communicator::ask(mpi, handle)?));
    for slot in slots(handle) {
        if slot.compare_exchange(ptr::null_mut(), new, AcqRel, Relaxed).is_ok() {
            // SAFETY: just made, and freed with the program's communicator, as in `find`.
            return Some(unsafe { &*new });
        }
    }
    // SAFETY: made above, and in no table.
    drop(unsafe { Box::from_raw(new) });
    None
}

/// Returns the twin of a communicator that is known already.
pub(crate) fn twin(handle: Handle) -> Option<Twin> {
    find(handle).and_then(Communicator::twin)
}

/// Returns all twins.
pub(crate) fn twins() -> impl Iterator<Item = Twin> {
    // SAFETY: as in `find`.
    TABLE.iter().filter_map(|slot| unsafe { slot.load(Acquire).as_ref() }?.twin())
}

/// Forgets a communicator, before the program frees it.
pub(crate) fn forget(handle: Handle) {
    for slot in slots(handle) {
        let known = slot.load(Acquire);
        // SAFETY: as in `find`.
        let is_this = unsafe { known.as_ref() }.is_some_and(|known| known.handle == handle);
        if is_this && slot.compare_exchange(known, ptr::null_mut(), AcqRel, Relaxed).is_ok() {
            // SAFETY: it was made by `insert`, is not in the table any more, and nobody uses it, as
            // the program frees the communicator.
            let known = unsafe { Box::from_raw(known) };
            RANKS_KEPT.fetch_sub(known.relative.len() as u64, Relaxed);
        }
    }
}

impl Communicator {
    /// Asks MPI. `None` if it returns an error.
    fn ask(mpi: &Mpi, handle: Handle) -> Option<Self> {
        let (mut rank, mut size, mut inter) = (0, 0, 0);
        // SAFETY: the handle is live, and the place is valid.
        let code = unsafe { mpi.comm_rank(handle, &raw mut rank) };
        // SAFETY: as above.
        let code = code | unsafe { mpi.comm_size(handle, &raw mut size) };
        // SAFETY: as above.
        let code = code | unsafe { mpi.comm_test_inter(handle, &raw mut inter) };
        if code != 0 {
            return None;
        }
        let mut remote_size = None;
        if inter != 0 {
            let mut remote = 0;
            // SAFETY: as above.
            let code = unsafe { mpi.comm_remote_size(handle, &raw mut remote) };
            remote_size = (code == 0).then_some(remote);
        }
        let world_rank = world_rank(mpi)?;
        let is_world = handle == mpi.abi.world;
        let ranks = remote_size.unwrap_or(size);
        let relative =
            if is_world { None } else { relative(mpi, handle, ranks, inter != 0, world_rank) };
        Some(Self {
            handle,
            rank,
            size,
            remote_size,
            relative: relative.unwrap_or_default(),
            is_world,
            world_rank,
            twin: OnceLock::new(),
        })
    }

    /// Returns the rank in the world, relative to the caller's, of a rank that a message comes from
    /// or goes to.
    #[inline]
    pub(crate) fn relative(&self, rank: c_int) -> i32 {
        if self.is_world {
            return rank.wrapping_sub(self.world_rank);
        }
        let known = usize::try_from(rank).ok().and_then(|rank| self.relative.get(rank));
        known.copied().unwrap_or(ELSEWHERE)
    }

    /// Returns the twin, if the communicator has one.
    #[inline]
    pub(crate) fn twin(&self) -> Option<Twin> {
        self.twin.get().copied()
    }

    /// Keeps the twin, for as long as the program has the communicator.
    pub(crate) fn set_twin(&self, twin: Twin) {
        // A communicator that is known already has none: it is new.
        let _ = self.twin.set(twin);
    }

    /// Returns the number of ranks on the other side of a collective operation.
    pub(crate) fn others(&self) -> u64 {
        u64::from(self.remote_size.unwrap_or(self.size).unsigned_abs())
    }
}

/// Returns the caller's rank in the world.
fn world_rank(mpi: &Mpi) -> Option<c_int> {
    let known = WORLD_RANK.load(Relaxed);
    if let Ok(rank) = c_int::try_from(known) {
        return Some(rank);
    }
    let mut rank = 0;
    // SAFETY: MPI is initialised, as the program is in a call with a communicator.
    let code = unsafe { mpi.comm_rank(mpi.abi.world, &raw mut rank) };
    WORLD_RANK.store(usize::try_from(rank).ok()?, Relaxed);
    (code == 0).then_some(rank)
}

/// Returns the relative ranks in the world of all ranks of a communicator, unless they are too
/// many.
fn relative(
    mpi: &Mpi,
    handle: Handle,
    ranks: c_int,
    is_inter: bool,
    world_rank: c_int,
) -> Option<Box<[i32]>> {
    let count = u64::from(ranks.unsigned_abs());
    let reserve = |kept: u64| (kept + count <= RANKS_MAX).then_some(kept + count);
    RANKS_KEPT.fetch_update(Relaxed, Relaxed, reserve).ok()?;
    let group_of = |handle: Handle, is_remote: bool| {
        let mut group = Handle(0);
        let place = &raw mut group;
        let code = if is_remote {
            // SAFETY: the handle is live, and the place is valid.
            unsafe { mpi.comm_remote_group(handle, place) }
        } else {
            // SAFETY: as above.
            unsafe { mpi.comm_group(handle, place) }
        };
        (code == 0).then_some(group)
    };
    let free = |mut group: Handle| {
        // SAFETY: the group is ours, and is freed once.
        let _ = unsafe { mpi.group_free(&raw mut group) };
    };
    let numbers: Vec<c_int> = (0..ranks).collect();
    let mut translated = vec![0; numbers.len()];
    let translate = || {
        let group = group_of(handle, is_inter)?;
        let Some(world) = group_of(mpi.abi.world, false) else {
            free(group);
            return None;
        };
        let (from, to) = (numbers.as_ptr(), translated.as_mut_ptr());
        // SAFETY: both groups are live, and both arrays hold as many ranks.
        let code = unsafe { mpi.group_translate_ranks(group, ranks, from, world, to) };
        free(group);
        free(world);
        (code == 0).then_some(())
    };
    let is_translated = { translate }();
    if is_translated.is_none() {
        RANKS_KEPT.fetch_sub(count, Release);
        return None;
    }
    let relative = |&rank: &c_int| if rank < 0 { ELSEWHERE } else { rank - world_rank };
    Some(translated.iter().map(relative).collect())
}

/// The neighbours of a rank in a topology. A place of a buffer may belong to no neighbour: at the
/// border of a grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Neighbors {
    pub(crate) sources: u64,
    pub(crate) destinations: u64,
    pub(crate) source_places: u64,
    pub(crate) destination_places: u64,
}

/// Returns the caller's neighbours in the topology of a communicator; none if it has no topology.
pub(crate) fn neighbors(mpi: &Mpi, handle: Handle) -> Neighbors {
    let mut kind = 0;
    // SAFETY: the program uses the communicator in a call under way; the place is valid.
    let code = unsafe { mpi.topo_test(handle, &raw mut kind) };
    let [cartesian, graph, distributed] = mpi.abi.topologies;
    let number = |number: c_int| u64::from(number.unsigned_abs());
    if code != 0 {
        Neighbors::default()
    } else if kind == cartesian {
        neighbors_in_grid(mpi, handle)
    } else if kind == graph {
        let mut count = 0;
        let Some(rank) = with(mpi, handle, |known| known.rank) else {
            return Neighbors::default();
        };
        // SAFETY: the communicator has a graph, and the place is valid.
        let _ = unsafe { mpi.graph_neighbors_count(handle, rank, &raw mut count) };
        let count = number(count);
        Neighbors {
            sources: count,
            destinations: count,
            source_places: count,
            destination_places: count,
        }
    } else if kind == distributed {
        let (mut sources, mut destinations, mut is_weighted) = (0, 0, 0);
        let places = (&raw mut sources, &raw mut destinations, &raw mut is_weighted);
        // SAFETY: the communicator has a distributed graph, and the places are valid.
        let _ = unsafe { mpi.dist_graph_neighbors_count(handle, places.0, places.1, places.2) };
        let (sources, destinations) = (number(sources), number(destinations));
        let (source_places, destination_places) = (sources, destinations);
        Neighbors { sources, destinations, source_places, destination_places }
    } else {
        Neighbors::default()
    }
}

fn neighbors_in_grid(mpi: &Mpi, handle: Handle) -> Neighbors {
    let mut dimensions = 0;
    // SAFETY: the communicator has a grid, and the place is valid.
    let _ = unsafe { mpi.cartdim_get(handle, &raw mut dimensions) };
    let mut neighbors = 0;
    for dimension in 0..dimensions {
        let (mut before, mut after) = (0, 0);
        let places = (&raw mut before, &raw mut after);
        // SAFETY: as above, and the grid has that dimension.
        let _ = unsafe { mpi.cart_shift(handle, dimension, 1, places.0, places.1) };
        let is_there = |rank: &c_int| *rank != mpi.abi.proc_null;
        neighbors += [before, after].iter().filter(|rank| is_there(rank)).count() as u64;
    }
    let places = 2 * u64::from(dimensions.unsigned_abs());
    Neighbors {
        sources: neighbors,
        destinations: neighbors,
        source_places: places,
        destination_places: places,
    }
}
