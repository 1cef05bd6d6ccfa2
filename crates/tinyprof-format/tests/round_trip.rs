//! A profile is read back exactly as it was written, whatever the ranks contained.
#![expect(clippy::unwrap_used, reason = "the sites of this test are small numbers")]

use std::path::Path;

use proptest::prelude::*;
use tinyprof_format::file::{ProfileWriter, read_profile};
use tinyprof_format::model::{
    CallpathId, CallpathValues, ClockFacts, Edge, EdgeKey, EdgeKind, EventMap, ExecutionSummary,
    Losses, MessageKey, MessageKind, MetricBucket, MetricSummary, MetricValues, Mode, PeakMemory,
    ProcessorFacts, RankCommands, RankFacts, Region, RegionKind, SeriesBucket, SiteId, Traffic,
};

fn region(site: u64) -> Region {
    let name = match site % 4 {
        0 => "solve".to_owned(),
        1 => "a<b,\"c\"|d".to_owned(),
        2 => "größe 😀".to_owned(),
        _ => "n".repeat(4096),
    };
    Region {
        site: SiteId::from_bits(site),
        name,
        module: format!("krate::m{}", site % 3),
        file: "src/main.rs".into(),
        line: u32::try_from(site).unwrap(),
        column: 5,
        kind: [RegionKind::Function, RegionKind::Scope, RegionKind::Loop]
            [usize::try_from(site % 3).unwrap()],
        mode: if site.is_multiple_of(2) { Mode::Each } else { Mode::Total },
        rank_local: site % 5 == 2,
        constants: (0..site % 3).map(|i| (format!("k{i}"), format!("\"größe\"\n{site}"))).collect(),
    }
}

fn values() -> impl Strategy<Value = CallpathValues> {
    let variance = prop_oneof![4 => Just(0.0), 1 => 0.0..1e30_f64];
    let summary = (0_u32..3, any::<u32>(), any::<u32>(), 1_u64..5, variance);
    let summary = summary.prop_map(|(gap, a, b, visits, sum_variance_ns2)| {
        let (min, max) = (u64::from(a.min(b)), u64::from(a.max(b)));
        let one = ExecutionSummary::of_one_visit(gap, min);
        if visits == 1 {
            return one;
        }
        let square = one.sum_squares_ns2 * 3.0;
        let (sum_ns, max_ns, sum_squares_ns2) = (min + max, max, square);
        ExecutionSummary { visits, sum_ns, max_ns, sum_squares_ns2, sum_variance_ns2, ..one }
    });
    let bucket =
        (0_u32..4, any::<u32>(), 1_u32..3).prop_map(|(execution, ns, visits)| SeriesBucket {
            visits,
            min_ns: u64::from(ns) / u64::from(visits),
            ..SeriesBucket::of_one_visit(execution, u64::from(ns))
        });
    let metrics = prop::collection::btree_map("|mem|größe 😀\"", metric(), 0..3);
    let messages = prop::collection::btree_map(message_key(), traffic(), 0..5);
    let edges = prop::collection::btree_map(edge_key(), edge(), 0..5);
    // A callpath with metrics, messages or edges may have no completed visit.
    let all = (
        prop::collection::vec(summary, 0..6),
        prop::collection::vec(bucket, 0..40),
        metrics,
        messages,
        edges,
    );
    all.prop_filter(
        "absent callpaths have no series",
        |(executions, _, metrics, messages, edges)| {
            let is_empty = metrics.is_empty() && messages.is_empty() && edges.is_empty();
            !executions.is_empty() || !is_empty
        },
    )
    .prop_map(|(mut executions, mut series, metrics, messages, edges)| {
        let mut next = 0;
        for e in &mut executions {
            e.execution += next;
            next = e.execution + 1;
        }
        series.sort_by_key(|b| b.execution);
        CallpathValues { executions, series, metrics, messages, edges }
    })
}

/// Generates any key, often one that several ranks have.
fn message_key() -> impl Strategy<Value = MessageKey> {
    let partner = prop_oneof![3 => -1..=1, 1 => any::<i32>(), 1 => Just(MessageKey::ANY_PARTNER)];
    let size = prop_oneof![Just(0), Just(8000), any::<u64>()];
    (prop::sample::select(&MessageKind::ALL[..]), partner, size)
        .prop_map(|(kind, partner, bytes)| MessageKey::new(kind, partner, bytes))
}

