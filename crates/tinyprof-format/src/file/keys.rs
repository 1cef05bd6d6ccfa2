//! Records of messages and edges by their keys, and numbers near 0.

use std::collections::BTreeMap;

pub(super) use tinyprof_segment::words::{un_zigzag, zigzag};

/// Returns the memory that a map of a rank needs for another record: a node has room for eleven, is
/// at least half full, and has parents.
pub(super) const fn memory_of<K, V>(is_first: bool) -> usize {
    if is_first { 11 * size_of::<(K, V)>() + 16 } else { 3 * size_of::<(K, V)>() }
}

/// Returns the records of a rank at one callpath, in the order of their keys.
pub(super) fn records<K: Copy, V: Copy>(map: &BTreeMap<K, V>) -> Vec<(K, V)> {
    map.iter().map(|(&key, &value)| (key, value)).collect()
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
