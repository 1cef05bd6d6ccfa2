//! What was delivered lately: for the order of messages.

use tinyprof::__calls::{Callpath, EdgeKey, EdgeKind, Visited};
use tinyprof_messages::waiting::Inversions;

/// Communicators and tags whose deliveries from any source are remembered, by a hash. A power of
/// two.
const ORDERS: usize = 64;
/// Messages whose edges are remembered: more than `WrongOrder` remembers.
const EDGES: usize = 128;

/// The latest deliveries. Each table is on the heap by itself: threads with small stacks make some,
/// too.
pub(super) struct Delivered {
    /// Receives from any source compete for messages of a communicator and tag, wherever they are
    /// posted.
    orders: Box<[(u64, Inversions)]>,
    edges: Box<[(Callpath, EdgeKey)]>,
    next: usize,
}

impl Default for Delivered {
    fn default() -> Self {
        let unknown = EdgeKey { kind: EdgeKind::Message, partner: 0, from: EdgeKey::UNKNOWN };
        Self {
            orders: vec![(0, Inversions::default()); ORDERS].into(),
            edges: vec![(Callpath::NONE, unknown); EDGES].into(),
            next: 0,
        }
    }
}

impl Delivered {
    /// Returns the order of deliveries on a communicator, by its number, of messages with a tag.
    pub(super) fn order(&mut self, communicator: u32, tag: i32) -> &mut Inversions {
        let key = u64::from(communicator) << 32 | u64::from(tag.cast_unsigned());
        let mixed = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let entry = &mut self.orders[(mixed as usize) % ORDERS];
        if entry.0 != key {
            *entry = (key, Inversions::default());
        }
        &mut entry.1
    }

    /// Remembers an edge, and returns its number.
    pub(super) fn remember(&mut self, visited: Visited, key: EdgeKey) -> u32 {
        let at = self.next;
        self.edges[at] = (visited.callpath(), key);
        self.next = (at + 1) % EDGES;
        u32::try_from(at).unwrap_or(0)
    }

    /// Returns a recent edge by its number, with the callpath that it leads to.
    pub(super) fn edge(&self, number: u32) -> (Callpath, EdgeKey) {
        self.edges[number as usize % EDGES]
    }
}
