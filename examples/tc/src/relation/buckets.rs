//! Ownership of tuples by rank: buckets by the column of the join, and sub-buckets by the other
//! columns where a bucket is long.
//!
//! ```text
//! tuple [y, x]    bucket = hash(y) mod B       sub-bucket = hash(x) mod S[bucket]
//! rank            (bucket + sub-bucket) mod P
//! ```
//!
//! All tuples with the same y are in one bucket, so a join looks nowhere else. A vertex with very
//! many edges makes its bucket long, and that bucket is split into sub-buckets on neighbouring
//! ranks (Kumar and Gilray, ISC 2020).

use super::Tuple;

/// Buckets per rank: enough for even lengths, if no vertex dominates.
const BUCKETS_PER_RANK: usize = 8;

/// The distribution of a relation over the ranks. Equal on every rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Buckets {
    ranks: usize,
    /// Number of sub-buckets of each bucket: at least one, and at most the number of ranks.
    sub_buckets: Vec<usize>,
}

impl Buckets {
    /// Returns buckets that all have a single sub-bucket.
    pub(crate) fn new(ranks: usize) -> Self {
        Self { ranks, sub_buckets: vec![1; ranks * BUCKETS_PER_RANK] }
    }

    pub(crate) fn count(&self) -> usize {
        self.sub_buckets.len()
    }

    /// Returns the bucket of all tuples with this value in column 0.
    pub(crate) fn bucket(&self, key: u32) -> usize {
        within(hash([key]), self.count())
    }

    /// Returns the rank that owns a tuple.
    pub(crate) fn owner<const N: usize>(&self, tuple: &Tuple<N>) -> usize {
        let bucket = self.bucket(tuple[0]);
        let sub_bucket = within(hash(tuple[1..].iter().copied()), self.sub_buckets[bucket]);
        (bucket + sub_bucket) % self.ranks
    }

    /// Returns the ranks that own tuples with this value in column 0.
    pub(crate) fn owners(&self, key: u32) -> impl Iterator<Item = usize> + '_ {
        let bucket = self.bucket(key);
        (0..self.sub_buckets[bucket]).map(move |sub_bucket| (bucket + sub_bucket) % self.ranks)
    }

    /// Returns buckets split in halves until no sub-bucket is longer than `longest`, as far as
    /// splitting helps. `lengths` are those of the buckets over all ranks. Returns `None` if
    /// nothing is to be split.
    pub(crate) fn split(&self, lengths: &[u64], longest: u64) -> Option<Self> {
        let mut split = self.clone();
        for (sub_buckets, &length) in split.sub_buckets.iter_mut().zip(lengths) {
            while length > longest.saturating_mul(*sub_buckets as u64) && *sub_buckets < self.ranks
            {
                *sub_buckets = (*sub_buckets * 2).min(self.ranks);
            }
        }
        (split != *self).then_some(split)
    }
}

/// Hashes some columns: the finaliser of `SplitMix64` over each.
fn hash(columns: impl IntoIterator<Item = u32>) -> u64 {
    columns.into_iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, column| {
        let mut z = hash.wrapping_add(u64::from(column)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 32)
    })
}

/// Returns a number below `count`, from the high bits of a hash.
fn within(hash: u64, count: usize) -> usize {
    let product = u128::from(hash) * count as u128;
    usize::try_from(product >> 64).expect("it is below a count")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_long_bucket_is_split_and_no_other() {
        let buckets = Buckets::new(4);
        let mut lengths = vec![10; buckets.count()];
        assert_eq!(buckets.split(&lengths, 10), None);
        lengths[3] = 21;
        let split = buckets.split(&lengths, 10).unwrap();
        assert_eq!(split.sub_buckets[3], 4);
        assert_eq!(split.sub_buckets.iter().sum::<usize>(), buckets.count() + 3);
        lengths[3] = 1_000;
        assert_eq!(split.split(&lengths, 10), None, "there are no more ranks to share it");
    }

    #[test]
    fn keys_are_spread_evenly() {
        let buckets = Buckets::new(4);
        let mut of_rank = [0; 4];
        (0..40_000).for_each(|key| of_rank[buckets.owner(&[key, 7])] += 1);
        assert!(of_rank.iter().all(|&n| (9_000..11_000).contains(&n)), "{of_rank:?}");
    }

    proptest! {
        #[test]
        fn the_owner_of_a_tuple_is_one_of_its_key(ranks in 1_usize..9, lengths in 0_u64..99, tuple: [u32; 3]) {
            let buckets = Buckets::new(ranks);
            let buckets = buckets.split(&vec![lengths; buckets.count()], 10).unwrap_or(buckets);
            let owners: Vec<usize> = buckets.owners(tuple[0]).collect();
            prop_assert!(owners.contains(&buckets.owner(&tuple)));
            prop_assert!(owners.iter().all(|&rank| rank < ranks));
        }
    }
}
