//! The keys of a section with values for each key and rank, as those of messages and of edges.
//!
//! Keys ascend, and so do the ranks of each key. After the columns of the keys themselves come
//!
//! ```text
//! number of ranks                                            one number for each key
//! gaps: rank in the part, minus the one after the rank before   one for each rank of each key
//! ```
//!
//! and then the columns of the values, in the same order as the gaps.

use std::collections::BTreeMap;

use crate::bytes::{Cursor, Malformed, Sink, column};

/// The values of each key, by rank of the part.
pub(super) type ByKey<K, V> = BTreeMap<K, Vec<(u64, V)>>;

/// Returns the values of all ranks by key.
pub(super) fn by_key<K: Ord + Copy, V: Copy>(ranks: &[&[(K, V)]]) -> ByKey<K, V> {
    let mut keys = ByKey::new();
    for (rank, records) in (0..).zip(ranks) {
        for &(key, value) in *records {
            keys.entry(key).or_insert_with(Vec::new).push((rank, value));
        }
    }
    keys
}

/// Appends the two columns with the ranks of all keys.
pub(super) fn write_ranks<K, V>(sink: &mut Sink, keys: &ByKey<K, V>) {
    let lengths: Vec<u64> = keys.values().map(|ranks| ranks.len() as u64).collect();
    column::write_u64(sink, &lengths);
    let gaps = keys.values().flat_map(|ranks| {
        let before = [0].into_iter().chain(ranks.iter().map(|(rank, _)| rank + 1));
        ranks.iter().zip(before).map(|((rank, _), next)| rank - next)
    });
    column::write_u64(sink, &gaps.collect::<Vec<_>>());
}

/// The position of a value: its key, and its rank in the part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) key: usize,
    pub(super) rank: usize,
}

/// Reads the two columns with the ranks of `keys` keys in a part of `ranks` ranks. `what` names the
/// values, for errors.
pub(super) fn read_ranks(
    cursor: &mut Cursor<'_>,
    keys: usize,
    ranks: usize,
    what: &str,
) -> Result<Vec<Position>, Malformed> {
    let start = cursor.clone();
    let of_key = column::read_u64(cursor, keys, what)?;
    let total = of_key.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    let total = total.and_then(|n| usize::try_from(n).ok()).filter(|&n| n <= column::MAX_VALUES);
    let Some(total) = total else {
        return Err(start.malformed(format!("{what} claim more ranks than can be")));
    };
    let gaps = column::read_u64(cursor, total, what)?;
    cursor.claim_temporary(total, size_of::<Position>(), what)?;
    let mut positions = Vec::with_capacity(total);
    for (key, &length) in of_key.iter().enumerate() {
        if length == 0 {
            return Err(start.malformed(format!("{what} have a key without ranks")));
        }
        let mut next = 0_u64;
        for _ in 0..length {
            let rank = next.checked_add(gaps[positions.len()]);
            let rank = rank.and_then(|rank| usize::try_from(rank).ok()).filter(|&r| r < ranks);
            let Some(rank) = rank else {
                let reason = format!("{what} are of a rank that the part does not have");
                return Err(start.malformed(reason));
            };
            next = rank as u64 + 1;
            positions.push(Position { key, rank });
        }
    }
    Ok(positions)
}

/// Returns an error unless keys ascend.
pub(super) fn check_ascending<K: Ord>(
    keys: &[K],
    cursor: &Cursor<'_>,
    what: &str,
) -> Result<(), Malformed> {
    if keys.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(cursor.malformed(format!("the keys of {what} are not in ascending order")))
}

/// Returns a small number for a number near 0 of either sign: 0, -1, 1, -2 become 0, 1, 2, 3.
pub(super) const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

/// Returns the number for which [`zigzag`] returns `number`.
pub(super) const fn un_zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// Reads a column of partners that [`zigzag`] has made.
pub(super) fn read_partners(
    cursor: &mut Cursor<'_>,
    keys: usize,
    what: &str,
) -> Result<Vec<i32>, Malformed> {
    let start = cursor.clone();
    let partners = column::read_u64(cursor, keys, what)?;
    cursor.claim_temporary(keys, size_of::<i32>(), what)?;
    let partners = partners.into_iter().map(|partner| i32::try_from(un_zigzag(partner)));
    let partners: Result<_, _> = partners.collect();
    partners.map_err(|_| start.malformed(format!("{what} do not fit 32 bits")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn small_numbers_of_either_sign_are_small(number: i64) {
            prop_assert_eq!(un_zigzag(zigzag(number)), number);
            prop_assert!(zigzag(number % 100) < 200);
        }
    }
}
