//! Tests of encoded ranks.

use super::*;
use crate::model::{CallpathId, EdgeKind, MessageKind, MetricBucket, MetricSummary, SeriesBucket};

fn messages(rank: &EncodedRank) -> (Vec<u8>, Vec<u8>) {
    // Bytes that are already in the messages must stay.
    let (mut summary, mut series) = (vec![9], vec![9; 2]);
    rank.append_summary(&mut summary);
    rank.append_series(&mut series);
    (summary.split_off(1), series.split_off(2))
}

#[test]
fn padding_behind_a_summary_is_ignored_and_a_cut_is_noticed() {
    let sampled =
        ExecutionSummary { sum_variance_ns2: 2.5, ..ExecutionSummary::of_one_visit(0, 100) };
    let metric = |key: &str, value: f64| EncodedMetric {
        key: key.into(),
        executions: vec![MetricSummary::of_one_value(0, value)],
        series: series::encode_metric(&[MetricBucket::of_one_value(0, value)]),
    };
    let callpath = |row| EncodedCallpath {
        row,
        executions: vec![sampled],
        series: series::encode(&[SeriesBucket::of_one_visit(0, 100)]),
        metrics: vec![metric("", f64::INFINITY), metric("größe", -1.0)],
        messages: [-1, 1]
            .map(|partner| {
                let key = MessageKey::new(MessageKind::MessageOut, partner, 8);
                (key, Traffic { count: 2, bytes: 16 })
            })
            .into(),
        edges: [-1, 1]
            .map(|partner| {
                let from = CallpathId::from_bits(u64::MAX);
                let numbers = Edge { late_receiver_ns: 7, order: 9, ..Edge::of_one_instance(5) };
                (EdgeKey { kind: EdgeKind::Message, partner, from }, numbers)
            })
            .into(),
    };
    let facts = RankFacts {
        host: "node-7".into(),
        process_id: 42,
        threads: 2,
        peak_memory_bytes: 1 << 40,
        losses: Losses::from_numbers(std::array::from_fn(|i| i as u64)),
        clock: ClockFacts::from_numbers(std::array::from_fn(|i| i as u64)),
        causes: Some(Box::new(causes::tests::some_causes(7))),
        events: None,
        processor: ProcessorFacts::from_numbers(std::array::from_fn(|i| 70 + i as u64)),
        commands: commands::tests::some_commands(3),
    };
    let events = events::encode(&events::tests::some_events(9));
    let rank = EncodedRank { facts, callpaths: vec![callpath(3), callpath(5)], events };
    let (mut summary, series) = messages(&rank);
    assert_eq!((summary.len(), series.len()), (rank.summary_length(), rank.series_length()));
    let exact = summary.len();
    summary.resize(exact + 100, 0);
    assert_eq!(EncodedRank::from_messages(&summary, &series).unwrap(), rank);
    assert!(EncodedRank::from_messages(&summary[..exact - 1], &series).is_err());
    for cut in 0..series.len() {
        assert!(EncodedRank::from_messages(&summary, &series[..cut]).is_err(), "cut at {cut}");
    }
    assert!(EncodedRank::from_messages(&summary, &series[1..]).is_err());
}

#[test]
fn a_callpath_with_metrics_alone_is_sent() {
    use crate::model::{CallpathValues, MetricValues};
    let recorded =
        MetricValues { executions: vec![MetricSummary::of_one_value(0, 1.0)], series: Vec::new() };
    let values =
        CallpathValues { metrics: [("k".into(), recorded)].into(), ..CallpathValues::default() };
    let map = EventMap { values: vec![CallpathValues::default(), values], ..EventMap::default() };
    let rank = EncodedRank::of_event_map(&map);
    assert_eq!(rank.callpaths.iter().map(|c| c.row).collect::<Vec<_>>(), [1]);
    let (summary, series) = messages(&rank);
    assert_eq!(EncodedRank::from_messages(&summary, &series), Ok(rank));
}
