//! Tests of the phases on virtual ranks: the profile read back is the union of the data of the
//! ranks.

mod dictionary;
mod equal;
mod failures;
mod files;
mod graphs;
mod text;
mod visit_costs;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use proptest::prelude::*;
use tinyprof_format::file::{OutputFormat, Permissions, read_profile};
use tinyprof_format::model::{
    CallpathId, CallpathValues, ClockFacts, Edge, EdgeKey, EdgeKind, EventMap, ExecutionSummary,
    MessageKey, MessageKind, MetricBucket, MetricSummary, MetricValues, Mode, Precision,
    ProcessorFacts, RankFacts, Region, RegionKind, RunMetadata, RunState, SeriesBucket, SiteId,
    Traffic,
};
use tinyprof_report::{Report, Statistics};
use tinyprof_settings::{Aggregators, SeriesGather};

use super::*;
use crate::communicator::virtual_ranks;
use crate::observer::Observer;

fn plan(directory: &Path, aggregators: Option<u32>, message_bytes_max: usize) -> Plan {
    let metadata = RunMetadata { executable: "/bin/p".into(), ..RunMetadata::default() };
    let aggregators = aggregators.map_or(Aggregators::Auto, Aggregators::Count);
    let series = SeriesGather::Auto;
    let state = RunState::default();
    Plan {
        format: OutputFormat::Tprof,
        permissions: Permissions::default(),
        target: directory.join("p"),
        aggregators,
        series,
        state,
        metadata,
        snapshot_ns: 1,
        message_bytes_max,
        on_profile_id: |_, _| (),
        workplace: Workplace::Here,
        observer: Observer::default(),
    }
}

/// Flushes the data of one rank.
async fn flush_map(
    communicator: &impl Communicator,
    map: &EventMap,
    plan: &Plan,
) -> Result<Flushed, Interrupted> {
    flush(communicator, &mut Measured::of(map.clone(), plan.state.precision), plan).await
}

/// The length of the longest message that is not split: the Allreduce of phase 1.
const FIXED_BYTES: usize = 120;

fn flush_all(ranks: &[EventMap], plan: &Plan) -> Vec<Flushed> {
    let size = u32::try_from(ranks.len()).unwrap();
    let (flushed, sent) = virtual_ranks::run_counted(size, |communicator| {
        let map = &ranks[communicator.rank() as usize];
        async move { flush_map(&communicator, map, plan).await.unwrap() }
    });
    let longest = sent.iter().map(|message| message.bytes).max().unwrap_or(0);
    assert!(longest <= plan.message_bytes_max.max(FIXED_BYTES), "a message of {longest} bytes");
    flushed
}

/// Flushes, and compares the profile read back with the data of the ranks.
fn check(ranks: &[EventMap], aggregators: Option<u32>, message_bytes_max: usize) {
    for series in [SeriesGather::Padded, SeriesGather::Counts] {
        check_series(ranks, aggregators, message_bytes_max, series);
    }
}

fn check_series(
    ranks: &[EventMap],
    aggregators: Option<u32>,
    message_bytes_max: usize,
    series: SeriesGather,
) {
    let scratch = tempfile::tempdir().unwrap();
    let size = u32::try_from(ranks.len()).unwrap();
    let parts = aggregators.map_or(size.div_ceil(16), |a| a.min(size));
    check_plan(
        ranks,
        &Plan { series, ..plan(scratch.path(), aggregators, message_bytes_max) },
        parts,
    );
}

