//! The communicators of the program: their sizes, and the ranks of their members in the world.
//!
//! A communicator is looked up in a table without locks. What is known of one is made on its first
//! use. When the program frees it, its handle may soon name another one, but receives that were
//! posted on it may still be open (MPI 4.0, section 7.4.3). So their requests refer to what was
//! known, which is kept for them, and MPI is never asked about a handle that is not an argument of
//! the call under way.

mod freed;
mod groups;
mod made;
mod neighbors;
mod places;

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use tinyprof::__calls::undisturbed;

use crate::abi::Handle;
use crate::library::Mpi;
use crate::table::Table;

pub(crate) use freed::drop_unused;
pub(crate) use made::Made;
pub(crate) use neighbors::neighbors;

/// Slots in the table.
const SLOTS: usize = 8192;

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
    /// The number of its board, if it has one in shared memory.
    pub(crate) board: Option<u32>,
}

/// A communicator in use.
#[derive(Debug)]
pub(crate) struct Communicator {
    /// A number that no other communicator has had, and no handle has.
    pub(crate) serial: u64,
    /// The caller's rank.
    pub(crate) rank: c_int,
    /// The number of ranks in the local group.
    pub(crate) size: c_int,
    /// The number of ranks in the remote group of an intercommunicator.
    pub(crate) remote_size: Option<c_int>,
    /// The ranks in the world, relative to the caller, by rank in the communicator: of the remote
    /// group for an intercommunicator. Empty if the rank is the same in the world.
    relative: Box<[i32]>,
    /// The ranks in the world of the local group of an intercommunicator, relative to the caller.
    /// Empty for others.
    local: Box<[i32]>,
    /// True if the lowest rank of the world belongs to the remote group.
    is_remote_first: bool,
    is_world: bool,
    world_rank: c_int,
    /// Its twin at level `messages`.
    twin: OnceLock<Twin>,
    /// What was made from it at level `messages`.
    pub(crate) made: Made,
    /// The ranks whose data the caller gets from operations with neighbours, once it has taken part
    /// in one at level `messages`.
    sources: OnceLock<Box<[u32]>>,
    /// True once the program has freed it.
    is_freed: AtomicBool,
}

static KNOWN: Table<Communicator, SLOTS> = Table::new();
static NEXT_SERIAL: AtomicU64 = AtomicU64::new(0);
/// A bit that no address has, and no number of MPICH.
const NO_HANDLE: u64 = 1 << 63;
static WORLD_RANK: AtomicUsize = AtomicUsize::new(usize::MAX);

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

/// Returns what is known of a communicator, as [`with`] passes it. It is valid for the time of the
/// call, and for as long as a request refers to it.
#[inline]
pub(crate) fn get(mpi: &Mpi, handle: Handle) -> Option<&'static Communicator> {
    find(handle).or_else(|| insert(mpi, handle))
}

/// Returns what is known already of a communicator that the program passes to MPI in a call under
/// way.
#[inline]
pub(crate) fn find(handle: Handle) -> Option<&'static Communicator> {
    // SAFETY: under this key there is a pointer from `insert`, valid until the program frees the
    // communicator, which it must not do while it is used in a call, and longer if a request refers
    // to it.
    unsafe { KNOWN.find(handle).as_ref() }
}

#[cold]
#[inline(never)]
fn insert(mpi: &Mpi, handle: Handle) -> Option<&'static Communicator> {
    // Maps of Rust's library ask the system for random numbers.
    let new = undisturbed(|| KNOWN.insert(handle, Communicator::ask(mpi, handle)?))?;
    // SAFETY: just made, and valid as in `find`.
    Some(unsafe { &*new })
}

/// Returns all twins. No other thread may free a communicator meanwhile.
pub(crate) fn twins() -> impl Iterator<Item = Twin> {
    // SAFETY: as in `find`, as the caller says.
    KNOWN.all().filter_map(|known| unsafe { known.as_ref() }?.twin())
}

/// Forgets a communicator, before the program frees it. What is known of it stays for the requests
/// that refer to it.
pub(crate) fn forget(handle: Handle) {
    // Two threads may have made it known at a time.
    while let Some(known) = KNOWN.take(handle) {
        freed::keep(known);
    }
}

