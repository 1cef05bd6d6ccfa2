//! Statistics over ranks against a naive computation, in any order of merging.

use proptest::prelude::*;
use tinyprof_format::model::{
    CallpathId, CallpathTable, CallpathValues, EventMap, ExecutionSummary, MetricSummary,
    MetricValues, Profile, RankFacts, SiteId,
};
use tinyprof_report::{
    Efficiency, HostId, RankStatistics, RankUsage, Report, Spread, Statistics, UsageOverRanks,
    Variation,
};

use crate::fixture::{fft, profile, profile_of, region, tag};

/// Generates up to six ranks that visit parts of a small tree with any times, including children
/// longer than parents.
fn event_maps() -> impl Strategy<Value = Vec<EventMap>> {
    let times = prop_oneof![0..100_u64, Just(u64::MAX / 2), 1_000_000..2_000_000_000_u64];
    let visit = prop::option::of(prop::collection::vec(times, 1..4));
    let rank = prop::collection::vec(visit, 6..=6);
    prop::collection::vec(rank.prop_map(|visits| map_of(&visits)), 0..6)
}

/// Returns the event map of visits to the tree 0 -> 1 -> 2, 0 -> 3, 4 -> 5. If a rank skipped a
/// parent, the child's times count nowhere.
fn map_of(visits: &[Option<Vec<u64>>]) -> EventMap {
    let parents = [None, Some(0), Some(1), Some(0), None, Some(4)];
    let mut ids: Vec<CallpathId> = Vec::new();
    let mut records = Vec::new();
    for ((site, parent), visits) in (0..).zip(parents).zip(visits) {
        let site_id = SiteId::from_bits(site);
        let parent = parent.map(|parent: usize| ids[parent]);
        ids.push(parent.map_or(CallpathId::root(site_id), |parent| parent.child(site_id)));
        if let Some(visits) = visits {
            let sampled = |(execution, &ns)| ExecutionSummary {
                sum_variance_ns2: [0.0, 0.25, 1e9][usize::try_from(ns % 3).expect("small")],
                ..ExecutionSummary::of_one_visit(execution, ns)
            };
            let executions = (0..).zip(visits).map(sampled).collect();
            let values = CallpathValues { executions, ..CallpathValues::default() };
            records.push((ids[ids.len() - 1], parent, region(site, "r"), values));
        }
    }
    let host = format!("host{}", records.len() % 3);
    EventMap::from_records(records, RankFacts { host, ..RankFacts::default() })
}

fn naive(profile: &Profile) -> Statistics {
    let spread = |of_ranks: &[(u32, u64)]| Spread {
        sum_ns: of_ranks.iter().map(|(_, ns)| u128::from(*ns)).sum(),
        variance_ns2: 0,
        min_ns: of_ranks.iter().map(|(_, ns)| *ns).min().unwrap_or(0),
        max_ns: of_ranks.iter().map(|(_, ns)| *ns).max().unwrap_or(0),
        max_rank: slowest(of_ranks).unwrap_or(0),
        max_host: slowest(of_ranks)
            .map_or(HostId::default(), |rank| HostId::of_name(&profile.ranks[rank as usize].host)),
    };
    let mut times = UsageOverRanks::default();
    (0..profile.ranks.len()).for_each(|rank| times.add(&naive_times(profile, rank)));
    let row = |index| {
        let visitors: Vec<(u32, &CallpathValues)> = (0..)
            .zip(0..profile.ranks.len())
            .map(|(number, rank)| (number, profile.values(index, rank)))
            .filter(|(_, values)| !values.is_absent())
            .collect();
        let inclusive: Vec<_> =
            visitors.iter().map(|(rank, values)| (*rank, values.inclusive_ns())).collect();
        let exclusive: Vec<_> = inclusive
            .iter()
            .map(|&(rank, ns)| {
                let children = profile.callpaths.iter().filter(|(_, c)| c.parent == Some(index));
                (
                    rank,
                    children.fold(ns, |left, (child, _)| {
                        left.saturating_sub(profile.values(child, rank as usize).inclusive_ns())
                    }),
                )
            })
            .collect();
        let variance =
            |index, rank: u32| rounded_up(profile.values(index, rank as usize).sum_variance_ns2());
        let with_children = visitors.iter().map(|(rank, _)| {
            let children = profile.callpaths.iter().filter(|(_, c)| c.parent == Some(index));
            variance(index, *rank) + children.map(|(child, _)| variance(child, *rank)).sum::<u128>()
        });
        let variance_ns2 = visitors.iter().map(|(rank, _)| variance(index, *rank)).sum();
        RankStatistics {
            ranks: u32::try_from(visitors.len()).expect("few ranks"),
            visits: visitors.iter().map(|(_, values)| values.visits()).sum(),
            inclusive: Spread { variance_ns2, ..spread(&inclusive) },
            exclusive: Spread { variance_ns2: with_children.sum(), ..spread(&exclusive) },
            variation: visitors.iter().fold(Variation::default(), |mut all, (_, values)| {
                all.merge(&Variation::of_one_rank(&values.executions));
                all
            }),
        }
    };
    let rows = profile.callpaths.iter().map(|(index, _)| row(index)).collect();
    Statistics::from_rows(rows).with_times(times)
}

