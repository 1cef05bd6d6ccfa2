//! The section of a callpath's times: summaries and series of all ranks of a part.
//!
//! ```text
//! 1 byte: 16 + the kind of the summaries
//! summaries of each rank (0: the rank never went there)
//! execution - position in the rank's list        all zero in a usual run
//! executions covered by each summary | visits    left out if the kind is 0: all one
//! sum  exclusive if the first byte has 32 in it, see `exclusive.rs`
//! minimum | maximum | sum of squares             left out if the kind is 0
//! variance of the sum                            only if the kind is 2
//! 1 byte: the kind of the series
//! the series, if there are any
//! ```
//!
//! | kind | summaries |
//! |---|---|
//! | 0 | one visit each, timed |
//! | 1 | timed visits |
//! | 2 | visits of which some were counted but not timed |
//! | 3 | the sums of the series: all columns above are omitted |
//!
//! | kind | series |
//! |---|---|
//! | 0 | none |
//! | 1 | the length of each rank's series, then the series as encoded by their ranks |
//! | 2 | all ranks in one set of columns, see `joined.rs`: smaller if series are short |
//!
//! Before version 0.3 the first byte, without the 16, followed the sums. Kind 0 did not omit
//! anything before it. There was no byte for the series, which were of kind 1. Readers of these
//! versions expect the tag of a column in place of the first byte. No tag is 16, so they refuse the
//! section instead of reading wrong numbers.

#[cfg(test)]
mod tests;

use super::encoded_rank::all_single;
use super::{exclusive, joined, series};
use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{CallpathValues, ExecutionSummary, precision};

/// The kinds of summaries.
const SINGLE: u8 = 0;
const TIMED: u8 = 1;
const SAMPLED: u8 = 2;
const OF_SERIES: u8 = 3;

/// The kinds of series.
const NONE: u8 = 0;
const OWN: u8 = 1;
const JOINED: u8 = 2;

/// Added to the kind of summaries in sections of version 0.3 or later.
const NEWER: u8 = 16;

/// Added to the kind of summaries if sums are exclusive, in version 1.0 or later.
const EXCLUSIVE: u8 = 32;

/// The times of a callpath on one rank.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RankUsage<'a> {
    pub(super) executions: &'a [ExecutionSummary],
    /// The bytes of its series.
    pub(super) series: &'a [u8],
    /// The sums of the children of each summary, if they may be omitted from its sum.
    pub(super) called: Option<&'a [u64]>,
}

/// The kind of sums in a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sums {
    Inclusive,
    /// Not yet inclusive: the sums of the callees must be added. `single` if the summaries hold one
    /// visit each.
    Exclusive {
        single: bool,
    },
}

