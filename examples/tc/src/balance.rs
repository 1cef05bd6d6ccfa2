//! Splits buckets that have grown long, so that a vertex with very many edges does not make one
//! rank slow.

use tinyprof::profile;

use crate::exchange::{Outbox, exchange};
use crate::ranks::Ranks;
use crate::relation::Relation;

/// A sub-bucket may hold this fraction of a rank's average. The eight buckets of a rank then differ
/// by no more than chance.
const LONGEST_PART: u64 = 2;

/// Below this many tuples a rank, moving them costs more than it saves.
const TUPLES_MIN: u64 = 1024;

/// Splits buckets that are too long and moves their tuples. Returns the number of tuples that left
/// this rank. Collective.
#[profile]
pub(crate) fn balance<const N: usize>(ranks: &impl Ranks, relation: &mut Relation<N>) -> usize {
    let lengths = lengths_of_all(ranks, relation);
    let mean = lengths.iter().sum::<u64>() / ranks.size() as u64;
    let longest = mean.max(TUPLES_MIN) / LONGEST_PART;
    let Some(buckets) = relation.buckets().split(&lengths, longest) else { return 0 };
    let mut outbox = Outbox::new(ranks.size());
    for tuple in relation.spread(buckets, ranks.rank()) {
        outbox.post(relation.buckets().owner(&tuple), tuple);
    }
    let moved = outbox.len();
    let arrived = exchange(ranks, outbox);
    relation.insert(arrived);
    moved
}

#[profile]
fn lengths_of_all<const N: usize>(ranks: &impl Ranks, relation: &Relation<N>) -> Vec<u64> {
    let mut lengths = relation.lengths().to_vec();
    ranks.sum(&mut lengths);
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::memory::on_ranks;

    #[test]
    fn a_hub_is_shared_by_all_ranks_and_nothing_is_lost() {
        let shares = on_ranks(4, |ranks| {
            let mut relation = Relation::<2>::new(4);
            // One vertex has 40,000 edges, the others one each.
            let all = (0..40_000).map(|n| [7, n]).chain((100..4_100).map(|n| [n, 7]));
            let own = all.filter(|tuple| relation.buckets().owner(tuple) == ranks.rank()).collect();
            relation.insert(own);
            let before = relation.index().len();
            balance(ranks, &mut relation);
            assert_eq!(balance(ranks, &mut relation), 0, "once is enough");
            assert_eq!(relation.lengths().iter().sum::<u64>(), relation.index().len() as u64);
            assert!(
                relation
                    .index()
                    .iter()
                    .all(|tuple| relation.buckets().owner(tuple) == ranks.rank())
            );
            (before, relation.index().len())
        });
        assert_eq!(shares.iter().map(|share| share.0).max().map(|most| most > 40_000), Some(true));
        assert_eq!(shares.iter().map(|share| share.1).sum::<usize>(), 44_000);
        assert!(shares.iter().all(|share| (10_000..12_500).contains(&share.1)), "{shares:?}");
    }
}
