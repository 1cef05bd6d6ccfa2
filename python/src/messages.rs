//! The section of a callpath's messages: keys, and for each key the ranks of a part that have it.

use crate::cursor::{Cursor, Damage};
use crate::keys;

/// The number of kinds of messages.
const KINDS: u64 = 8;
/// The number of size classes.
const SIZE_CLASSES: u64 = 65;

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

/// Adds the messages of a section.
pub(crate) fn read(
    cursor: &mut Cursor<'_>,
    first_rank: u32,
    ranks: usize,
    to: &mut Messages,
) -> Result<(), Damage> {
    let start = cursor.clone();
    let keys = keys::count(cursor)?;
    let kinds = keys::integers(cursor, keys, "the kinds of messages")?;
    let partners = keys::partners(cursor, keys)?;
    let classes = keys::integers(cursor, keys, "the size classes of messages")?;
    if kinds.iter().any(|&kind| kind >= KINDS) || classes.iter().any(|&c| c >= SIZE_CLASSES) {
        return Err(start.damage("a key of messages has a number above its limit"));
    }
    let key = |at: usize| (kinds[at], partners[at], classes[at]);
    if (1..keys).any(|at| key(at - 1) >= key(at)) {
        return Err(start.damage("the keys of messages are not in ascending order"));
    }
    let places = keys::ranks(cursor, keys, first_rank, ranks)?;
    let counts = keys::integers(cursor, places.len(), "the counts of messages")?;
    let means = keys::integers(cursor, places.len(), "the means of messages")?;
    let remainders = keys::integers(cursor, places.len(), "the remainders of messages")?;
    // Four columns of four bytes, and two of eight.
    start.charge(places.len().saturating_mul(4), "the messages")?;
    for (at, &(key, rank)) in places.iter().enumerate() {
        let bytes = means[at].checked_mul(counts[at].max(1));
        let Some(bytes) = bytes.and_then(|bytes| bytes.checked_add(remainders[at])) else {
            return Err(start.damage("the bytes of messages do not fit 64 bits"));
        };
        to.ranks.push(rank);
        to.kinds.push(u32::try_from(kinds[key]).unwrap_or(u32::MAX));
        to.partners.push(partners[key]);
        to.size_classes.push(u32::try_from(classes[key]).unwrap_or(u32::MAX));
        to.counts.push(counts[at]);
        to.bytes.push(bytes);
    }
    cursor.finish("a section")
}
