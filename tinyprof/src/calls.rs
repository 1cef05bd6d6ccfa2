//! The interface for wrappers of MPI's functions (`tinyprof-pmpi`). Not for use by hand: it changes
//! without notice.

use tinyprof_format::model::MessageKey;
pub use tinyprof_format::model::MessageKind;
use tinyprof_segment::words::low;

use crate::collect::start::start_recording;
pub use crate::record::Site;
use crate::record::thread;
use crate::record::{Arena, Line, Visit, call_site, has_regions, program};

/// A call that is open. Dropping it ends the visit.
#[derive(Debug)]
#[must_use = "a call that is dropped at once has no time"]
pub struct Open {
    arena: Option<&'static Arena>,
    visit: Visit,
}

/// Opens a visit of `function`, below the innermost open region.
///
/// Outside of all regions, and in a program that has none, it is a visit of the function at its
/// call site: `address` is what the call returns to. `index` is that of the function among all,
/// below 2^16.
///
/// # Cost
/// As a region.
#[inline]
pub fn open(function: &'static Site, index: usize, address: usize) -> Open {
    let Some(arena) = thread::arena_or_attach(start_recording) else {
        return Open { arena: None, visit: Visit::LOST };
    };
    let visit = if has_regions() && !arena.is_outside_of_regions() {
        arena.enter(function)
    } else {
        // An address has 48 bits.
        let key = address as u64 ^ (index as u64 + 1) << 48;
        arena.enter_call(key, || call_site(function, address))
    };
    Open { arena: Some(arena), visit }
}

/// Opens the region of the whole program, which stays open to its end, if the program has no
/// regions of its own.
pub fn open_program() {
    if has_regions() {
        return;
    }
    if let Some(arena) = thread::arena_or_attach(start_recording)
        && arena.is_outside_of_regions()
        && let Some(program) = program()
    {
        arena.enter(program);
    }
}

impl Open {
    /// Ends the visit, and returns the callpath that it was of.
    #[inline]
    #[must_use]
    pub fn end(self) -> Callpath {
        let callpath = match (self.arena, self.visit.node()) {
            (Some(arena), Some(line)) => Callpath::of(arena, line),
            _ => Callpath::NONE,
        };
        drop(self);
        callpath
    }
}

impl Drop for Open {
    #[inline]
    fn drop(&mut self) {
        if let (Some(arena), Some(line)) = (self.arena, self.visit.to_leave()) {
            arena.exit(line);
        }
    }
}

/// A callpath of a thread, to count messages for. It stays valid while the process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callpath(u64);

impl Callpath {
    /// No callpath: what is counted for it is dropped.
    pub const NONE: Self = Self(0);

    /// Returns the callpath as a number.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// Returns the callpath with that number.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The high half tells arenas apart: they are in pages of their own.
    #[inline]
    fn of(arena: &'static Arena, line: Line) -> Self {
        let page = std::ptr::from_ref(arena).addr() as u64 >> 12;
        Self(page << 32 | u64::from(line.number()))
    }

    /// Returns whether it is a callpath of the calling thread, the only one that may count for it.
    #[must_use]
    #[inline]
    pub fn is_of_this_thread(self) -> bool {
        thread::arena().is_some_and(|arena| self.is_of(arena))
    }

    #[inline]
    fn is_of(self, arena: &'static Arena) -> bool {
        self.0 != 0 && Self::of(arena, Line::NONE).0 == self.0 >> 32 << 32
    }

    #[inline]
    fn line(self) -> Line {
        Line::from_number(low(self.0))
    }
}

/// Counts a message that cannot be recorded. Rare.
#[cold]
pub fn lose_message() {
    if let Some(arena) = thread::arena() {
        arena.lose_message();
    }
}

/// Counts a transfer of `bytes` bytes for a callpath of this thread. For messages, `partner` is a
/// rank in the world, relative to the caller; for collective operations, the number of ranks.
///
/// # Cost
/// A look-up in a cache and an update of a record. No allocation on the heap.
#[inline]
pub fn count(callpath: Callpath, kind: MessageKind, partner: i32, bytes: u64) {
    if let Some(arena) = thread::arena().filter(|arena| callpath.is_of(arena)) {
        arena.add_message(callpath.line(), MessageKey::new(kind, partner, bytes), bytes);
    }
}
