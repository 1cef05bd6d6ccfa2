//! The messages of a callpath.

use crate::keys::{Key, Limits};

/// The number of kinds of messages, and of size classes.
pub(crate) const LIMITS: Limits = (8, 65);
/// The kind of messages that are received.
const RECEIVED: u64 = 1;

/// The messages of a callpath, part by part, and in each part key by key.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    pub(crate) ranks: Vec<u32>,
    pub(crate) kinds: Vec<u32>,
    /// The partners relative to the rank, or the number of ranks of a collective operation.
    pub(crate) partners: Vec<i32>,
    pub(crate) size_classes: Vec<u32>,
    pub(crate) counts: Vec<u64>,
    pub(crate) bytes: Vec<u64>,
}

impl Messages {
    pub(crate) fn push(&mut self, rank: u32, key: &Key, count: u64, bytes: u64) {
        self.ranks.push(rank);
        self.kinds.push(u32::try_from(key.kind).unwrap_or(u32::MAX));
        self.partners.push(key.partner);
        self.size_classes.push(u32::try_from(key.third).unwrap_or(u32::MAX));
        self.counts.push(count);
        self.bytes.push(bytes);
    }
}

/// Returns whether a key is of messages received.
pub(crate) const fn is_received(key: &Key) -> bool {
    key.kind == RECEIVED
}

/// Returns the bytes of `count` messages from their mean and remainder; none above 64 bits.
pub(crate) fn bytes(count: u64, mean: u64, remainder: u64) -> Option<u64> {
    mean.checked_mul(count.max(1))?.checked_add(remainder)
}