fn check_plan(ranks: &[EventMap], plan: &Plan, parts: u32) {
    let directory = plan.target.parent().unwrap();
    let flushed = flush_all(ranks, plan);
    if ranks.iter().all(|map| map.callpaths.is_empty()) {
        assert!(flushed.iter().all(|f| *f == Flushed::default()));
        assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0);
        return;
    }
    let path = directory.join("p.tprof");
    for f in &flushed {
        assert_eq!(f.profile, Some(Ok(path.clone())));
    }
    let profile = read_profile(&path).unwrap();
    // The report of a flush has only statistics of times.
    let report =
        Report::new(&profile.manifest, &profile.callpaths, Statistics::of_profile(&profile));
    assert_eq!(flushed[0].report, Some(report));
    assert_eq!(profile.manifest.parts.len(), parts as usize);
    assert_eq!(profile.ranks.len(), ranks.len());
    assert_eq!(profile.callpaths.index_by_id().len(), profile.callpaths.len(), "ids are distinct");
    let absent = CallpathValues::default();
    assert_eq!(profile.manifest.precision, plan.state.precision);
    for (rank, map) in ranks.iter().enumerate() {
        let map = map.in_precision(plan.state.precision);
        assert_eq!(profile.ranks[rank], map.facts);
        let index = map.callpaths.index_by_identity();
        for (at, _) in profile.callpaths.iter() {
            let identity = profile.callpaths.identities()[at.row()];
            let expected = index.get(&identity).map_or(&absent, |i| &map.values[i.row()]);
            assert_eq!(profile.values(at, rank), expected, "rank {rank}");
        }
        let known: HashSet<_> = profile.callpaths.identities().iter().collect();
        assert!(index.keys().all(|identity| known.contains(identity)));
    }
}

fn region(site: u64) -> Region {
    Region {
        site: SiteId::from_bits(site),
        name: ["main", "a<b|c", "größe", "x"][usize::try_from(site % 4).unwrap()]
            .repeat(1 + (site == 3) as usize * 4095),
        module: "m".into(),
        file: "f.rs".into(),
        line: u32::try_from(site).unwrap(),
        column: 1,
        kind: RegionKind::Scope,
        mode: Mode::Each,
        rank_local: false,
        constants: [].into(),
    }
}

/// Creates a rank that visits `sites` in a chain, each `visits` times in each of `executions`
/// executions.
fn rank(number: u32, sites: &[u64], executions: u32, visits: u32) -> EventMap {
    let mut parent = None;
    let records: Vec<_> = sites
        .iter()
        .map(|&site| {
            let site_id = SiteId::from_bits(site);
            let id = parent.map_or(CallpathId::root(site_id), |p: CallpathId| p.child(site_id));
            let ns = |i: u32| u64::from(number * 1000 + i) + site;
            let mut values = CallpathValues::default();
            for execution in 0..executions {
                let all = (0..visits).map(|i| ExecutionSummary::of_one_visit(execution, ns(i)));
                values.executions.extend(all.reduce(|mut sum, one| {
                    sum.absorb(&one);
                    sum.sum_variance_ns2 += f64::from(number) / 2.0;
                    sum
                }));
                values
                    .series
                    .extend((0..visits).map(|i| SeriesBucket::of_one_visit(execution, ns(i))));
            }
            if (u64::from(number) + site).is_multiple_of(3) {
                values.metrics.insert(format!("k{}", number % 2), metric(number, executions));
            }
            if !(u64::from(number) + site).is_multiple_of(4) {
                values.messages = messages(number, u64::from(visits) * site);
            }
            if !(u64::from(number) + site).is_multiple_of(5) {
                values.edges = edges(id, number);
            }
            (id, parent.replace(id), region(site), values)
        })
        .collect();
    let facts = RankFacts {
        process_id: number + 1,
        peak_memory_bytes: u64::from(number) << 20,
        clock: ClockFacts { companions: u64::from(number % 3), ..ClockFacts::default() },
        processor: ProcessorFacts { delay_ns: u64::from(number), ..ProcessorFacts::default() },
        ..RankFacts::default()
    };
    EventMap::from_records(records, facts)
}

/// Returns a halo exchange, and messages from outside of the world.
fn messages(number: u32, bytes: u64) -> BTreeMap<MessageKey, Traffic> {
    let halo = [MessageKind::MessageOut, MessageKind::MessageIn]
        .into_iter()
        .flat_map(|kind| [-1, 1].map(|partner| (MessageKey::new(kind, partner, 8000), 10)));
    let outside = bytes * u64::from(number);
    let outside =
        (MessageKey::new(MessageKind::MessageIn, MessageKey::ANY_PARTNER, outside), number.into());
    let all = halo.chain([outside]);
    all.map(|(key, count)| (key, Traffic { count, bytes: 8000 * count + bytes })).collect()
}

/// Returns a flow edge from the callpath itself, and late senders.
fn edges(id: CallpathId, number: u32) -> BTreeMap<EdgeKey, Edge> {
    let partners = [(EdgeKind::Flow, 0), (EdgeKind::Message, -1), (EdgeKind::Message, 1)];
    let edges = partners.into_iter().zip(0..).map(|((kind, partner), order)| {
        let edge = Edge { bytes: 80, order, ..Edge::of_one_instance(1_000 + u64::from(number)) };
        (EdgeKey { kind, partner, from: id }, Edge { transfer_ns: number.into(), ..edge })
    });
    edges.collect()
}

