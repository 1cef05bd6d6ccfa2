//! Parts: that they add up to the whole, whatever was folded meanwhile.

use super::super::{MessageKey, MessageKind, RankFacts, Region, SiteId};
use super::*;

fn summary(execution: u32, executions: u32, visits: &[u64]) -> ExecutionSummary {
    let mut all = ExecutionSummary::of_one_visit(execution, visits[0]);
    visits[1..].iter().for_each(|&ns| all.absorb(&ExecutionSummary::of_one_visit(execution, ns)));
    all.executions = executions;
    all
}

fn values(executions: &[ExecutionSummary]) -> CallpathValues {
    CallpathValues { executions: executions.to_vec(), ..CallpathValues::default() }
}

fn map(rows: &[(u64, Option<u64>, CallpathValues)]) -> EventMap {
    let record = |&(id, parent, ref values): &(u64, Option<u64>, CallpathValues)| {
        let region = Region::named(SiteId::from_bits(id), format!("r{id}"));
        let id = CallpathId::from_bits;
        (id(region.site.to_bits()), parent.map(id), region, values.clone())
    };
    EventMap::from_records(rows.iter().map(record), RankFacts::default())
}

#[test]
fn a_part_has_what_came_after_the_one_before() {
    let earlier = map(&[
        (1, None, values(&[summary(0, 1, &[100])])),
        (2, Some(1), values(&[summary(0, 1, &[10, 20])])),
        (3, Some(1), values(&[summary(0, 1, &[5])])),
    ]);
    let later = map(&[
        (1, None, values(&[summary(0, 1, &[260])])),
        (2, Some(1), values(&[summary(0, 1, &[10, 20, 30])])),
        (3, Some(1), values(&[summary(0, 1, &[5])])),
        (4, Some(1), values(&[summary(0, 1, &[7, 8])])),
    ]);
    let part = later.since(&earlier);
    let found = part.callpaths.iter().map(|(at, callpath)| {
        let values = &part.values[at.row()];
        (callpath.region.name.clone(), values.visits(), values.inclusive_ns())
    });
    let mut found: Vec<(String, u64, u64)> = found.collect();
    found.sort();
    // The visit that was open has gone on; nothing is left of the third.
    let expected = [("r1", 1, 160), ("r2", 1, 30), ("r4", 2, 15)];
    assert_eq!(found, expected.map(|(name, visits, ns)| (name.to_owned(), visits, ns)));
    assert_eq!(later.since(&EventMap::default()), later);
    assert!(later.since(&later).callpaths.is_empty());
}

#[test]
fn executions_that_were_folded_since_are_one() {
    let earlier = [summary(0, 1, &[1, 2]), summary(1, 1, &[3]), summary(2, 1, &[4])];
    let later = [summary(0, 2, &[1, 2, 3]), summary(2, 2, &[4, 5, 6]), summary(4, 1, &[7])];
    let part = summaries_since(&later, &earlier);
    assert_eq!(part.len(), 1);
    assert_eq!((part[0].execution, part[0].executions), (2, 3));
    assert_eq!((part[0].visits, part[0].sum_ns), (3, 18));
    assert!(part[0].min_ns <= 5 && part[0].max_ns >= 7, "{part:?}");
    // A clock whose rate is known better makes no visit.
    let (before, after) = ([summary(0, 1, &[1_000_000])], [summary(0, 1, &[1_000_090])]);
    assert_eq!(summaries_since(&after, &before), []);
    // Those that were not are kept apart.
    let later = [earlier[0], earlier[1], summary(2, 1, &[4, 9]), summary(3, 1, &[8])];
    let part = summaries_since(&later, &earlier);
    assert_eq!(part, [summary(2, 1, &[9]), summary(3, 1, &[8])]);
}

#[test]
fn series_metrics_messages_and_edges_are_of_the_part() {
    let bucket = SeriesBucket::of_one_visit;
    let folded = SeriesBucket { visits: 2, sum_ns: 5, ..bucket(0, 2) };
    let after = series_since(&[folded, bucket(0, 4)], &[bucket(0, 2), bucket(0, 3)]);
    assert_eq!(after, [bucket(0, 4)]);
    // One that is in two parts is in neither.
    assert_eq!(series_since(&[folded, bucket(0, 4)], &[bucket(0, 2)]), [bucket(0, 4)]);

    let key = MessageKey { kind: MessageKind::MessageOut, partner: 1, size_class: 3 };
    let of = |count, sum: f64, instances: u64| {
        let metric = MetricSummary { values: count, sum, ..MetricSummary::of_one_value(0, 1.0) };
        let edge = Edge { count: instances, sum_ns: 10 * instances, ..Edge::default() };
        let metrics = MetricValues { executions: vec![metric], series: vec![] };
        CallpathValues {
            metrics: [("bytes".to_owned(), metrics)].into(),
            messages: [(key, Traffic { count, bytes: 8 * count })].into(),
            edges: [(
                super::super::EdgeKey::from_bits(1, CallpathId::from_bits(9)).expect("a key"),
                edge,
            )]
            .into(),
            ..values(&[summary(0, 1, &[1])])
        }
    };
    let part = of(7, 70.0, 5).since(&of(4, 40.0, 2));
    assert_eq!(part.messages[&key], Traffic { count: 3, bytes: 24 });
    assert_eq!((part.metrics["bytes"].values(), part.metrics["bytes"].sum()), (3, 30.0));
    assert_eq!(
        part.edges.values().map(|edge| (edge.count, edge.sum_ns)).collect::<Vec<_>>(),
        [(3, 30)]
    );
    assert!(part.executions.is_empty());
    assert!(of(4, 40.0, 2).since(&of(4, 40.0, 2)).is_absent());
}
