//! Joined times stay near those of the rank, and what is a fact of its own stays as it is.

use super::*;
use crate::file::EncodedCallpath;
use crate::model::{CallpathId, EdgeKind, RankFacts};

const RANKS: u32 = 100;
/// The time of each rank in the run.
const RUN_NS: u64 = 1_280_000_000;

fn key(kind: EdgeKind, partner: i32) -> EdgeKey {
    EdgeKey { kind, partner, from: CallpathId::from_bits(7) }
}

/// Returns an edge of 1,000 instances of this sum.
fn edge(sum_ns: u64) -> Edge {
    let mut all = Edge::default();
    (0..1_000).for_each(|_| all.absorb(&Edge::of_one_instance(sum_ns / 1_000)));
    Edge { sum_ns, compensated_ns: sum_ns - sum_ns / 100, ..all }
}

/// Returns ranks that compute and wait, where `edge_of` gives the waiting.
fn ranks(edge_of: impl Fn(u32) -> Edge) -> Vec<EncodedRank> {
    let rank = |number| {
        let mut facts = RankFacts::default();
        facts.processor.wall_ns = RUN_NS;
        let callpath = EncodedCallpath {
            row: 3,
            executions: Vec::new(),
            series: Vec::new(),
            metrics: Vec::new(),
            messages: Vec::new(),
            edges: vec![(key(EdgeKind::Message, -1), edge_of(number))],
        };
        EncodedRank { facts, callpaths: vec![callpath], events: Vec::new() }
    };
    (0..RANKS).map(rank).collect()
}

fn joined(mut ranks: Vec<EncodedRank>) -> Vec<Edge> {
    join_alike(&mut ranks, RANKS);
    ranks.iter().map(|rank| rank.callpaths[0].edges[0].1).collect()
}

/// Returns a number of up to `most` that differs from rank to rank.
fn noise(rank: u32, most: u64) -> u64 {
    u64::from(rank).wrapping_mul(0x9e37_79b9_7f4a_7c15) % most
}

#[test]
fn alike_ranks_get_the_mean_of_their_times() {
    let of = |rank| edge(500_000_000 + noise(rank, 5_000_000));
    let found = joined(ranks(of));
    let sums = |of: &dyn Fn(u32) -> u64| (0..RANKS).map(of).sum::<u64>();
    assert!(found.iter().all(|edge| edge.sum_ns == found[0].sum_ns));
    let (before, after) = (sums(&|rank| of(rank).sum_ns), found[0].sum_ns * u64::from(RANKS));
    assert!(before.abs_diff(after) <= u64::from(RANKS) / 2);
    let before = sums(&|rank| of(rank).compensated_ns);
    let after: u64 = found.iter().map(|edge| edge.compensated_ns).sum();
    assert!(before.abs_diff(after) <= u64::from(RANKS));
    assert_eq!(found[0].min_ns, (0..RANKS).map(|rank| of(rank).min_ns).min().unwrap());
    assert_eq!(found[0].max_ns, (0..RANKS).map(|rank| of(rank).max_ns).max().unwrap());
}

#[test]
fn times_stay_near_those_of_the_rank() {
    // Of any distribution: some waits are rare, some ranks wait for much of the run.
    for most in [1_000, 1_000_000, 100_000_000, 1_000_000_000] {
        let of = |rank: u32| edge(noise(rank, most) / (1 + u64::from(rank % 7)));
        for (rank, found) in (0..RANKS).zip(joined(ranks(of))) {
            let before = of(rank);
            let room = (RUN_NS / 128).min(2_000 * before.count);
            assert!(found.sum_ns.abs_diff(before.sum_ns) <= before.sum_ns / 50 + room, "{rank}");
            let extremes = |edge: &Edge| [edge.min_ns, edge.max_ns];
            for (found, before) in extremes(&found).into_iter().zip(extremes(&before)) {
                assert!(found.abs_diff(before) <= before / 8 + 2_001, "{rank}: {found}, {before}");
            }
            assert!(found.min_ns <= found.sum_ns / 1_000 && found.sum_ns / 1_000 <= found.max_ns);
        }
    }
}

#[test]
fn a_rank_that_differs_and_one_that_did_not_wait_stay_as_they_are() {
    let of = |rank| match rank {
        7 => edge(90_000_000),
        8 => Edge { transfer_ns: 4_000_000, ..edge(0) },
        9 => Edge { max_ns: 30_000_000, ..edge(40_000_000) },
        _ => edge(40_000_000 + u64::from(rank)),
    };
    let found = joined(ranks(of));
    let times = |edge: Edge| (edge.sum_ns, edge.min_ns, edge.max_ns);
    assert_eq!((times(found[7]), found[8]), (times(of(7)), of(8)));
    assert_eq!(found[9].max_ns, 30_000_000, "its own wait");
    assert!(found[10].max_ns < 50_000);
}

#[test]
fn all_edges_of_a_rank_together_stay_near_its_time() {
    // The odd ranks wait a little longer at each of many calls.
    let of = |rank: u32| edge(40_000_000 + u64::from(rank % 2) * 2_500_000);
    let mut ranks = ranks(of);
    for (rank, encoded) in (0..).zip(&mut ranks) {
        let keys = (0..50).map(|partner| key(EdgeKind::Message, partner));
        encoded.callpaths[0].edges = keys.map(|key| (key, of(rank))).collect();
    }
    join_alike(&mut ranks, RANKS);
    for (rank, encoded) in (0..).zip(&ranks) {
        let sum = |edges: &[(EdgeKey, Edge)]| edges.iter().map(|(_, e)| e.sum_ns).sum::<u64>();
        let (before, after) = (50 * of(rank).sum_ns, sum(&encoded.callpaths[0].edges));
        assert!(before.abs_diff(after) <= before / 50 + RUN_NS / 128, "{rank}: {before}, {after}");
    }
}

#[test]
fn nothing_changes_where_ranks_are_few_or_visits_are_known_or_records_are_damaged() {
    let of = |rank| edge(40_000_000 + u64::from(rank));
    let unchanged = |mut ranks: Vec<EncodedRank>, size| {
        let before = ranks.clone();
        join_alike(&mut ranks, size);
        assert_eq!(ranks, before);
    };
    unchanged(ranks(of), 63);
    let mut with_series = ranks(of);
    with_series[5].callpaths[0].series = vec![1];
    unchanged(with_series, RANKS);
    unchanged(ranks(|rank| Edge { sum_ns: u64::MAX - u64::from(rank), ..of(rank) }), RANKS);
}

#[test]
fn ranks_of_another_number_of_instances_are_apart() {
    let of = |rank: u32| Edge { count: 1_000 + u64::from(rank % 2), ..edge(40_000_000) };
    let found = joined(ranks(|rank| Edge { bytes: rank.into(), order: rank % 3, ..of(rank) }));
    for (rank, found) in (0..).zip(found) {
        assert_eq!((found.count, found.bytes), (of(rank).count, u64::from(rank)));
        assert_eq!(found.order, rank % 3);
    }
}