fn slowest(of_ranks: &[(u32, u64)]) -> Option<u32> {
    of_ranks.iter().rev().max_by_key(|(_, ns)| *ns).map(|(rank, _)| *rank)
}

/// Returns the times of a rank. The regions of these tests have no tags: all time is useful.
fn naive_times(profile: &Profile, rank: usize) -> RankUsage {
    let roots = profile.callpaths.iter().filter(|(_, callpath)| callpath.parent.is_none());
    let total_ns = roots
        .fold(0, |sum, (root, _)| profile.values(root, rank).inclusive_ns().saturating_add(sum));
    let useful_ns =
        tinyprof_report::exclusive_ns(profile, rank).into_iter().fold(0, u64::saturating_add);
    RankUsage { total_ns, useful_ns, io_ns: 0 }
}

/// Rounds up to the next integer: a variance other than 0 must not become 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small and not negative"
)]
fn rounded_up(variance_ns2: f64) -> u128 {
    let whole = variance_ns2 as u64;
    u128::from(whole) + u128::from(variance_ns2.fract() > 0.0)
}

fn of_rank(dictionary: &CallpathTable, rank: u32, map: &EventMap) -> Statistics {
    let mut statistics = Statistics::new(dictionary.len());
    statistics.add_event_map(dictionary, rank, map);
    statistics
}

proptest! {
    #[test]
    fn a_whole_profile_gives_what_a_naive_computation_gives(maps in event_maps()) {
        let profile = profile(&maps);
        prop_assert_eq!(Statistics::of_profile(&profile), naive(&profile));
    }

    #[test]
    fn ranks_merge_in_any_order_and_grouping(
        (maps, order) in event_maps().prop_flat_map(|maps| {
            let ranks: Vec<usize> = (0..maps.len()).collect();
            (Just(maps), Just(ranks).prop_shuffle())
        }),
        cut in 0..6_usize,
    ) {
        let profile = profile(&maps);
        let merged = |ranks: &[usize]| ranks.iter().fold(Statistics::default(), |mut sum, &rank| {
            let number = u32::try_from(rank).expect("few ranks");
            let sent = of_rank(&profile.callpaths, number, &maps[rank]).to_bytes();
            assert_eq!(sent.len(), Statistics::HEAD_BYTES + profile.callpaths.len() * Statistics::ROW_BYTES);
            sum.merge(&Statistics::from_bytes(&sent).expect("what was sent is received"));
            sum
        });
        let (left, right) = order.split_at(cut.min(order.len()));
        let (mut forward, mut backward) = (merged(left), merged(right));
        let first = forward.clone();
        forward.merge(&backward);
        backward.merge(&first);
        prop_assert_eq!(&forward, &backward);
        if !maps.is_empty() {
            prop_assert_eq!(&forward, &Statistics::of_profile(&profile));
        }
    }

    #[test]
    fn any_bytes_are_refused_or_read_back_as_they_were(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Some(statistics) = Statistics::from_bytes(&bytes) {
            prop_assert_eq!(statistics.to_bytes(), bytes);
        }
    }
}

