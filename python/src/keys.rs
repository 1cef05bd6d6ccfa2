//! The keys of a section of messages or edges, and for each key the ranks of a part that have it.

use crate::column;
use crate::cursor::{Cursor, Damage};

/// The largest number of keys, and of the ranks of all keys.
const KEYS_MAX: u64 = 1 << 27;

/// Reads a column of `count` integers.
pub(crate) fn integers(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
) -> Result<Vec<u64>, Damage> {
    let mut values = Vec::new();
    column::integers(cursor, count, what, &mut values).map(|()| values)
}

/// Reads the number of keys.
pub(crate) fn count(cursor: &mut Cursor<'_>) -> Result<usize, Damage> {
    let limit = usize::try_from(KEYS_MAX).unwrap_or(usize::MAX);
    cursor.count(limit, "the number of keys")
}

/// Reads the partners of keys.
pub(crate) fn partners(cursor: &mut Cursor<'_>, keys: usize) -> Result<Vec<i32>, Damage> {
    let start = cursor.clone();
    let partners = integers(cursor, keys, "the partners of keys")?;
    let partners: Option<Vec<i32>> =
        partners.into_iter().map(|partner| i32::try_from(un_zigzag(partner)).ok()).collect();
    partners.ok_or_else(|| start.damage("a partner is above its limit"))
}

/// Reads the columns with the ranks of all keys. Returns the key and the rank of the run of each
/// value.
pub(crate) fn ranks(
    cursor: &mut Cursor<'_>,
    keys: usize,
    first_rank: u32,
    ranks: usize,
) -> Result<Vec<(usize, u32)>, Damage> {
    let start = cursor.clone();
    let ranks_of_keys = integers(cursor, keys, "the numbers of ranks of keys")?;
    let total = ranks_of_keys.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    let Some(total) = total.filter(|&total| total <= KEYS_MAX) else {
        return Err(start.damage("keys claim more ranks than are possible"));
    };
    let total = usize::try_from(total).unwrap_or(usize::MAX);
    let gaps = integers(cursor, total, "the ranks of keys")?;
    start.charge(total.saturating_mul(2), "the ranks of keys")?;
    let mut places = Vec::with_capacity(total);
    for (key, &length) in ranks_of_keys.iter().enumerate() {
        if length == 0 {
            return Err(start.damage("a key has no ranks"));
        }
        let mut next = 0_u64;
        for _ in 0..length {
            let rank = next.checked_add(gaps[places.len()]).filter(|&rank| rank < ranks as u64);
            let Some(rank) = rank else {
                return Err(start.damage("a key is of a rank that is not in the part"));
            };
            next = rank + 1;
            places.push((key, first_rank.saturating_add(u32::try_from(rank).unwrap_or(u32::MAX))));
        }
    }
    Ok(places)
}

/// Returns 0, -1, 1, -2, ... for 0, 1, 2, 3, ...
pub(crate) const fn un_zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}
