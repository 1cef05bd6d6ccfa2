//! Callpaths that a thread has visited, and what it counts for them.

use tinyprof_format::model::{CallpathId, EdgeKey, MessageEnd, MessageKey, MessageKind};

use super::Recorder;
use crate::record::{Arena, EdgeInstance, Like, Line};

/// A callpath of a thread, as a number. It stays valid while the process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callpath(pub(super) u64);

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
    pub(super) fn of(arena: &'static Arena, line: Line) -> Self {
        let page = std::ptr::from_ref(arena).addr() as u64 >> 12;
        Self(page << 32 | u64::from(line.number()))
    }
}

/// The words that tell one message from another, of the caller's choice.
pub type Signature = [u64; 4];

/// A callpath of the calling thread, the only one that may count messages for it.
#[derive(Clone, Copy, Debug)]
pub struct Visited {
    pub(super) recorder: Recorder,
    /// None if the visit was lost.
    pub(super) line: Line,
}

impl Visited {
    /// Returns the callpath as a number, which any thread may keep.
    #[must_use]
    #[inline]
    pub fn callpath(self) -> Callpath {
        if self.line.is_none() {
            return Callpath::NONE;
        }
        Callpath::of(self.recorder.arena, self.line)
    }

    /// Returns another callpath, if it is of the same thread.
    #[must_use]
    #[inline]
    pub fn elsewhere(self, callpath: Callpath) -> Option<Self> {
        self.recorder.visited(callpath)
    }

    /// Counts a transfer of `bytes` bytes. For messages, `partner` is a rank in the world, relative
    /// to the caller; for collective operations, the number of ranks.
    ///
    /// # Cost
    /// A look-up in a cache and an update of a record. No allocation on the heap.
    #[inline]
    pub fn count(self, kind: MessageKind, partner: i32, bytes: u64) {
        self.add(kind, partner, bytes);
    }

    /// Counts a transfer like one before, if that had this signature; else returns false.
    ///
    /// # Cost
    /// A comparison and an update of a record.
    #[must_use]
    #[inline(always)]
    pub fn count_again(self, signature: &Signature) -> bool {
        self.recorder.arena.add_message_again(self.line, signature)
    }

    /// Returns what is remembered of a message with this signature: one like it came before.
    ///
    /// # Cost
    /// A comparison.
    #[must_use]
    #[inline(always)]
    pub fn like(self, signature: &Signature) -> Option<Like> {
        self.recorder.arena.message_like(self.line, signature)
    }

    /// Counts a transfer like that which [`like`](Self::like) has returned for this callpath.
    #[inline(always)]
    pub fn count_like(self, like: Like) {
        self.recorder.arena.add_message_like(like);
    }

    /// Counts as [`count`](Self::count), and remembers it under its signature.
    pub fn count_as(self, signature: &Signature, kind: MessageKind, partner: i32, bytes: u64) {
        let record = self.add(kind, partner, bytes);
        if !record.is_none() {
            self.recorder.arena.remember_message(self.line, signature, record, bytes);
        }
    }

    /// Remembers that what has this signature is not counted.
    pub fn pass_over(self, signature: &Signature) {
        self.recorder.arena.remember_message(self.line, signature, Line::NONE, 0);
    }

    /// Returns the id of the callpath, [`EdgeKey::UNKNOWN`] if the visit was lost.
    ///
    /// # Cost
    /// A load; at first a walk to the root.
    #[must_use]
    #[inline]
    pub fn id(self) -> CallpathId {
        if self.line.is_none() {
            return EdgeKey::UNKNOWN;
        }
        self.recorder.arena.id_of(self.line)
    }

    /// Adds an instance of an edge to the callpath.
    ///
    /// # Cost
    /// A look-up in a cache and an update of a record: 3 to 6 ns, as much as
    /// [`count_again`](Self::count_again). No allocation on the heap.
    #[inline]
    pub fn add_edge(self, key: &EdgeKey, instance: &EdgeInstance) {
        if !self.line.is_none() {
            self.recorder.arena.add_edge(self.line, key, instance);
        }
    }

    /// Returns whether the thread may keep events now: [`keep_message`](Self::keep_message) knows.
    #[inline(always)]
    #[must_use]
    pub fn keeps_events(self) -> bool {
        self.recorder.arena.watches_visits()
    }

    /// Keeps an end of a message as an event, if the thread keeps events: of the call that is under
    /// way, or that has just ended.
    ///
    /// # Cost
    /// 25 ns.
    pub fn keep_message(self, end: &MessageEnd) {
        if !self.line.is_none() {
            self.recorder.arena.note_message(self.line, end);
        }
    }

    /// Adds waiting of `ns` ns to an edge that is due to the order of receives. It is part of the
    /// waiting of an instance that was added before, and counts no other.
    #[inline]
    pub fn add_wrong_order(self, key: &EdgeKey, ns: u64) {
        if !self.line.is_none() {
            self.recorder.arena.add_wrong_order(self.line, key, ns);
        }
    }

    #[inline]
    fn add(self, kind: MessageKind, partner: i32, bytes: u64) -> Line {
        if self.line.is_none() {
            return Line::NONE;
        }
        let key = MessageKey::new(kind, partner, bytes);
        self.recorder.arena.add_message(self.line, key, bytes)
    }
}
