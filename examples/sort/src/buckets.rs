//! Sorting by buckets: which rank gets which buckets, the way of the keys to it, and their order.

use std::ops::Range;

use mpi::Count;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use tinyprof::profile;

use crate::arguments::Split;
use crate::keys::{BUCKETS, bucket, first_key};

/// Sorts the keys of all ranks, and returns those that this rank has afterwards: the smallest keys
/// are on rank 0. Collective.
#[profile]
pub(crate) fn sort(world: &SimpleCommunicator, keys: &[u32], split: Split) -> Vec<u32> {
    let own = count_buckets(keys);
    let mut all = vec![0_u64; BUCKETS];
    world.all_reduce_into(&own[..], &mut all[..], SystemOperation::sum());
    let ranks = world.size().cast_unsigned() as usize;
    let firsts = first_buckets(&all, ranks, split);
    let grouped = group(keys, &own);
    let mine = exchange(world, &grouped, &own, &firsts);
    let rank = world.rank().cast_unsigned() as usize;
    rank_keys(&mine, firsts[rank]..firsts[rank + 1])
}

/// Returns how many keys are in each bucket.
#[profile]
fn count_buckets(keys: &[u32]) -> Vec<u64> {
    let mut counts = vec![0; BUCKETS];
    keys.iter().for_each(|&key| counts[bucket(key)] += 1);
    counts
}

/// Returns the first bucket of each rank, and the number of buckets.
fn first_buckets(counts: &[u64], ranks: usize, split: Split) -> Vec<usize> {
    if split == Split::Buckets {
        return (0..=ranks).map(|rank| BUCKETS * rank / ranks).collect();
    }
    let keys: u64 = counts.iter().sum();
    let mut firsts = vec![0];
    let mut before = 0;
    for (bucket, count) in counts.iter().enumerate() {
        // The rank is full: the next one begins here.
        while firsts.len() < ranks && before * ranks as u64 >= keys * firsts.len() as u64 {
            firsts.push(bucket);
        }
        before += count;
    }
    firsts.resize(ranks + 1, BUCKETS);
    firsts
}

/// Returns the keys in the order of their buckets.
#[profile]
fn group(keys: &[u32], counts: &[u64]) -> Vec<u32> {
    let mut next: Vec<usize> = Vec::with_capacity(counts.len());
    let mut sum = 0;
    for count in counts {
        next.push(sum);
        sum += usize::try_from(*count).expect("a count of keys in memory");
    }
    let mut grouped = vec![0; keys.len()];
    for &key in keys {
        let place = &mut next[bucket(key)];
        grouped[*place] = key;
        *place += 1;
    }
    grouped
}

/// Sends each key to the rank of its bucket. Collective.
#[profile]
fn exchange(
    world: &SimpleCommunicator,
    grouped: &[u32],
    counts: &[u64],
    firsts: &[usize],
) -> Vec<u32> {
    let sent: Vec<Count> = firsts
        .windows(2)
        .map(|range| counts[range[0]..range[1]].iter().sum::<u64>())
        .map(|keys| keys.try_into().expect("a rank has less than 2^31 keys"))
        .collect();
    let mut received: Vec<Count> = vec![0; sent.len()];
    world.all_to_all_into(&sent[..], &mut received[..]);
    let mut keys = vec![0; received.iter().map(|count| count.cast_unsigned() as usize).sum()];
    let (from, to) = (displacements(&sent), displacements(&received));
    let sent = Partition::new(grouped, sent, from);
    let mut received = PartitionMut::new(&mut keys[..], received, to);
    world.all_to_all_varcount_into(&sent, &mut received);
    keys
}

fn displacements(counts: &[Count]) -> Vec<Count> {
    let sums = counts.iter().scan(0, |sum, count| Some(std::mem::replace(sum, *sum + count)));
    sums.collect()
}

/// Returns the keys of these buckets in order, by counting each value.
#[profile]
fn rank_keys(keys: &[u32], buckets: Range<usize>) -> Vec<u32> {
    let (first, end) = (first_key(buckets.start), first_key(buckets.end));
    let mut counts = vec![0_usize; (end - first) as usize];
    keys.iter().for_each(|&key| counts[(key - first) as usize] += 1);
    let values = (first..end).zip(counts);
    values.flat_map(|(value, count)| std::iter::repeat_n(value, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::keys;

    #[test]
    fn each_bucket_has_one_rank_and_ranks_as_many_keys() {
        let counts = count_buckets(&keys(0..100_000));
        for (split, most) in [(Split::Keys, 26_000), (Split::Buckets, 50_000)] {
            let firsts = first_buckets(&counts, 4, split);
            assert_eq!((firsts.len(), firsts[0], firsts[4]), (5, 0, BUCKETS));
            let loads = firsts.windows(2).map(|range| counts[range[0]..range[1]].iter().sum());
            assert!(
                loads.clone().max() <= Some(most),
                "{split:?}: {:?}",
                loads.collect::<Vec<u64>>()
            );
        }
        // More ranks than keys.
        let firsts = first_buckets(&count_buckets(&keys(0..2)), 5, Split::Keys);
        assert!(firsts.is_sorted() && firsts.len() == 6 && firsts[5] == BUCKETS, "{firsts:?}");
    }

    #[test]
    fn grouping_and_ranking_sort() {
        let keys = keys(0..10_000);
        let mut expected = keys.clone();
        expected.sort_unstable();
        let grouped = group(&keys, &count_buckets(&keys));
        assert!(grouped.is_sorted_by_key(|&key| bucket(key)));
        assert_eq!(rank_keys(&grouped, 0..BUCKETS), expected);
    }
}