impl Communicator {
    /// Asks MPI. `None` if it returns an error.
    fn ask(mpi: &Mpi, handle: Handle) -> Option<Self> {
        let (mut rank, mut size, mut inter) = (0, 0, 0);
        // SAFETY: the handle is live, and the place is valid.
        let code = unsafe { mpi.comm_rank(handle, &raw mut rank) };
        // SAFETY: the handle is live, and the place is valid.
        let code = code | unsafe { mpi.comm_size(handle, &raw mut size) };
        // SAFETY: the handle is live, and the place is valid.
        let code = code | unsafe { mpi.comm_test_inter(handle, &raw mut inter) };
        if code != 0 {
            return None;
        }
        let mut remote_size = None;
        if inter != 0 {
            let mut remote = 0;
            // SAFETY: the handle is live, and the place is valid.
            let code = unsafe { mpi.comm_remote_size(handle, &raw mut remote) };
            remote_size = (code == 0).then_some(remote);
        }
        let world_rank = world_rank(mpi)?;
        let is_world = handle == mpi.abi.world;
        let ranks = remote_size.unwrap_or(size);
        let relative_of =
            |ranks, is_remote| groups::relative(mpi, handle, ranks, is_remote, world_rank);
        let relative = if is_world { None } else { relative_of(ranks, inter != 0) };
        let local = if inter != 0 { relative_of(size, false) } else { None };
        let (relative, local) = (relative.unwrap_or_default(), local.unwrap_or_default());
        Some(Self {
            serial: NO_HANDLE | NEXT_SERIAL.fetch_add(1, Relaxed),
            rank,
            size,
            remote_size,
            is_remote_first: relative.iter().min() < local.iter().min(),
            relative,
            local,
            is_world,
            world_rank,
            twin: OnceLock::new(),
            made: Made::default(),
            sources: OnceLock::new(),
            is_freed: AtomicBool::new(false),
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

    /// Returns the ranks in the world of all ranks of a communicator in their order, of the remote
    /// group for an intercommunicator: `None` for one that is none. `None` for all if they are too
    /// many to be kept.
    pub(crate) fn world_ranks(&self) -> Option<impl Iterator<Item = Option<i32>>> {
        if !self.is_world && self.relative.is_empty() {
            return None;
        }
        let world = self.is_world.then_some((0..self.size).map(Some));
        Some(world.into_iter().flatten().chain(self.in_world(&self.relative)))
    }

    /// Returns the ranks in the world of the local group of an intercommunicator, as
    /// [`world_ranks`](Self::world_ranks).
    pub(crate) fn local_world_ranks(&self) -> Option<impl Iterator<Item = Option<i32>>> {
        (!self.local.is_empty()).then(|| self.in_world(&self.local))
    }

    fn in_world(&self, relative: &[i32]) -> impl Iterator<Item = Option<i32>> {
        relative.iter().map(|&relative| match relative {
            ELSEWHERE => None,
            relative => Some(self.world_rank + relative),
        })
    }

    /// Returns whether all ranks of another communicator belong to this one. If the ranks of one of
    /// them are too many to be kept, they are taken to.
    pub(crate) fn includes(&self, other: &Self) -> bool {
        if self.remote_size.is_some() || other.remote_size.is_some() {
            // The groups of both communicators are parts of each other.
            return true;
        }
        if self.is_world || other.relative.is_empty() || self.relative.is_empty() {
            return !other.relative.contains(&ELSEWHERE);
        }
        let mut own = self.relative.clone();
        own.sort_unstable();
        other.relative.iter().all(|rank| own.binary_search(rank).is_ok())
    }

    /// Returns the twin, if the communicator has one. It is freed with the communicator.
    #[inline]
    pub(crate) fn twin(&self) -> Option<Twin> {
        self.twin.get().copied().filter(|_| !self.is_freed.load(Relaxed))
    }

    /// Returns whether the communicator had a twin, and the program has freed it.
    pub(crate) fn has_lost_twin(&self) -> bool {
        self.twin.get().is_some() && self.is_freed.load(Relaxed)
    }

    /// Keeps the twin, for as long as the program has the communicator.
    pub(crate) fn set_twin(&self, twin: Twin) {
        // A communicator that is known already has none: it is new.
        let _ = self.twin.set(twin);
    }

    /// Returns whether there is a rank of this number to send to.
    #[inline]
    pub(crate) fn has(&self, rank: c_int) -> bool {
        (0..self.remote_size.unwrap_or(self.size)).contains(&rank)
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

impl Communicator {
    /// Returns the ranks of the communicator for a window or a file, which stays when the program
    /// frees the communicator. `None` if they are too many to be kept.
    pub(crate) fn for_object(&self) -> Option<Self> {
        groups::reserve((self.relative.len() + self.local.len()) as u64)?;
        Some(Self {
            serial: NO_HANDLE | NEXT_SERIAL.fetch_add(1, Relaxed),
            relative: self.relative.clone(),
            local: self.local.clone(),
            twin: OnceLock::new(),
            made: Made::default(),
            sources: OnceLock::new(),
            is_freed: AtomicBool::new(false),
            ..*self
        })
    }
}

#[cfg(test)]
impl Communicator {
    /// Returns a communicator of this many ranks, which MPI does not know.
    fn of_test(world_rank: c_int, size: c_int) -> Self {
        Self {
            serial: NO_HANDLE,
            rank: 0,
            size,
            remote_size: None,
            relative: Box::default(),
            local: Box::default(),
            is_remote_first: false,
            is_world: false,
            world_rank,
            twin: OnceLock::new(),
            made: Made::default(),
            sources: OnceLock::new(),
            is_freed: AtomicBool::new(false),
        }
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        groups::give_back((self.relative.len() + self.local.len()) as u64);
    }
}
