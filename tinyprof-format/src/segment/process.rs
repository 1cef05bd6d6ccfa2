//! The event map of a process that has ended without writing it.

use super::header::{Segment, TickClock};
use super::layout::header;
use super::record::{Record, records};
use crate::model::{CallpathValues, EventMap, ExecutionSummary, Losses, RankFacts, SeriesBucket};

/// A moment of the reader on both clocks: with the moment in the segment it gives the rate of the ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicksNow {
    /// The processor's counter, as the recorder reads it.
    pub ticks: u64,
    /// Nanoseconds of `CLOCK_MONOTONIC`.
    pub monotonic_ns: u64,
}

/// The event map of one process, from all of its segments: whatever they hold that can be read.
///
/// `now` must be of the same boot of the same machine. Visits that were open count with the time that they have
/// lasted for certain: until the last moment that the segments tell of.
#[must_use]
pub fn recovered_map(segments: &[Segment<'_>], now: TicksNow) -> EventMap {
    let mut losses = Losses::default();
    let threads: Vec<(f64, Vec<Record>)> = segments
        .iter()
        .map(|segment| {
            losses.absorb(&losses_of(segment));
            (ns_per_tick(segment, now), records(segment, &mut losses))
        })
        .collect();
    let last = threads.iter().map(|(_, records)| last_moment(records)).max().unwrap_or(0);
    let mut merged = Vec::new();
    for (scale, records) in threads {
        for record in records {
            let (id, parent, region) = (record.id, record.parent, record.region.clone());
            let values = values(&record, Scale(scale), last, &mut losses);
            if !values.executions.is_empty() {
                merged.push((id, parent, region, values));
            }
        }
    }
    let facts = RankFacts {
        host: segments.first().map(Segment::description).unwrap_or_default().host,
        process_id: segments.first().map_or(0, |segment| segment.header().process_id),
        threads: u32::try_from(segments.len()).unwrap_or(u32::MAX),
        losses,
    };
    EventMap::from_records(merged, facts)
}

fn losses_of(segment: &Segment<'_>) -> Losses {
    let word = |word| segment.words.get(0, word).unwrap_or(0);
    Losses {
        visits_not_recorded: word(header::VISITS_LOST),
        visits_in_other: word(header::VISITS_IN_OTHER),
        visits_unbalanced: word(header::VISITS_UNBALANCED),
        clock_steps_back: word(header::CLOCK_STEPS_BACK),
        segments_not_mapped: word(header::NOT_MAPPED),
        ..Losses::default()
    }
}

/// The last moment at which the thread was alive for certain, in ticks: the latest entry of an open region, or
/// the entry of an open root plus what was measured inside of it since.
fn last_moment(records: &[Record]) -> u64 {
    let starts = records.iter().filter_map(|record| record.open).map(|(start, _)| start);
    let latest = starts.max().unwrap_or(0);
    let root = records.iter().find(|record| record.parent.is_none() && record.open.is_some());
    let Some((root, (start, execution))) = root.and_then(|root| Some((root, root.open?))) else {
        return latest;
    };
    let inside = records.iter().filter(|record| record.parent == Some(root.id)).filter_map(|record| {
        record.executions.last().filter(|e| (e.execution, e.executions) == (execution, 1)).map(|e| e.sum)
    });
    latest.max(inside.fold(start, u64::saturating_add))
}

fn ns_per_tick(segment: &Segment<'_>, now: TicksNow) -> f64 {
    let header = segment.header();
    let ticks = to_float(now.ticks.saturating_sub(header.start_ticks));
    let ns = to_float(now.monotonic_ns.saturating_sub(header.start_ns));
    let known = header.clock == TickClock::Counter && ticks > 0.0 && ns > 0.0;
    if known { ns / ticks } else { 1.0 }
}

#[expect(clippy::cast_precision_loss, reason = "a rate needs no more than 53 bits")]
fn to_float(number: u64) -> f64 {
    number as f64
}

#[derive(Clone, Copy)]
struct Scale(f64);

impl Scale {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the product is never negative, and a conversion of what is too large gives the largest"
    )]
    fn ns(self, ticks: u64) -> u64 {
        (to_float(ticks) * self.0).round() as u64
    }

    #[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
    fn ns2(self, square_ticks: u128) -> f64 {
        square_ticks as f64 * self.0 * self.0
    }
}

fn values(record: &Record, scale: Scale, last: u64, losses: &mut Losses) -> CallpathValues {
    let mut values = CallpathValues::default();
    for past in &record.executions {
        let sum_ns = scale.ns(past.sum);
        let one = past.visits == 1 && past.executions == 1;
        let (min_ns, max_ns) = (scale.ns(past.min.min(past.max)), scale.ns(past.max));
        values.executions.push(if one {
            ExecutionSummary::of_one_visit(past.execution, sum_ns)
        } else {
            ExecutionSummary {
                execution: past.execution,
                executions: past.executions,
                visits: past.visits,
                sum_ns,
                min_ns,
                max_ns,
                sum_squares_ns2: scale.ns2(past.squares),
            }
        });
    }
    if let Some((start, execution)) = record.open {
        losses.visits_open += 1;
        let open = ExecutionSummary::of_one_visit(execution, scale.ns(last.saturating_sub(start)));
        match values.executions.last_mut().filter(|e| e.execution == execution) {
            Some(same) => same.absorb(&open),
            None if execution < u32::MAX => values.executions.push(open),
            None => {}
        }
    }
    values.series = record
        .series
        .iter()
        .map(|visit| SeriesBucket {
            execution: visit.execution,
            visits: visit.visits,
            sum_ns: scale.ns(visit.sum),
            min_ns: scale.ns(visit.min),
            max_ns: scale.ns(visit.max),
        })
        .collect();
    values
}