/// Returns a metric with one value per execution.
fn metric(number: u32, executions: u32) -> MetricValues {
    let value = |execution: u32| f64::from(number) - 0.1 * f64::from(execution);
    MetricValues {
        executions: (0..executions).map(|e| MetricSummary::of_one_value(e, value(e))).collect(),
        series: (0..executions).map(|e| MetricBucket::of_one_value(e, value(e))).collect(),
    }
}

const UNLIMITED: usize = i32::MAX as usize;

#[test]
fn equal_ranks_on_every_number_of_aggregators() {
    for size in [1, 2, 3, 4, 16, 33] {
        let ranks: Vec<_> = (0..size).map(|r| rank(r, &[0, 1, 2], 3, 2)).collect();
        for aggregators in [None, Some(1), Some(2), Some(size), Some(1000)] {
            check(&ranks, aggregators, UNLIMITED);
        }
    }
}

#[test]
fn long_lists_are_written_by_more_ranks() {
    // 10,000 executions at 4 callpaths: 2.2 MiB of summaries per rank.
    let ranks: Vec<_> = (0..2).map(|r| rank(r, &[0, 1, 2, 3], 10_000, 1)).collect();
    let scratch = tempfile::tempdir().unwrap();
    check_plan(&ranks, &plan(scratch.path(), None, UNLIMITED), 2);
}

#[test]
fn a_part_for_each_run_of_ranks_on_a_host() {
    let mut ranks: Vec<_> = (0..9).map(|r| rank(r, &[0, 1], 1, r + 1)).collect();
    for (map, host) in ranks.iter_mut().zip(["a", "a", "b", "b", "b", "a", "c", "c", "c"]) {
        map.facts.host = host.into();
    }
    let scratch = tempfile::tempdir().unwrap();
    let plan = Plan { aggregators: Aggregators::PerNode, ..plan(scratch.path(), None, 5) };
    check_plan(&ranks, &plan, 4);
    let parts = read_profile(&scratch.path().join("p.tprof")).unwrap().manifest.parts;
    assert_eq!(
        parts.iter().map(|p| (p.first_rank, p.ranks)).collect::<Vec<_>>(),
        [(0, 2), (2, 3), (5, 1), (6, 3)]
    );
}

#[test]
fn every_rank_rounds_its_own_times_where_that_is_asked_for() {
    let ranks: Vec<_> = (0..9).map(|r| rank(r, &[0, 1, 2], 3, 4)).collect();
    let scratch = tempfile::tempdir().unwrap();
    let state = RunState { precision: Precision::EightBit, ..RunState::default() };
    check_plan(&ranks, &Plan { state, ..plan(scratch.path(), Some(2), UNLIMITED) }, 2);
    let profile = read_profile(&scratch.path().join("p.tprof")).unwrap();
    let main = profile.callpaths.iter().next().unwrap().0;
    assert_eq!(profile.values(main, 8).series[1].sum_ns, 8000, "8001 ns");
}

#[test]
fn one_rank_that_keeps_its_times_exact_keeps_those_of_all() {
    let ranks: Vec<_> = (0..9).map(|r| rank(r, &[0, 1, 2], 3, 4)).collect();
    let rounding =
        |rank: u32, exact: u32| if rank == exact { Precision::Exact } else { Precision::EightBit };
    for (exact, overruled) in [(0, 8), (5, 8), (8, 8), (9, 0)] {
        let scratch = tempfile::tempdir().unwrap();
        let flushed = virtual_ranks::run(9, |communicator| {
            let number = communicator.rank();
            let state = RunState { precision: rounding(number, exact), ..RunState::default() };
            let plan = Plan { state, ..plan(scratch.path(), Some(2), UNLIMITED) };
            let map = &ranks[number as usize];
            async move { flush_map(&communicator, map, &plan).await.unwrap() }
        });
        assert!(flushed.iter().all(|f| f.overruled == overruled), "the same on every rank");
        let profile = read_profile(&scratch.path().join("p.tprof")).unwrap();
        let precision = if overruled > 0 { Precision::Exact } else { Precision::EightBit };
        assert_eq!(profile.manifest.precision, precision);
        let main = profile.callpaths.iter().next().unwrap().0;
        for (number, map) in ranks.iter().enumerate() {
            let expected = &map.in_precision(precision).values[0].series;
            assert_eq!(&profile.values(main, number).series, expected, "rank {number}");
        }
    }
}

