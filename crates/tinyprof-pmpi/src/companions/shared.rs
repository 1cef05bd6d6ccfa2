//! Companions in memory that the ranks of a host share: nothing of ours travels by MPI.
//!
//! A companion is written before its message is sent, and is there when the message has come.
//! Nobody waits for it, and MPI need not know of it.

mod board;
mod lane;
mod layout;
mod memory;
mod names;
mod notice;

use std::ffi::c_int;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use tinyprof_messages::meeting::Meeting;
use tinyprof_messages::ways::Hints;

use super::group::{maxima, rank_and_size, split};
use crate::abi::Handle;
use crate::communicators::{self, Twin};
use crate::library::Mpi;
use board::{Board, Instance};
use layout::Layout;
use memory::{Made, Place};
use names::{BOARDS, Names};

pub(super) use board::{Part, Read};
pub(crate) use lane::Expected;
pub(super) use lane::{Answer, Heard, Incoming, OpenEntry, Outgoing, Which};
pub(super) use notice::{ALL, Notice, Notices};

/// The memory, for all threads of the process.
static LAYOUT: OnceLock<Layout> = OnceLock::new();

/// The lanes of this rank, which one thread uses at a time.
#[derive(Debug)]
pub(super) struct Lanes {
    /// The ranks at the other ends, relative to this one in the world. Empty if they are all ranks
    /// of the world.
    others: Box<[i32]>,
    rank: usize,
    layout: Layout,
    outgoing: Box<[Outgoing]>,
    incoming: Box<[Incoming]>,
}

/// Shares memory with all ranks of the world, which run on one host, for boards too. Returns the
/// lanes of this rank; `None` on all ranks if one of them cannot see the memory. Collective over
/// the world.
pub(super) fn begin(mpi: &Mpi) -> Option<Lanes> {
    let (layout, rank, ranks) = share(mpi, mpi.abi.world)?;
    LAYOUT.get_or_init(|| layout);
    Some(Lanes::new(&layout, rank, ranks, Box::default()))
}

/// Shares memory with the ranks of the world that run on the host of rank `first`, as this one
/// does. Otherwise as [`begin`]. Collective over the world, and without boards.
pub(super) fn begin_on_host(mpi: &Mpi, first: c_int) -> Option<Lanes> {
    let mut group = split(mpi, mpi.abi.world, first)?;
    let others = communicators::with(mpi, group, |known| {
        (0..known.size).map(|rank| known.relative(rank)).collect::<Box<_>>()
    });
    communicators::forget(group);
    let lanes = share(mpi, group).zip(others);
    // SAFETY: the group is ours, and nobody uses it any more.
    let _ = unsafe { mpi.comm_free(&raw mut group) };
    lanes.map(|((layout, rank, ranks), others)| Lanes::new(&layout, rank, ranks, others))
}

/// Shares memory with all ranks of a communicator. Returns it with the caller's rank and the number
/// of ranks; `None` on all if one of them cannot see it. Collective over the communicator.
fn share(mpi: &Mpi, group: Handle) -> Option<(Layout, usize, usize)> {
    let (rank, ranks) = rank_and_size(mpi, group);
    let (rank, ranks) = (rank.unsigned_abs() as usize, ranks.unsigned_abs() as usize);
    let words = Layout::words(ranks);

    let made = if rank == 0 { Made::new(words).ok() } else { None };
    let own = made.as_ref().map_or([0; 3], |made| {
        // A process of another container may find another file at that place.
        let token = RandomState::new().hash_one(0) >> 1 | 1;
        Layout::new(made.words, ranks).token().store(token, Relaxed);
        let [process, file] = made.place().to_words();
        [token, process, file]
    });
    // All others say 0.
    let [token, process, file] = maxima(mpi, group, &own)?;
    let memory = match &made {
        Some(made) => Some(made.words),
        None if token == 0 => None,
        None => memory::open(Place::from_words([process, file]), words).ok(),
    };
    let layout = memory.map(|words| Layout::new(words, ranks));
    let layout = layout.filter(|layout| layout.token().load(Relaxed) == token);
    let [is_missing] = maxima(mpi, group, &[u64::from(layout.is_none())])?;
    let layout = layout.filter(|_| is_missing == 0)?;
    Some((layout, rank, ranks))
}

/// Returns whether all ranks of the world share memory.
pub(super) fn is_on() -> bool {
    LAYOUT.get().is_some()
}

/// Returns the notices of all ranks of the world, if they share memory.
pub(super) fn notices() -> Option<Notices> {
    LAYOUT.get().map(Layout::notices)
}

/// Returns the twin of the communicator that all its ranks know by `name`, see [`Names`]. `None` if
/// they have no memory in common, or this rank has no name for it, or there is no room.
pub(super) fn join(mpi: &Mpi, name: Option<u64>) -> Option<Twin> {
    let names = LAYOUT.get()?.names();
    let Some(named) = name.and_then(|name| names.join(name)) else {
        names.break_up();
        return None;
    };
    if let Some(board) = named.board {
        BEGUN[board as usize].store(0, Relaxed);
    }
    let (number, epoch, board) = (named.place, named.epoch, named.board);
    Some(Twin { handle: mpi.abi.comm_null, number, epoch, board })
}