/// Appends the bytes of the section.
pub(super) fn encode(sink: &mut Sink, ranks: &[RankUsage<'_>]) {
    let joined = joined::worth_joining(&ranks.iter().map(|rank| rank.series).collect::<Vec<_>>());
    if let Some(joined) = &joined
        && ranks
            .iter()
            .zip(joined)
            .all(|(rank, series)| precision::are_of_series(rank.executions, series))
    {
        sink.u8(NEWER | OF_SERIES);
        joined::encode(sink, joined);
        return;
    }
    encode_summaries(sink, ranks);
    if let Some(joined) = joined {
        sink.u8(JOINED);
        joined::encode(sink, &joined);
    } else if ranks.iter().all(|rank| rank.series.is_empty()) {
        sink.u8(NONE);
    } else {
        sink.u8(OWN);
        column::write_u64(sink, &ranks.iter().map(|r| r.series.len() as u64).collect::<Vec<_>>());
        ranks.iter().for_each(|rank| sink.bytes(rank.series));
    }
}

fn encode_summaries(sink: &mut Sink, ranks: &[RankUsage<'_>]) {
    let summaries = || ranks.iter().flat_map(|rank| rank.executions);
    let kind = if ranks.iter().all(|rank| all_single(rank.executions)) {
        SINGLE
    } else if summaries().any(|e| e.sum_variance_ns2.to_bits() != 0) {
        SAMPLED
    } else {
        TIMED
    };
    let (exclusive, sums) = encode_sums(ranks);
    sink.u8(NEWER | kind | if exclusive { EXCLUSIVE } else { 0 });
    column::write_u64(sink, &ranks.iter().map(|r| r.executions.len() as u64).collect::<Vec<_>>());
    let positions = ranks.iter().flat_map(|rank| rank.executions.iter().zip(0_u64..));
    let gaps = positions.map(|(e, position)| u64::from(e.execution).wrapping_sub(position));
    column::write_u64(sink, &gaps.collect::<Vec<_>>());
    let numbers = |sink: &mut Sink, of: fn(&ExecutionSummary) -> u64| {
        column::write_u64(sink, &summaries().map(of).collect::<Vec<_>>());
    };
    let floats = |sink: &mut Sink, of: fn(&ExecutionSummary) -> f64| {
        column::write_f64(sink, &summaries().map(of).collect::<Vec<_>>());
    };
    if kind != SINGLE {
        numbers(sink, |e| u64::from(e.executions));
        numbers(sink, |e| e.visits);
    }
    sink.bytes(sums.as_slice());
    if kind != SINGLE {
        numbers(sink, |e| e.min_ns);
        numbers(sink, |e| e.max_ns);
        floats(sink, |e| e.sum_squares_ns2);
    }
    if kind == SAMPLED {
        floats(sink, |e| e.sum_variance_ns2);
    }
}

/// Returns true if the sums are written as exclusive, and their column.
fn encode_sums(ranks: &[RankUsage<'_>]) -> (bool, Sink) {
    let sums: Vec<u64> = ranks.iter().flat_map(|rank| rank.executions).map(|e| e.sum_ns).collect();
    let mut inclusive = Sink::default();
    column::write_u64(&mut inclusive, &sums);
    let may_leave_out =
        ranks.iter().all(|rank| rank.called.is_some() || rank.executions.is_empty());
    if !may_leave_out || sums.is_empty() {
        return (false, inclusive);
    }
    let called = ranks.iter().filter_map(|rank| rank.called).flatten();
    let own: Vec<u64> = sums.iter().zip(called).map(|(sum, &n)| sum.wrapping_sub(n)).collect();
    let mut exclusive = Sink::default();
    column::write_u64(&mut exclusive, &own);
    if exclusive.len() < inclusive.len() { (true, exclusive) } else { (false, inclusive) }
}

/// Fills in the times of a callpath, rank by rank.
pub(super) fn decode(
    cursor: &mut Cursor<'_>,
    ranks: &mut [CallpathValues],
) -> Result<Sums, Malformed> {
    let first = cursor.clone().u8("the kind of summaries")?;
    let newer = first & NEWER != 0;
    let exclusive = newer && first & EXCLUSIVE != 0;
    let kind = newer.then_some(first & !(NEWER | EXCLUSIVE));
    if newer {
        cursor.u8("the kind of summaries")?;
    }
    if kind == Some(OF_SERIES) && !exclusive {
        joined::decode(cursor, ranks)?;
        for values in ranks {
            let executions = values.series.chunk_by(|a, b| a.execution == b.execution).count();
            cursor.claim_kept(executions, size_of::<ExecutionSummary>(), "the summaries")?;
            values.executions = precision::of_series(&values.series, executions);
        }
        return Ok(Sums::Inclusive);
    }
    let start = cursor.clone();
    cursor.passing(|cursor| decode_summaries(cursor, ranks, kind))?;
    if exclusive && !ranks.iter().all(|rank| exclusive::ascend(&rank.executions)) {
        return Err(
            start.malformed("summaries with exclusive sums are not in the order of executions")
        );
    }
    let series = if newer { cursor.u8("the kind of series")? } else { OWN };
    match series {
        NONE => {}
        OWN => decode_own_series(cursor, ranks)?,
        JOINED => joined::decode(cursor, ranks)?,
        other => return Err(cursor.malformed(format!("{other} is no kind of series"))),
    }
    Ok(if exclusive { Sums::Exclusive { single: kind == Some(SINGLE) } } else { Sums::Inclusive })
}

/// Decodes the summaries. `kind` is none if it follows the sums.
fn decode_summaries(
    cursor: &mut Cursor<'_>,
    ranks: &mut [CallpathValues],
    kind: Option<u8>,
) -> Result<(), Malformed> {
    let start = cursor.clone();
    let lengths = column::read_u64(cursor, ranks.len(), "the numbers of summaries")?;
    let total = lengths.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    let total = total.and_then(|n| usize::try_from(n).ok());
    let total = total.ok_or_else(|| start.malformed("the numbers of summaries overflow"))?;
    let gaps = column::read_u64(cursor, total, "the executions")?;
    let counts = if kind == Some(SINGLE) {
        None
    } else {
        let spans = column::read_u64(cursor, total, "the covered executions")?;
        Some((spans, column::read_u64(cursor, total, "the visits")?))
    };
    let sums = column::read_u64(cursor, total, "the sums")?;
    let kind = kind.map_or_else(|| cursor.u8("the kind of summaries"), Ok)?;
    let more = match kind {
        SINGLE => None,
        TIMED | SAMPLED => Some((
            column::read_u64(cursor, total, "the minima")?,
            column::read_u64(cursor, total, "the maxima")?,
            column::read_f64(cursor, total, "the sums of squares")?,
            if kind == SAMPLED {
                column::read_f64(cursor, total, "the variances")?
            } else {
                cursor.claim_temporary(total, size_of::<f64>(), "the variances")?;
                vec![0.0; total]
            },
        )),
        other => return Err(start.malformed(format!("{other} is no kind of summaries"))),
    };
    cursor.claim_kept(total, size_of::<ExecutionSummary>(), "the summaries")?;
    let mut at = 0;
    for (values, &length) in ranks.iter_mut().zip(&lengths) {
        // The lengths add up to the length of the columns that have been read.
        values.executions = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
        for position in 0..length {
            let span = counts.as_ref().map_or(1, |(spans, _)| spans[at]);
            let execution = u32::try_from(gaps[at].wrapping_add(position));
            let (Ok(execution), Ok(executions)) = (execution, u32::try_from(span)) else {
                return Err(start.malformed("an execution does not fit 32 bits"));
            };
            values.executions.push(match (&more, &counts) {
                (Some((minima, maxima, squares, variances)), Some((_, visits))) => {
                    ExecutionSummary {
                        execution,
                        executions,
                        visits: visits[at],
                        sum_ns: sums[at],
                        min_ns: minima[at],
                        max_ns: maxima[at],
                        sum_squares_ns2: squares[at],
                        sum_variance_ns2: variances[at],
                    }
                }
                _ => ExecutionSummary::of_one_visit(execution, sums[at]),
            });
            at += 1;
        }
    }
    Ok(())
}

fn decode_own_series(
    cursor: &mut Cursor<'_>,
    ranks: &mut [CallpathValues],
) -> Result<(), Malformed> {
    let lengths = column::read_u64(cursor, ranks.len(), "the lengths of the series")?;
    for (values, length) in ranks.iter_mut().zip(lengths) {
        let base = cursor.clone();
        let bytes = cursor.take(usize::try_from(length).unwrap_or(usize::MAX), "a series")?;
        values.series = base.sub(bytes).passing(series::decode)?;
    }
    Ok(())
}