#[test]
fn ranks_that_visited_different_callpaths_are_united() {
    let mut ranks: Vec<_> = (0..40).map(|r| rank(r, &[0, 1], 1, 1)).collect();
    ranks[0] = EventMap::default();
    ranks[17] = rank(17, &[0, 2, 3], 2, 5);
    ranks[39] = rank(39, &[1, 2, 3], 1, 1);
    check(&ranks, None, UNLIMITED);
}

#[test]
fn messages_larger_than_a_gather_may_be_go_in_chunks() {
    let mut ranks: Vec<_> = (0..9).map(|r| rank(r, &[0, 1, 2], 3, r * 10 + 1)).collect();
    for limit in [1, 7, 100, 4096] {
        check(&ranks, Some(2), limit);
    }
    // A dictionary that has to be united, because its names are long.
    ranks[5] = rank(5, &[0, 3, 1], 1, 1);
    for limit in [1, 100, 4096] {
        check(&ranks, Some(2), limit);
    }
}

#[test]
fn messages_and_edges_of_callpaths_without_a_finished_visit_are_kept() {
    for size in 1..=5 {
        let mut ranks: Vec<_> = (0..size).map(|r| rank(r, &[0, 1, 2], 2, 2)).collect();
        for (number, map) in (0..).zip(&mut ranks) {
            let from = CallpathId::from_bits(1);
            let values = if number % 2 == 0 {
                CallpathValues { messages: messages(number, 100), ..CallpathValues::default() }
            } else {
                CallpathValues { edges: edges(from, number), ..CallpathValues::default() }
            };
            map.values[usize::try_from(number % 3).unwrap()] = values;
        }
        for aggregators in [None, Some(1), Some(2), Some(size)] {
            check(&ranks, aggregators, 100);
        }
    }
}

#[test]
fn nothing_measured_writes_nothing() {
    check(&vec![EventMap::default(); 5], None, UNLIMITED);
}

#[test]
fn thousands_of_ranks_with_one_odd_one() {
    let mut ranks: Vec<_> = (0..4096).map(|r| rank(r, &[0, 1], 1, 1)).collect();
    ranks[2049] = rank(2049, &[0, 1, 2], 1, 1);
    check(&ranks, None, UNLIMITED);
}

/// Generates the callpaths, executions and visits of a rank; some ranks have none.
fn any_rank() -> impl Strategy<Value = (Vec<u64>, u32, u32)> {
    (prop::collection::vec(0_u64..5, 0..4), 1_u32..4, 1_u32..4)
}

fn any_series() -> impl Strategy<Value = SeriesGather> {
    prop::sample::select(vec![SeriesGather::Auto, SeriesGather::Padded, SeriesGather::Counts])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_ranks_are_united_exactly(
        ranks in prop::collection::vec(any_rank(), 1..40),
        aggregators in prop::option::of(1_u32..50),
        limit in prop::sample::select(vec![16, 333, UNLIMITED]),
        series in any_series(),
    ) {
        let ranks: Vec<_> =
            (0..).zip(ranks).map(|(number, (sites, e, v))| rank(number, &sites, e, v)).collect();
        check_series(&ranks, aggregators, limit, series);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]
    #[test]
    fn thousands_of_ranks_of_a_few_kinds_are_united_exactly(
        kinds in prop::collection::vec(any_rank(), 1..4),
        size in 1000_usize..4097,
        odd in prop::collection::vec((any::<prop::sample::Index>(), any_rank()), 0..3),
        aggregators in prop::option::of(1_u32..100),
        series in any_series(),
    ) {
        let mut ranks: Vec<_> = kinds.iter().cycle().take(size).collect();
        for (at, rank) in &odd {
            let at = at.index(size);
            ranks[at] = rank;
        }
        let maps = (0..).zip(ranks).map(|(number, (sites, e, v))| rank(number, sites, *e, *v));
        check_series(&maps.collect::<Vec<_>>(), aggregators, UNLIMITED, series);
    }
}
