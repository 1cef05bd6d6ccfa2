//! The transitive closure, by relational algebra: a join, a projection and a union, until nothing
//! is new.
//!
//! ```text
//! path(x, z)  <-  edge(x, z)
//! path(x, z)  <-  path(x, y), edge(y, z)
//! ```
//!
//! Semi-naive: only paths that were new in the previous iteration are joined, as the others were
//! joined before. Both relations have the column of the join first: an edge from y to z is
//! `[y, z]`, a path from x to y is `[y, x]`.

use tinyprof::{profile, profile_loop, record};

use crate::balance::balance;
use crate::exchange::{Outbox, exchange};
use crate::ranks::Ranks;
use crate::relation::{Relation, Tuple};

/// The result of the fixpoint iteration.
#[derive(Debug)]
pub(crate) struct Closure {
    /// All paths, as `[end, begin]`.
    pub(crate) paths: Relation<2>,
    /// The number of joins of paths with edges; the last one found nothing new.
    pub(crate) iterations: u64,
}

/// Distributes edges, which any rank may hold, over the ranks. Collective.
#[profile]
pub(crate) fn distribute(ranks: &impl Ranks, edges: Vec<Tuple<2>>) -> Relation<2> {
    let mut relation = Relation::new(ranks.size());
    let mut outbox = Outbox::new(ranks.size());
    edges.into_iter().for_each(|edge| outbox.post(relation.buckets().owner(&edge), edge));
    let arrived = exchange(ranks, outbox);
    deduplicate(&mut relation, arrived);
    balance(ranks, &mut relation);
    relation
}

/// Returns all pairs of vertices between which there is a path of one edge or more. Collective.
#[profile]
pub(crate) fn fixpoint(ranks: &impl Ranks, edges: &Relation<2>) -> Closure {
    let mut paths = Relation::new(ranks.size());
    let mut outbox = Outbox::new(ranks.size());
    for &[begin, end] in edges.index().iter() {
        outbox.post(paths.buckets().owner(&[end, begin]), [end, begin]);
    }
    let arrived = exchange(ranks, outbox);
    let mut delta = deduplicate(&mut paths, arrived);
    let mut iterations = 0;
    profile_loop!(
        "iteration",
        mode = each,
        flush_point,
        while are_left(ranks, &delta) {
            balance(ranks, &mut paths);
            let joinable = to_their_edges(ranks, edges, &delta);
            let found = join(ranks, edges, joinable, &paths);
            let arrived = exchange(ranks, found);
            delta = deduplicate(&mut paths, arrived);
            iterations += 1;
        }
    );
    Closure { paths, iterations }
}

/// Returns true if any rank has new paths. Collective.
#[profile]
fn are_left(ranks: &impl Ranks, delta: &[Tuple<2>]) -> bool {
    let mut left = [delta.len() as u64];
    ranks.sum(&mut left);
    left != [0]
}

/// Sends each path to the ranks that have edges from its end: one rank, unless the bucket of these
/// edges is split.
#[profile]
fn to_their_edges(ranks: &impl Ranks, edges: &Relation<2>, delta: &[Tuple<2>]) -> Vec<Tuple<2>> {
    let mut outbox = Outbox::new(ranks.size());
    for path in delta {
        edges.buckets().owners(path[0]).for_each(|rank| outbox.post(rank, *path));
    }
    exchange(ranks, outbox)
}

/// Extends each path by each edge from its end.
#[profile]
fn join(
    ranks: &impl Ranks,
    edges: &Relation<2>,
    mut delta: Vec<Tuple<2>>,
    paths: &Relation<2>,
) -> Outbox<2> {
    let mut outbox = Outbox::new(ranks.size());
    // Paths with the same end meet the same edges, which are then looked up once.
    delta.sort_unstable();
    for group in delta.chunk_by(|a, b| a[0] == b[0]) {
        for &[_, end] in edges.index().with_key(group[0][0]) {
            for &[_, begin] in group {
                outbox.post(paths.buckets().owner(&[end, begin]), [end, begin]);
            }
        }
    }
    record!(tuples = outbox.len());
    outbox.deduplicate();
    outbox
}