/// Notes that this rank has freed a communicator of this many ranks.
pub(super) fn leave(twin: &Twin, ranks: u32) {
    if let Some(layout) = LAYOUT.get() {
        layout.names().leave(twin.number, ranks);
    }
}

/// The operations that this rank has begun on each board's communicator.
static BEGUN: [AtomicU32; BOARDS as usize] = [const { AtomicU32::new(0) }; BOARDS as usize];

/// Begins an operation: the next on the communicator, as on all its ranks.
pub(super) fn begin_operation(twin: &Twin) -> Option<Operation> {
    LAYOUT.get()?;
    // The program does not begin two on one communicator at the same time.
    let number = BEGUN[twin.board? as usize].fetch_add(1, Relaxed).wrapping_add(1);
    Operation::of(twin, number)
}

/// Notes that the last operation of this rank on a communicator has not begun after all.
pub(super) fn end_of_no_operation(twin: &Twin) {
    if let Some(board) = twin.board {
        BEGUN[board as usize].fetch_sub(1, Relaxed);
    }
}

/// A collective operation that this rank takes part in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    board: Board,
    names: Names,
    instance: Instance,
}

impl Operation {
    /// Returns the operation of this number on a communicator, if it has a board.
    pub(super) fn of(twin: &Twin, number: u32) -> Option<Self> {
        let layout = LAYOUT.get()?;
        let board = layout.board(twin.board?);
        let instance = Instance { epoch: twin.epoch, number };
        Some(Self { board, names: layout.names(), instance })
    }

    /// Returns the number of the operation on its communicator.
    pub(super) fn number(&self) -> u32 {
        self.instance.number
    }

    /// Tells the others when this rank has entered, and what it knows of the ways of such
    /// operations.
    #[inline]
    pub(super) fn enter(&self, own: &Meeting, hints: Hints) {
        self.board.write(self.instance, own, hints);
    }

    /// Returns what one rank has told, when the operation has ended.
    #[inline]
    pub(super) fn part(&self, rank: u32) -> Part {
        if self.names.is_broken() { Part::Lost } else { self.board.part(self.instance, rank) }
    }

    /// Returns what others have told, when the operation has ended.
    #[inline]
    pub(super) fn others(&self, ranks: impl IntoIterator<Item = u32>) -> Read {
        if self.names.is_broken() {
            return Read::Lost;
        }
        self.board.read(self.instance, ranks)
    }
}

impl Lanes {
    fn new(layout: &Layout, rank: usize, ranks: usize, others: Box<[i32]>) -> Self {
        Self {
            others,
            rank,
            layout: *layout,
            outgoing: (0..ranks).map(|to| Outgoing::new(layout.lane(rank, to))).collect(),
            incoming: (0..ranks).map(|from| Incoming::new(layout.lane(from, rank))).collect(),
        }
    }

    /// Returns the place of a lane by the rank at its other end, relative to this one in the world;
    /// `None` if there is no lane to it.
    #[inline]
    fn place(&self, relative: i32) -> Option<usize> {
        if self.others.is_empty() {
            let place = self.rank.wrapping_add_signed(relative as isize);
            return (place < self.outgoing.len()).then_some(place);
        }
        self.others.iter().position(|other| *other == relative)
    }

    /// Returns the lane to a rank.
    #[inline]
    pub(super) fn to(&mut self, relative: i32) -> Option<&mut Outgoing> {
        let place = self.place(relative)?;
        Some(&mut self.outgoing[place])
    }

    /// Returns the lane from a rank.
    #[inline]
    pub(super) fn from(&mut self, relative: i32) -> Option<&mut Incoming> {
        let place = self.place(relative)?;
        Some(&mut self.incoming[place])
    }

    /// Returns the moment from which the ranks of the host count, which is that of the first
    /// caller, in ns.
    pub(super) fn origin_ns(&self, now_ns: u64) -> u64 {
        self.layout.origin_ns(now_ns)
    }

    /// Returns the words in which a rank keeps why it waits.
    pub(super) fn block(&self, relative: i32) -> Option<&'static [AtomicU64]> {
        self.place(relative).map(|place| self.layout.block(place))
    }

    /// Returns the number of ranks that there are lanes to, with this one.
    pub(super) fn ranks(&self) -> usize {
        self.outgoing.len()
    }

    /// Returns whether a rank has taken all companions to it.
    pub(super) fn is_taken(&self, relative: i32) -> bool {
        self.place(relative).is_none_or(|place| self.outgoing[place].is_empty())
    }

    /// Returns how many companions have come and not been taken.
    pub(super) fn left(&self) -> u64 {
        self.incoming.iter().map(Incoming::left).sum()
    }

    /// Returns this rank in the world, if there are lanes to all others.
    pub(super) fn rank(&self) -> Option<usize> {
        self.others.is_empty().then_some(self.rank)
    }

    /// Drops the companions of a communicator that nobody has taken.
    pub(super) fn forget(&mut self, epoch: u32) {
        self.incoming.iter_mut().for_each(|lane| lane.forget(epoch));
    }
}
