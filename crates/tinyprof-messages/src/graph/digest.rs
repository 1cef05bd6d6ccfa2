//! Digests of structures.

use super::{NodeKey, NodeKind};

/// A digest of words, good enough to tell the structures of a program's ranks apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digest(pub(super) u64);

impl Digest {
    pub(super) fn new(kind: u64) -> Self {
        Self(0xcbf2_9ce4_8422_2325).word(kind)
    }

    pub(super) fn word(self, word: u64) -> Self {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(17))
    }

    pub(super) fn key(self, key: &NodeKey) -> Self {
        let kind = match key.kind {
            NodeKind::Begin => 0,
            NodeKind::LoopEntry => 1,
            NodeKind::LoopExit => 2,
            NodeKind::Other => 3,
            NodeKind::End => 4,
            NodeKind::Call(function) => 5 + u64::from(function),
        };
        self.word(key.callpath).word(kind)
    }
}