/// Adds the new paths and returns them.
#[profile]
fn deduplicate(relation: &mut Relation<2>, arrived: Vec<Tuple<2>>) -> Vec<Tuple<2>> {
    let new = relation.insert(arrived);
    record!(tuples = new.len());
    new
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::generate::{Graph, Kind};
    use crate::ranks::memory::on_ranks;

    /// Finds the closure by a search from each vertex.
    fn serial(edges: &[Tuple<2>]) -> BTreeSet<Tuple<2>> {
        let mut paths = BTreeSet::new();
        for &[begin, _] in edges {
            let mut waiting = vec![begin];
            while let Some(here) = waiting.pop() {
                let next = edges.iter().filter(|edge| edge[0] == here).map(|edge| edge[1]);
                waiting.extend(next.filter(|&end| paths.insert([begin, end])));
            }
        }
        paths
    }

    /// Returns the closure on `size` ranks as pairs of begin and end, with the edges dealt out in
    /// turn.
    fn parallel(size: usize, edges: &[Tuple<2>]) -> (BTreeSet<Tuple<2>>, u64) {
        let shares = on_ranks(size, |ranks| {
            let own = edges.iter().skip(ranks.rank()).step_by(size).copied().collect();
            let edges = distribute(ranks, own);
            let closure = fixpoint(ranks, &edges);
            let owned = closure.paths.index().iter();
            (owned.map(|&[end, begin]| [begin, end]).collect::<Vec<_>>(), closure.iterations)
        });
        let iterations = shares[0].1;
        assert!(shares.iter().all(|share| share.1 == iterations));
        let all: Vec<_> = shares.into_iter().flat_map(|share| share.0).collect();
        let set: BTreeSet<_> = all.iter().copied().collect();
        assert_eq!(all.len(), set.len(), "each path is on one rank");
        (set, iterations)
    }

    #[test]
    fn shapes_have_the_closure_that_they_must_have() {
        for ranks in [1, 2, 5] {
            let closure = |edges: &[Tuple<2>]| parallel(ranks, edges);
            assert_eq!(closure(&[]), (BTreeSet::new(), 0));
            assert_eq!(closure(&[[3, 3]]), ([[3, 3]].into(), 1));
            let chain: Vec<_> = (0..30).map(|n| [n, n + 1]).collect();
            let (paths, iterations) = closure(&chain);
            assert_eq!((paths.len(), iterations), (31 * 30 / 2, 30));
            let circle: Vec<_> = (0..17).map(|n| [n, (n + 1) % 17]).collect();
            assert_eq!(closure(&circle).0.len(), 17 * 17);
        }
    }

    #[test]
    fn a_hub_whose_bucket_is_split_meets_all_its_paths() {
        // 3,000 vertices lead to the hub, and it to 3,000 others.
        let edges: Vec<_> =
            (1..3_001).map(|n| [n, 0]).chain((3_001..6_001).map(|n| [0, n])).collect();
        for ranks in [3, 8] {
            let of_rank = on_ranks(ranks, |ranks| {
                let own = edges.iter().skip(ranks.rank()).step_by(ranks.size()).copied().collect();
                distribute(ranks, own).buckets().owners(0).count()
            });
            assert!(of_rank[0] > 1, "the bucket is split: {of_rank:?}");
        }
        let few: Vec<_> =
            edges.iter().copied().filter(|edge| edge.iter().sum::<u32>() % 40 == 0).collect();
        let expected = serial(&few);
        assert_eq!(parallel(4, &few).0, expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_graph_has_the_closure_of_a_serial_search(
            ranks in 1_usize..8,
            edges in prop::collection::vec([0_u32..25, 0_u32..25], 0..90),
        ) {
            prop_assert_eq!(parallel(ranks, &edges).0, serial(&edges));
        }

        #[test]
        fn a_generated_graph_too(ranks in 1_usize..6, kind: Kind, seed: u64) {
            let graph = Graph { kind, vertices: 40, edges: 120, seed };
            let edges = graph.edges_of(0, 1);
            prop_assert_eq!(parallel(ranks, &edges).0, serial(&edges));
        }
    }
}