/// Generates any traffic: sums of a damaged segment need not match their size class.
fn traffic() -> impl Strategy<Value = Traffic> {
    let any = (any::<u64>(), any::<u64>());
    let usual = (1..4_u64).prop_map(|count| (count, 8000 * count));
    prop_oneof![usual, any].prop_map(|(count, bytes)| Traffic { count, bytes })
}

/// Generates any key, often one that several ranks have.
fn edge_key() -> impl Strategy<Value = EdgeKey> {
    let partner = prop_oneof![3 => -1..=1, 1 => any::<i32>()];
    let from = prop_oneof![0..3_u64, any::<u64>()].prop_map(CallpathId::from_bits);
    (prop::sample::select(&EdgeKind::ALL[..]), partner, from)
        .prop_map(|(kind, partner, from)| EdgeKey { kind, partner, from })
}

/// Generates the sum of some instances.
fn edge() -> impl Strategy<Value = Edge> {
    // The squares of other times are rounded.
    let times =
        prop_oneof![(0..4_usize).prop_map(|n| vec![700; n]), any::<u64>().prop_map(|ns| vec![ns])];
    (times, prop::array::uniform4(any::<u64>()), any::<u32>()).prop_map(|(times, n, order)| {
        let mut edge = Edge::default();
        times.into_iter().for_each(|ns| edge.absorb(&Edge::of_one_instance(ns)));
        let [bytes, compensated_ns, transfer_ns, wrong_order_ns] = n;
        Edge { bytes, compensated_ns, transfer_ns, wrong_order_ns, order, ..edge }
    })
}

/// Generates any number that a program may record: everything except NaN.
fn number() -> impl Strategy<Value = f64> {
    use prop::num::f64::{INFINITE, NEGATIVE, NORMAL, POSITIVE, SUBNORMAL, ZERO};
    let any = POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO | INFINITE;
    prop_oneof![any, Just(-0.0), Just(f64::INFINITY), (0_i32..3).prop_map(f64::from)]
}

fn metric() -> impl Strategy<Value = MetricValues> {
    let summary = (0_u32..3, 1_u32..3, 1_u64..4, number(), number(), number(), any::<bool>())
        .prop_map(|(gap, executions, values, sum, min, max, single)| {
            let one = MetricSummary::of_one_value(gap, sum);
            if single { one } else { MetricSummary { executions, values, min, max, ..one } }
        });
    let bucket = (0_u32..4, 1_u32..3, number(), number(), any::<bool>()).prop_map(
        |(execution, values, sum, other, single)| {
            let one = MetricBucket::of_one_value(execution, sum);
            if single { one } else { MetricBucket { values, min: other, max: other, ..one } }
        },
    );
    (prop::collection::vec(summary, 1..12), prop::collection::vec(bucket, 0..20)).prop_map(
        |(mut executions, mut series)| {
            let mut next = 0;
            for e in &mut executions {
                e.execution += next;
                next = e.execution + e.executions;
            }
            series.sort_by_key(|b| b.execution);
            MetricValues { executions, series }
        },
    )
}

/// Returns every bit of the metrics: -0.0 equals 0.0, but must be preserved.
fn bits(values: &CallpathValues) -> Vec<(&str, Vec<u64>)> {
    let of_metric = |metric: &MetricValues| {
        let summaries = metric.executions.iter().flat_map(|e| {
            let counts = [u64::from(e.execution), u64::from(e.executions), e.values];
            counts.into_iter().chain([e.sum, e.min, e.max, e.sum_squares].map(f64::to_bits))
        });
        let buckets = metric.series.iter().flat_map(|b| {
            let counts = [u64::from(b.execution), u64::from(b.values)];
            counts.into_iter().chain([b.sum, b.min, b.max].map(f64::to_bits))
        });
        summaries.chain(buckets).collect()
    };
    values.metrics.iter().map(|(key, metric)| (key.as_str(), of_metric(metric))).collect()
}

