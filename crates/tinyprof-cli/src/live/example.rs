//! Samples for tests.

use tinyprof_format::model::{
    CallpathId, CallpathValues, Edge, EdgeKey, EdgeKind, EventMap, ExecutionSummary, RankFacts,
    Region, SiteId,
};

use super::sample::Sample;

/// Returns a job with this number of ranks after this number of visits of `main`. `exchange` is
/// slower on higher ranks, `compute` is missing on odd ones, and one name is hostile.
pub(super) fn sample(ranks: u64, visits: u64) -> Sample {
    let rank = |rank: u64| {
        let values = |count: u64, ns: u64| {
            let one = ExecutionSummary::of_one_visit(0, ns / count.max(1));
            let sum = ExecutionSummary { visits: count, sum_ns: ns, ..one };
            CallpathValues { executions: vec![sum], ..CallpathValues::default() }
        };
        let region = |site: u64, name: &str| Region::named(SiteId::from_bits(site), name);
        let main = CallpathId::root(SiteId::from_bits(1));
        let exchange = main.child(SiteId::from_bits(2));
        let compute = main.child(SiteId::from_bits(3));
        let pack = exchange.child(SiteId::from_bits(4));
        let skew = 1_000_000 * (10 * rank / ranks);
        let mut records = vec![
            (main, None, region(1, "main"), values(visits, visits * 100_000_000)),
            (
                exchange,
                Some(main),
                region(2, "exchange"),
                values(10 * visits, visits * (30_000_000 + skew)),
            ),
            (
                pack,
                Some(exchange),
                region(4, "pa\u{1b}[31mck"),
                values(20 * visits, visits * 5_000_000),
            ),
        ];
        if rank.is_multiple_of(2) {
            records.push((
                compute,
                Some(main),
                region(3, "compute"),
                values(visits, visits * 50_000_000),
            ));
        }
        let facts = RankFacts { host: format!("node{:02}", rank / 64), ..RankFacts::default() };
        EventMap::from_records(records, facts)
    };
    let maps: Vec<EventMap> = (0..ranks).map(rank).collect();
    let mut sample = Sample::of_ranks(&maps);
    sample.picture.name = "heat.tprof".to_owned();
    sample.picture.elapsed_ns = Some(83_500_000_000);
    sample.picture.age_ns = 1_200_000_000;
    Sample { source: "interim profile 7".to_owned(), moment_ns: 10_000_000_000, ..sample }
}

/// Returns a job of two ranks that wait.
pub(super) fn waiting() -> Sample {
    let mut sample = Sample::of_ranks(&waiting_ranks());
    sample.picture.name = "late.tprof".to_owned();
    sample
}

/// Returns two ranks: rank 1 waits for 3 s in `MPI_Recv`, as rank 0 computes for that much longer
/// before it sends.
pub(super) fn waiting_ranks() -> [EventMap; 2] {
    let [send, receive] = [("MPI_Send", 5), ("MPI_Recv", 6)].map(|(name, site)| {
        let site = SiteId::from_bits(site);
        (CallpathId::root(site), Region { module: "mpi".into(), ..Region::named(site, name) })
    });
    let edge = |kind, partner, from, ns| {
        let key = EdgeKey { kind, partner, from };
        (key, Edge { count: 1, sum_ns: ns, min_ns: ns, max_ns: ns, ..Edge::default() })
    };
    let rank = |(id, region): (CallpathId, Region), before_ns: u64, in_ns: u64, waits: bool| {
        let mut edges = vec![edge(EdgeKind::Flow, 0, id, before_ns)];
        edges.extend(waits.then(|| edge(EdgeKind::Message, -1, send.0, in_ns)));
        let executions = vec![ExecutionSummary::of_one_visit(0, in_ns)];
        let values = CallpathValues {
            executions,
            edges: edges.into_iter().collect(),
            ..CallpathValues::default()
        };
        EventMap::from_records([(id, None, region, values)], RankFacts::default())
    };
    let (sender, receiver) = (send.clone(), receive);
    [rank(sender, 4_000_000_000, 1_000, false), rank(receiver, 1_000_000_000, 3_000_000_000, true)]
}
