//! Any measurements of ranks come back from the bytes of a profile, and every column from its own
//! bytes.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use tinyprof_format::column;
use tinyprof_format::model::{
    CallpathId, CallpathValues, ClockFacts, Edge, EdgeKey, EdgeKind, EventMap, ExecutionSummary,
    MessageKey, MessageKind, MetricBucket, MetricSummary, MetricValues, Mode, Precision, RankFacts,
    Region, RegionKind, SeriesBucket, SiteId, Traffic,
};
use tinyprof_fuzz::again::round_trip;

fuzz_target!(|bytes: &[u8]| {
    let values: Vec<u64> = bytes.chunks(8).map(number).collect();
    assert_eq!(column::decode(&column::encode(&values), values.len()).as_ref(), Ok(&values));
    // Bytes that are not a column give an error or values, never a panic.
    drop(column::decode(bytes, values.len()));
    let mut input = Unstructured::new(bytes);
    if let Ok(ranks) =
        (0..1 + bytes.len() % 3).map(|_| event_map(&mut input)).collect::<Result<Vec<_>>>()
    {
        round_trip(&ranks);
    }
});

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn event_map(input: &mut Unstructured<'_>) -> Result<EventMap> {
    let mut known: Vec<CallpathId> = Vec::new();
    let mut records = Vec::new();
    for _ in 0..input.int_in_range(0..=6)? {
        let site = SiteId::from_bits(input.int_in_range(0..=7)?);
        let parent = if known.is_empty() || input.arbitrary()? {
            None
        } else {
            Some(*input.choose(&known)?)
        };
        let id = parent.map_or(CallpathId::root(site), |parent| parent.child(site));
        if !known.contains(&id) {
            known.push(id);
            records.push((id, parent, region(site), values(input)?));
        }
    }
    let clock = ClockFacts { inversions: input.arbitrary()?, ..ClockFacts::default() };
    let map = EventMap::from_records(records, RankFacts { clock, ..RankFacts::default() });
    let precision = if input.arbitrary()? { Precision::Exact } else { Precision::EightBit };
    Ok(map.in_precision(precision).into_owned())
}

fn region(site: SiteId) -> Region {
    Region {
        site,
        name: format!("r{}", site.to_bits()),
        module: "m".to_owned(),
        file: "f.rs".to_owned(),
        line: 1,
        column: 1,
        kind: RegionKind::Loop,
        mode: Mode::Each,
        rank_local: false,
        constants: [].into(),
    }
}

fn values(input: &mut Unstructured<'_>) -> Result<CallpathValues> {
    let mut values = CallpathValues::default();
    let mut execution = 0;
    for _ in 0..input.int_in_range(1..=4)? {
        execution += input.int_in_range(0..=2)?;
        let ns = input.arbitrary()?;
        let one = ExecutionSummary::of_one_visit(execution, ns);
        values.executions.push(if input.arbitrary()? {
            one
        } else {
            let (visits, min_ns, sum_variance_ns2) =
                (input.arbitrary()?, input.arbitrary()?, input.arbitrary()?);
            ExecutionSummary { visits, min_ns, sum_variance_ns2, ..one }
        });
        execution += 1;
    }
    for _ in 0..input.int_in_range(0..=40)? {
        let bucket = SeriesBucket::of_one_visit(
            input.int_in_range(0..=3)?,
            input.arbitrary::<u32>()?.into(),
        );
        let visits = input.int_in_range(1..=2)?;
        values.series.push(SeriesBucket { visits, ..bucket });
    }
    values.series.sort_by_key(|bucket| bucket.execution);
    if input.arbitrary()? {
        let metric = MetricValues {
            executions: vec![MetricSummary::of_one_value(0, input.arbitrary()?)],
            series: vec![MetricBucket::of_one_value(0, input.arbitrary()?)],
        };
        values.metrics.insert(input.arbitrary::<String>()?, metric);
    }
    for _ in 0..input.int_in_range(0..=4)? {
        let kind = *input.choose(&MessageKind::ALL)?;
        let partner =
            if input.arbitrary()? { input.int_in_range(-1..=1)? } else { input.arbitrary()? };
        let key = MessageKey::new(kind, partner, input.arbitrary()?);
        let traffic = Traffic { count: input.arbitrary()?, bytes: input.arbitrary()? };
        values.messages.insert(key, traffic);
    }
    for order in 0..input.int_in_range(0..=4)? {
        let kind = *input.choose(&EdgeKind::ALL)?;
        let partner =
            if input.arbitrary()? { input.int_in_range(-1..=1)? } else { input.arbitrary()? };
        let key = EdgeKey { kind, partner, from: CallpathId::from_bits(input.arbitrary()?) };
        // The squares of equal times, as others are rounded.
        let (count, sum_ns): (u64, u64) = (input.arbitrary()?, input.arbitrary()?);
        let mean_ns = sum_ns as f64 / count.max(1) as f64;
        let edge = Edge {
            count,
            sum_ns,
            sum_squares_ns2: sum_ns as f64 * mean_ns,
            bytes: input.arbitrary()?,
            min_ns: input.arbitrary()?,
            compensated_ns: input.arbitrary()?,
            late_receiver_ns: input.arbitrary()?,
            order,
            ..Edge::default()
        };
        values.edges.insert(key, edge);
    }
    Ok(values)
}
