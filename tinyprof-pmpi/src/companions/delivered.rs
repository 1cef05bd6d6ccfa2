//! What was delivered lately: for the order of messages.

use tinyprof::__calls::{Callpath, CallpathId, EdgeKey, EdgeKind, Visited};
use tinyprof_messages::waiting::Inversions;

/// Callpaths whose deliveries from any source are remembered, by a hash. A power of two.
const NODES: usize = 64;
/// Messages whose edges are remembered: more than `WrongOrder` remembers.
const EDGES: usize = 128;

/// What was delivered lately.
pub(super) struct Delivered {
    orders: [(CallpathId, Inversions); NODES],
    edges: [(Callpath, EdgeKey); EDGES],
    next: usize,
}

impl Default for Delivered {
    fn default() -> Self {
        let unknown = EdgeKey { kind: EdgeKind::Message, partner: 0, from: EdgeKey::UNKNOWN };
        Self {
            orders: [(EdgeKey::UNKNOWN, Inversions::default()); NODES],
            edges: [(Callpath::NONE, unknown); EDGES],
            next: 0,
        }
    }
}

impl Delivered {
    pub(super) fn order(&mut self, callpath: CallpathId) -> &mut Inversions {
        let mixed = callpath.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let entry = &mut self.orders[(mixed as usize) % NODES];
        if entry.0 != callpath {
            *entry = (callpath, Inversions::default());
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

    /// Returns the edge with a number of late, and the callpath that it leads to.
    pub(super) fn edge(&self, number: u32) -> (Callpath, EdgeKey) {
        self.edges[number as usize % EDGES]
    }
}
