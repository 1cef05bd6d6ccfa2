//! The section of a callpath's messages: keys, and for each key the ranks of a part that have it.

use crate::column;
use crate::cursor::{Cursor, Damage};

/// The number of kinds of messages.
const KINDS: u64 = 8;
/// The number of size classes.
const SIZE_CLASSES: u64 = 65;
/// The largest number of keys, and of the ranks of all keys.
const KEYS_MAX: u64 = 1 << 27;

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
    let damage = |reason: &str| Err(start.damage(reason));
    let limit = usize::try_from(KEYS_MAX).unwrap_or(usize::MAX);
    let keys = cursor.count(limit, "the number of keys of messages")?;
    let mut column = |count: usize, what: &str| {
        let mut values = Vec::new();
        column::integers(cursor, count, what, &mut values).map(|()| values)
    };
    let kinds = column(keys, "the kinds of messages")?;
    let partners = column(keys, "the partners of messages")?;
    let classes = column(keys, "the size classes of messages")?;
    let ranks_of_keys = column(keys, "the numbers of ranks of keys")?;
    let total = ranks_of_keys.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    let Some(total) = total.filter(|&total| total <= KEYS_MAX) else {
        return damage("keys of messages claim more ranks than are possible");
    };
    let total = usize::try_from(total).unwrap_or(usize::MAX);
    let gaps = column(total, "the ranks of messages")?;
    let counts = column(total, "the counts of messages")?;
    let means = column(total, "the means of messages")?;
    let remainders = column(total, "the remainders of messages")?;
    // Four columns of four bytes, and two of eight.
    start.charge(total.saturating_mul(4), "the messages")?;
    let (mut before, mut at) = (None, 0);
    for index in 0..keys {
        let (kind, class) = (kinds[index], classes[index]);
        let (true, true, Some(partner)) =
            (kind < KINDS, class < SIZE_CLASSES, un_zigzag(partners[index]))
        else {
            return damage("a key of messages has a number above its limit");
        };
        let key = Some((kind, partner, class));
        if before >= key || ranks_of_keys[index] == 0 {
            return damage("the keys of messages are not in ascending order, or one has no ranks");
        }
        before = key;
        let mut next = 0_u64;
        for _ in 0..ranks_of_keys[index] {
            let rank = next.checked_add(gaps[at]).filter(|&rank| rank < ranks as u64);
            let Some(rank) = rank else {
                return damage("a message is of a rank that is not in the part");
            };
            next = rank + 1;
            let bytes = means[at].checked_mul(counts[at].max(1));
            let Some(bytes) = bytes.and_then(|bytes| bytes.checked_add(remainders[at])) else {
                return damage("the bytes of messages do not fit 64 bits");
            };
            to.ranks.push(first_rank.saturating_add(u32::try_from(rank).unwrap_or(u32::MAX)));
            to.kinds.push(u32::try_from(kind).unwrap_or(u32::MAX));
            to.partners.push(partner);
            to.size_classes.push(u32::try_from(class).unwrap_or(u32::MAX));
            to.counts.push(counts[at]);
            to.bytes.push(bytes);
            at += 1;
        }
    }
    cursor.finish("a section")
}

/// Returns 0, -1, 1, -2, ... for 0, 1, 2, 3, ...
fn un_zigzag(number: u64) -> Option<i32> {
    let number = u32::try_from(number).ok()?;
    Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
}