/// Generates one rank: a tree of callpaths whose parents are picked among the earlier ones.
fn event_map() -> impl Strategy<Value = EventMap> {
    let losses = prop::array::uniform17(any::<u64>()).prop_map(Losses::from_numbers);
    let clock = prop::option::of(prop::array::uniform13(any::<u64>()));
    let clock =
        clock.prop_map(|clock| clock.map_or_else(ClockFacts::default, ClockFacts::from_numbers));
    let processor = prop::option::of(prop::array::uniform9(any::<u64>()));
    let processor =
        processor.prop_map(|of| of.map(ProcessorFacts::from_numbers).unwrap_or_default());
    let of_clocks = (clock, processor);
    let facts = ("[a-z]{1,8}", any::<u32>(), 0_u32..9, 0_u64..1 << 48, losses, of_clocks).prop_map(
        |(host, process_id, threads, peak_memory_bytes, losses, (clock, processor))| RankFacts {
            host,
            process_id,
            threads,
            peak_memory_bytes,
            losses,
            clock,
            causes: None,
            events: None,
            processor,
            commands: RankCommands::default(),
        },
    );
    let visit = (0_u64..6, any::<prop::sample::Index>(), values());
    (prop::collection::vec(visit, 0..12), facts).prop_map(|(visits, facts)| {
        let mut known: Vec<CallpathId> = Vec::new();
        let mut records = Vec::new();
        for (site, parent, values) in visits {
            let parent = (!known.is_empty() && site > 1).then(|| *parent.get(&known));
            let site_id = SiteId::from_bits(site);
            let id = parent.map_or(CallpathId::root(site_id), |p| p.child(site_id));
            if !known.contains(&id) {
                known.push(id);
                records.push((id, parent, region(site), values));
            }
        }
        EventMap::from_records(records, facts)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_profile_is_the_union_of_what_the_ranks_held(
        ranks in prop::collection::vec(event_map(), 1..9),
        per_part in 1_usize..5,
    ) {
        let scratch = tempfile::tempdir().unwrap();
        let target = scratch.path().join("run");
        let path =
            ProfileWriter::new().with_ranks_per_part(per_part).write(&target, &ranks).unwrap();
        prop_assert_eq!(&path, &scratch.path().join("run.tprof"));
        let profile = read_profile(&path).unwrap();
        let absent = CallpathValues::default();
        prop_assert_eq!(profile.ranks.len(), ranks.len());
        prop_assert_eq!(profile.manifest.parts.len(), ranks.len().div_ceil(per_part));
        let peaks = || ranks.iter().map(|map| map.facts.peak_memory_bytes);
        let peak_memory = PeakMemory { max_bytes: peaks().max().unwrap(), sum_bytes: peaks().sum() };
        prop_assert_eq!(profile.manifest.peak_memory, peak_memory);
        for (rank, map) in ranks.iter().enumerate() {
            let index = map.callpaths.index_by_identity();
            let facts = RankFacts { losses: map.losses(), ..map.facts.clone() };
            prop_assert_eq!(&profile.ranks[rank], &facts);
            prop_assert!(index.keys().all(|own| profile.callpaths.identities().contains(own)));
            for (at, _) in profile.callpaths.iter() {
                let identity = profile.callpaths.identities()[at.row()];
                let expected = index.get(&identity).map(|i| &map.values[i.row()]);
                let (found, expected) = (profile.values(at, rank), expected.unwrap_or(&absent));
                prop_assert_eq!(found, expected);
                prop_assert_eq!(bits(found), bits(expected));
            }
        }
    }
}

#[test]
fn a_profile_of_version_0_1_is_read() {
    let profile = read_profile(Path::new("tests/profiles/format-0.1")).unwrap();
    let version = &profile.manifest.version;
    assert_eq!((version.major, version.minor), (0, 1));
    assert_eq!(profile.manifest.peak_memory, PeakMemory::default());
    let losses = Losses::from_numbers([1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let facts = |rank: u32| RankFacts {
        host: format!("node{rank}"),
        process_id: 100 + rank,
        threads: 1,
        losses,
        ..RankFacts::default()
    };
    assert_eq!(profile.ranks, [facts(0), facts(1)]);
    let solve = profile.find("main<solve").unwrap();
    assert!(profile.values(solve, 0).is_absent());
    let values = profile.values(solve, 1);
    assert_eq!((values.visits(), values.inclusive_ns(), values.series.len()), (3, 900, 3));
    assert_eq!(values.executions[0].sum_squares_ns2.to_bits(), 130_000.0_f64.to_bits());
    assert_eq!(values.sum_standard_error_ns().to_bits(), 0.0_f64.to_bits());
    assert!(values.metrics.is_empty());
}
