//! The keys: those of NAS IS in kind, means of four uniform numbers, so that most are in the
//! middle.

use std::ops::Range;

/// Keys have this many bits, and buckets the highest of them.
pub(crate) const KEY_BITS: u32 = 19;
const BUCKET_BITS: u32 = 10;

pub(crate) const BUCKETS: usize = 1 << BUCKET_BITS;

/// Returns the keys with these numbers. A key depends on its number alone, so that all runs sort
/// the same keys, on any number of ranks.
pub(crate) fn keys(numbers: Range<u64>) -> Vec<u32> {
    numbers.map(key).collect()
}

/// Returns the keys of a rank, of `keys` in all.
pub(crate) fn numbers(keys: u64, rank: u32, ranks: u32) -> Range<u64> {
    let first = |rank| keys * u64::from(rank) / u64::from(ranks);
    first(rank)..first(rank + 1)
}

fn key(number: u64) -> u32 {
    let word = mix(number);
    let uniform = |part: u32| {
        let bits = (word >> (16 * part)) & 0xffff;
        u32::try_from(bits).expect("16 bits") << (KEY_BITS - 16)
    };
    (0..4).map(uniform).sum::<u32>() / 4
}

/// Mixes the bits of a word (the finalizer of `SplitMix64`).
fn mix(number: u64) -> u64 {
    let mut word = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

pub(crate) fn bucket(key: u32) -> usize {
    (key >> (KEY_BITS - BUCKET_BITS)) as usize
}

/// Returns the first key of a bucket.
pub(crate) fn first_key(bucket: usize) -> u32 {
    u32::try_from(bucket).expect("few buckets") << (KEY_BITS - BUCKET_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_share_all_keys_and_most_are_in_the_middle() {
        let parts: Vec<u32> = (0..3).flat_map(|rank| keys(numbers(1_000, rank, 3))).collect();
        assert_eq!(parts, keys(0..1_000));
        assert!(parts.iter().all(|&key| key < 1 << KEY_BITS));
        let middle = parts.iter().filter(|&&key| (1 << 17..3 << 17).contains(&key)).count();
        assert!(middle > 800, "{middle}");
    }
}