#[test]
fn the_lowest_of_equally_slow_ranks_is_named() {
    let host = |rank: u32| HostId::of_name(&format!("host{rank}"));
    let mut late = RankStatistics::of_one_rank(7, host(7), 1, 50, 50);
    late.merge(&RankStatistics::of_one_rank(2, host(2), 1, 50, 20));
    late.merge(&RankStatistics::of_one_rank(3, host(3), 1, 50, 50));
    assert_eq!((late.inclusive.max_rank, late.exclusive.max_rank), (2, 3));
    assert_eq!((late.inclusive.max_host, late.exclusive.max_host), (host(2), host(3)));
    assert_eq!((late.lost_ns(&late.inclusive), late.lost_ns(&late.exclusive)), (0, 30));
    assert_eq!(late.mean_ns(&late.exclusive), Some(40.0));
    assert_eq!(late.imbalance(&late.exclusive), Some(0.25));
    let nobody = RankStatistics::default();
    assert_eq!(
        (nobody.mean_ns(&nobody.inclusive), nobody.imbalance(&nobody.inclusive)),
        (None, None)
    );
}

proptest! {
    #[test]
    fn the_efficiency_of_merged_ranks_is_that_of_the_profile(
        maps in event_maps(), tags in prop::collection::vec(0..4_usize, 6),
    ) {
        let mut profile = profile(&maps);
        tag(&mut profile, |region| {
            let site = usize::try_from(region.site.to_bits()).expect("few sites");
            ["COMM", "COMP", "IO"].get(tags[site]).copied()
        });
        let mut merged = Statistics::default();
        for number in (0..u32::try_from(maps.len()).expect("few ranks")).rev() {
            let rank = number as usize;
            let mut one = Statistics::new(profile.callpaths.len());
            one.add_rank(&profile.callpaths, number, &profile.ranks[rank], |index| &profile.values(index, rank).executions);
            merged.merge(&Statistics::from_bytes(&one.to_bytes()).expect("what was sent is received"));
        }
        let ranks: Vec<RankUsage> = (0..maps.len()).map(|rank| {
            let mut one = profile.clone();
            one.ranks = vec![profile.ranks[rank].clone()];
            one.values = profile.values.iter().map(|row| vec![row[rank].clone()]).collect();
            let times = *Statistics::of_profile(&one).times();
            let narrow = |ns: u128| u64::try_from(ns).expect("one rank has 64 bits");
            RankUsage {
                total_ns: times.total_max_ns, useful_ns: times.useful_max_ns, io_ns: narrow(times.io_ns),
            }
        }).collect();
        let of_profile = Efficiency::of_profile(&profile);
        prop_assert_eq!(Efficiency::of_statistics(&profile.callpaths, &merged), of_profile);
        let is_tagged = profile.callpaths.rows().iter().any(|c| !c.region.constants.is_empty());
        let load_balance = |found: Option<Efficiency>| found.map(|found| (found.load_balance, found.io_share));
        prop_assert_eq!(load_balance(of_profile), load_balance(Efficiency::of_ranks(&ranks).filter(|_| is_tagged)));
    }
}

#[test]
fn a_rank_alone_is_parallel_to_its_own_table() {
    let map = crate::fixture::event_map(&fft(), 1);
    assert_eq!(Statistics::of_event_map(&map, 1), of_rank(&map.callpaths, 1, &map));
    let profile = profile_of(&fft(), 1);
    assert_eq!(Statistics::of_profile(&profile).rows().len(), profile.callpaths.len());
}

#[test]
fn a_report_of_merged_statistics_is_that_of_the_profile() {
    let profile = profile_of(&fft(), 3);
    let mut merged = Statistics::default();
    for rank in [2, 0, 1] {
        merged.merge(&of_rank(&profile.callpaths, rank, &crate::fixture::event_map(&fft(), rank)));
    }
    let running = Report::new(&profile.manifest, &profile.callpaths, merged);
    assert_eq!(running, Report::of_profile(&profile));
}

#[test]
fn a_callpath_with_metrics_alone_was_visited_by_no_rank_that_is_counted() {
    let mut map = crate::fixture::event_map(&fft(), 0);
    let main = map.callpaths.rows()[0].id;
    map.values[0] = CallpathValues::default();
    let before = Statistics::of_event_map(&map, 0);
    let one =
        MetricValues { executions: vec![MetricSummary::of_one_value(0, 1.0)], series: Vec::new() };
    assert!(map.add_metric(main, "mem", one));
    assert_eq!(Statistics::of_event_map(&map, 0), before);
    assert_eq!(before.row(0).ranks, 0);
}
