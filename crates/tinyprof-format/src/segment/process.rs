//! The event map of a process, read from its segments.

use std::collections::HashSet;

use tinyprof_segment::clock::Moment;
use tinyprof_segment::layout::header;

use super::commands::{commands_of, off_ns_until, off_since};
use super::header::{Segment, TickClock};
use super::record::{Record, Records, records};
use crate::model::{
    ClockFacts, EventMap, Losses, ProcessorFacts, RankFacts, ThreadTimes, with_callers,
};
use crate::ticks::{OpenVisit, Scale};

/// Returns the event map of one process from all of its segments, as far as they can be read.
///
/// `now` must be of the same boot of the same machine. Open visits count with their time up to the
/// last moment recorded in the segments: they are certain to have lasted that long.
#[must_use]
pub fn recovered_map(segments: &[Segment<'_>], now: Moment) -> EventMap {
    map_until(segments, now, |threads, _| {
        threads.iter().map(|(_, records)| last_moment(&records.callpaths)).max().unwrap_or(0)
    })
}

/// Returns the event map of a process that is still running, from consistent copies of its
/// segments.
///
/// Open visits count with their time up to `now`, which must be of the same boot of the same
/// machine.
#[must_use]
pub fn running_map(segments: &[Segment<'_>], now: Moment) -> EventMap {
    let mut map = map_until(segments, now, |_, segment| match segment.header().clock {
        TickClock::Counter => now.ticks,
        TickClock::Monotonic => now.monotonic_ns,
    });
    map.facts.commands.off_ns = off_ns_until(segments, now.monotonic_ns);
    map
}

/// Returns the event map of a process. Its open visits end at the moment that `until` returns, in
/// ticks.
fn map_until(
    segments: &[Segment<'_>],
    now: Moment,
    until: impl Fn(&[(Scale, Records)], &Segment<'_>) -> u64,
) -> EventMap {
    let mut losses = Losses::default();
    let (mut clock, mut processor) = (ClockFacts::default(), ProcessorFacts::default());
    let threads: Vec<(Scale, Records)> = segments
        .iter()
        .map(|segment| {
            losses.absorb(&losses_of(segment));
            clock.absorb(&clock_facts_of(segment));
            processor.absorb(&processor_facts_of(segment));
            (scale(segment, now), records(segment, &mut losses))
        })
        .collect();
    let last = segments.first().map_or(0, |segment| until(&threads, segment));
    let (mut merged, mut metrics) = (Vec::new(), Vec::new());
    let (mut messages, mut edges) = (Vec::new(), Vec::new());
    let mut times = ThreadTimes::new(threads.len());
    for (thread, (scale, records)) in threads.into_iter().enumerate() {
        let last = off_since(&segments[thread]).unwrap_or(last);
        let with_metrics = records.metrics.iter().map(|metric| metric.callpath);
        let with_messages = records.messages.iter().map(|(callpath, ..)| *callpath);
        let with_edges = records.edges.iter().map(|(callpath, ..)| *callpath);
        let present: HashSet<_> = with_metrics.chain(with_messages).chain(with_edges).collect();
        metrics.extend(records.metrics);
        messages.extend(records.messages);
        edges.extend(records.edges);
        for record in records.callpaths {
            losses.visits_open += u64::from(record.open.is_some());
            let mut values = scale.values(&record.executions, &record.series, record.open, last);
            if let Some(period_ns) = record.region.sample_period_ns() {
                values.estimate_samples(period_ns);
            }
            if !values.executions.is_empty() || present.contains(&record.id) {
                let record = (record.id, record.parent, record.region, values);
                merged.extend(times.pass(thread, record));
            }
        }
    }
    let facts = RankFacts {
        host: segments.first().map(Segment::description).unwrap_or_default().host,
        process_id: segments.first().map_or(0, |segment| segment.header().process_id),
        threads: u32::try_from(segments.len()).unwrap_or(u32::MAX),
        losses,
        clock,
        processor,
        commands: commands_of(segments),
        ..RankFacts::default()
    };
    let merged = merged.into_iter().flat_map(with_callers);
    let mut map = EventMap::from_records(merged, facts);
    let metrics = metrics.into_iter().map(|metric| (metric.callpath, metric.key, metric.values));
    let metrics = metrics.chain(times.metrics());
    map.facts.losses.records_unreadable += map.add_metrics(metrics);
    map.facts.losses.records_unreadable += map.add_messages(messages);
    map.facts.losses.records_unreadable += map.add_edges(edges);
    map.bound_estimates();
    map
}

fn losses_of(segment: &Segment<'_>) -> Losses {
    let word = |word| segment.words.get(0, word).unwrap_or(0);
    Losses {
        visits_not_recorded: word(header::VISITS_LOST).saturating_add(word(header::LOST_ELSEWHERE)),
        visits_in_other: word(header::VISITS_IN_OTHER),
        visits_unbalanced: word(header::VISITS_UNBALANCED),
        clock_steps_back: word(header::CLOCK_STEPS_BACK),
        segments_not_mapped: word(header::NOT_MAPPED),
        visits_not_timed: word(header::VISITS_NOT_TIMED),
        values_not_recorded: word(header::VALUES_NOT_RECORDED),
        visits_kept_out: word(header::VISITS_KEPT_OUT)
            .saturating_add(word(header::KEPT_OUT_ELSEWHERE)),
        visits_too_deep: word(header::VISITS_TOO_DEEP),
        visits_without_key: word(header::VISITS_WITHOUT_KEY),
        messages_without_partner: word(header::MESSAGES_LOST),
        edges_without_partner: word(header::EDGES_LOST),
        ..Losses::default()
    }
}

fn clock_facts_of(segment: &Segment<'_>) -> ClockFacts {
    let fact = |at| segment.words.get(0, header::CLOCK + at).unwrap_or(0);
    ClockFacts::from_numbers(std::array::from_fn(fact))
}

fn processor_facts_of(segment: &Segment<'_>) -> ProcessorFacts {
    // Segments have the first of them.
    let fact = |at| match at {
        0..header::PROCESSOR_WORDS => segment.words.get(0, header::PROCESSOR + at).unwrap_or(0),
        _ => 0,
    };
    ProcessorFacts::from_numbers(std::array::from_fn(fact))
}

/// Returns the last moment at which the thread was certainly alive, in ticks. This is the latest
/// entry of an open region, or the entry of an open root plus the time measured inside it since.
fn last_moment(records: &[Record]) -> u64 {
    let starts = records.iter().filter_map(|record| record.open).map(|visit| visit.since);
    let latest = starts.max().unwrap_or(0);
    let root = records.iter().find(|record| record.parent.is_none() && record.open.is_some());
    let Some((root, OpenVisit { since, execution })) =
        root.and_then(|root| Some((root, root.open?)))
    else {
        return latest;
    };
    let inside =
        records.iter().filter(|record| record.parent == Some(root.id)).filter_map(|record| {
            record
                .executions
                .last()
                .filter(|e| (e.execution, e.executions) == (execution, 1))
                .map(|e| e.sum)
        });
    latest.max(inside.fold(since, u64::saturating_add))
}

pub(super) fn scale(segment: &Segment<'_>, now: Moment) -> Scale {
    let header = segment.header();
    let start = Moment { ticks: header.start_ticks, monotonic_ns: header.start_ns };
    match header.clock {
        TickClock::Counter => Scale::between(start, now),
        TickClock::Monotonic => Scale::NANOSECONDS,
    }
}
