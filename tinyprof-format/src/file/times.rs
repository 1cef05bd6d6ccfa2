//! The section of a callpath's times: summaries and series of all ranks of a part.
//!
//! ```text
//! 1 byte: 16 + the kind of the summaries
//! summaries of each rank (0: the rank never went there)
//! execution - position in the rank's list        all zero in a usual run
//! executions covered by each summary | visits    left out if the kind is 0: all one
//! sum
//! minimum | maximum | sum of squares             left out if the kind is 0
//! variance of the sum                            only if the kind is 2
//! 1 byte: the kind of the series
//! the series, if there are any
//! ```
//!
//! | kind | summaries |
//! |---|---|
//! | 0 | hold one visit each, which was timed |
//! | 1 | hold visits that were timed |
//! | 2 | hold visits some of which were counted but not timed |
//! | 3 | add up what is in the series: all columns above are left out |
//!
//! | kind | series |
//! |---|---|
//! | 0 | there are none |
//! | 1 | the length of each rank's, then the series themselves, as their ranks encoded them |
//! | 2 | of all ranks in one set of columns, see `joined.rs`: smaller where series are short |
//!
//! Before version 0.3 the byte, without the 16, stood behind the sums, kind 0 did not leave out anything before it, and there
//! was no byte for the series, which were those of kind 1. Readers of these versions expect the tag of a column where
//! the byte now stands: 16 is none, so that they refuse the section instead of reading wrong numbers.

use super::encoded_rank::all_single;
use super::{joined, series};
use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{CallpathValues, ExecutionSummary, SeriesBucket};

/// The kinds of summaries.
const SINGLE: u8 = 0;
const TIMED: u8 = 1;
const SAMPLED: u8 = 2;
const OF_SERIES: u8 = 3;

/// The kinds of series.
const NONE: u8 = 0;
const OWN: u8 = 1;
const JOINED: u8 = 2;

/// Added to the kind of summaries: the section is of version 0.3 or later.
const NEWER: u8 = 16;

/// What one rank has of a callpath: summaries, and the bytes of its series.
pub(super) type RankTimes<'a> = (&'a [ExecutionSummary], &'a [u8]);

/// The bytes of the section.
pub(super) fn encode(ranks: &[RankTimes<'_>]) -> Vec<u8> {
    let mut sink = Sink::default();
    let joined = joined::worth_joining(&ranks.iter().map(|(_, series)| *series).collect::<Vec<_>>());
    if let Some(joined) = &joined
        && ranks.iter().zip(joined).all(|((executions, _), series)| are_of_series(executions, series))
    {
        sink.u8(NEWER | OF_SERIES);
        joined::encode(&mut sink, joined);
        return sink.into_vec();
    }
    encode_summaries(&mut sink, ranks);
    if let Some(joined) = joined {
        sink.u8(JOINED);
        joined::encode(&mut sink, &joined);
    } else if ranks.iter().all(|(_, series)| series.is_empty()) {
        sink.u8(NONE);
    } else {
        sink.u8(OWN);
        column::write_u64(&mut sink, &ranks.iter().map(|(_, s)| s.len() as u64).collect::<Vec<_>>());
        ranks.iter().for_each(|(_, series)| sink.bytes(series));
    }
    sink.into_vec()
}

fn encode_summaries(sink: &mut Sink, ranks: &[RankTimes<'_>]) {
    let summaries: Vec<ExecutionSummary> = ranks.iter().flat_map(|(e, _)| e.iter().copied()).collect();
    let kind = if all_single(&summaries) {
        SINGLE
    } else if summaries.iter().any(|e| e.sum_variance_ns2.to_bits() != 0) {
        SAMPLED
    } else {
        TIMED
    };
    sink.u8(NEWER | kind);
    column::write_u64(sink, &ranks.iter().map(|(e, _)| e.len() as u64).collect::<Vec<_>>());
    let positions = ranks.iter().flat_map(|(e, _)| e.iter().zip(0_u64..));
    let gaps = positions.map(|(e, position)| u64::from(e.execution).wrapping_sub(position));
    column::write_u64(sink, &gaps.collect::<Vec<_>>());
    let numbers = |sink: &mut Sink, of: fn(&ExecutionSummary) -> u64| {
        column::write_u64(sink, &summaries.iter().map(of).collect::<Vec<_>>());
    };
    let floats = |sink: &mut Sink, of: fn(&ExecutionSummary) -> f64| {
        column::write_f64(sink, &summaries.iter().map(of).collect::<Vec<_>>());
    };
    if kind != SINGLE {
        numbers(sink, |e| u64::from(e.executions));
        numbers(sink, |e| e.visits);
    }
    numbers(sink, |e| e.sum_ns);
    if kind != SINGLE {
        numbers(sink, |e| e.min_ns);
        numbers(sink, |e| e.max_ns);
        floats(sink, |e| e.sum_squares_ns2);
    }
    if kind == SAMPLED {
        floats(sink, |e| e.sum_variance_ns2);
    }
}

/// Whether summaries are those of a series, bit by bit.
fn are_of_series(executions: &[ExecutionSummary], series: &[SeriesBucket]) -> bool {
    let bits = |e: &ExecutionSummary| [e.sum_squares_ns2, e.sum_variance_ns2].map(f64::to_bits);
    let of_series = of_series(series);
    series.iter().all(|b| *b == SeriesBucket::of_one_visit(b.execution, b.sum_ns))
        && executions == of_series
        && executions.iter().map(bits).eq(of_series.iter().map(bits))
}

/// The summaries of a series whose buckets hold one visit each.
fn of_series(series: &[SeriesBucket]) -> Vec<ExecutionSummary> {
    let mut summaries: Vec<ExecutionSummary> = Vec::new();
    for bucket in series {
        let visit = ExecutionSummary::of_one_visit(bucket.execution, bucket.sum_ns);
        match summaries.last_mut().filter(|last| last.execution == bucket.execution) {
            Some(last) => last.absorb(&visit),
            None => summaries.push(visit),
        }
    }
    summaries
}

/// Fills in the times of a callpath, rank by rank.
pub(super) fn decode(cursor: &mut Cursor<'_>, ranks: &mut [CallpathValues]) -> Result<(), Malformed> {
    let first = cursor.clone().u8("the kind of summaries")?;
    let newer = first & NEWER != 0;
    let kind = newer.then_some(first & !NEWER);
    if newer {
        cursor.u8("the kind of summaries")?;
    }
    if kind == Some(OF_SERIES) {
        joined::decode(cursor, ranks)?;
        ranks.iter_mut().for_each(|values| values.executions = of_series(&values.series));
        return Ok(());
    }
    decode_summaries(cursor, ranks, kind)?;
    let series = if newer { cursor.u8("the kind of series")? } else { OWN };
    match series {
        NONE => Ok(()),
        OWN => decode_own_series(cursor, ranks),
        JOINED => joined::decode(cursor, ranks),
        other => Err(cursor.malformed(format!("{other} is no kind of series"))),
    }
}

/// `kind` is none where it stands behind the sums.
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
                vec![0.0; total]
            },
        )),
        other => return Err(start.malformed(format!("{other} is no kind of summaries"))),
    };
    let mut at = 0;
    for (values, &length) in ranks.iter_mut().zip(&lengths) {
        values.executions.clear();
        for position in 0..length {
            let span = counts.as_ref().map_or(1, |(spans, _)| spans[at]);
            let execution = u32::try_from(gaps[at].wrapping_add(position));
            let (Ok(execution), Ok(executions)) = (execution, u32::try_from(span)) else {
                return Err(start.malformed("an execution does not fit 32 bits"));
            };
            values.executions.push(match (&more, &counts) {
                (Some((minima, maxima, squares, variances)), Some((_, visits))) => ExecutionSummary {
                    execution,
                    executions,
                    visits: visits[at],
                    sum_ns: sums[at],
                    min_ns: minima[at],
                    max_ns: maxima[at],
                    sum_squares_ns2: squares[at],
                    sum_variance_ns2: variances[at],
                },
                _ => ExecutionSummary::of_one_visit(execution, sums[at]),
            });
            at += 1;
        }
    }
    Ok(())
}

fn decode_own_series(cursor: &mut Cursor<'_>, ranks: &mut [CallpathValues]) -> Result<(), Malformed> {
    let lengths = column::read_u64(cursor, ranks.len(), "the lengths of the series")?;
    for (values, length) in ranks.iter_mut().zip(lengths) {
        let base = cursor.clone();
        let bytes = cursor.take(usize::try_from(length).unwrap_or(usize::MAX), "a series")?;
        values.series = series::decode(base.sub(bytes))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(execution: u32, times_ns: &[u64]) -> Vec<SeriesBucket> {
        times_ns.iter().map(|&ns| SeriesBucket::of_one_visit(execution, ns)).collect()
    }

    fn kind_after_a_round_trip(ranks: &[(Vec<ExecutionSummary>, Vec<SeriesBucket>)]) -> u8 {
        let encoded: Vec<Vec<u8>> = ranks.iter().map(|(_, buckets)| series::encode(buckets)).collect();
        let times: Vec<RankTimes<'_>> =
            ranks.iter().zip(&encoded).map(|((e, _), s)| (e.as_slice(), s.as_slice())).collect();
        let bytes = encode(&times);
        let mut found = vec![CallpathValues::default(); ranks.len()];
        let mut cursor = Cursor::new(&bytes, 0);
        decode(&mut cursor, &mut found).unwrap();
        cursor.finish("the section").unwrap();
        for (values, (executions, series)) in found.iter().zip(ranks) {
            assert_eq!((&values.executions, &values.series), (executions, series));
        }
        bytes[0] & !NEWER
    }

    #[test]
    fn sums_of_a_series_are_not_stored_beside_it() {
        let mut buckets = series(0, &[5, 3, 9]);
        buckets.extend(series(2, &[1]));
        let summaries = of_series(&buckets);
        assert_eq!(
            summaries.iter().map(|e| (e.execution, e.visits, e.sum_ns)).collect::<Vec<_>>(),
            [(0, 3, 17), (2, 1, 1)]
        );
        let absent = (Vec::new(), Vec::new());
        let whole = (summaries.clone(), buckets.clone());
        assert_eq!(kind_after_a_round_trip(&[whole.clone(), absent, whole.clone()]), OF_SERIES);
        // Anything that the series does not tell is stored.
        let with = |change: fn(&mut ExecutionSummary)| {
            let mut summaries = summaries.clone();
            change(&mut summaries[0]);
            kind_after_a_round_trip(&[whole.clone(), (summaries, buckets.clone())])
        };
        assert_eq!(with(|e| e.visits += 1), TIMED);
        assert_eq!(with(|e| e.sum_squares_ns2 += 1.0), TIMED);
        assert_eq!(with(|e| e.sum_variance_ns2 = 1.0), SAMPLED);
        assert_eq!(kind_after_a_round_trip(&[whole.clone(), (summaries.clone(), Vec::new())]), TIMED);
        let folded = vec![SeriesBucket { visits: 4, sum_ns: 18, min_ns: 1, max_ns: 9, execution: 0 }];
        assert_eq!(kind_after_a_round_trip(&[(summaries, folded)]), TIMED);
    }

    #[test]
    fn single_visits_without_series_are_the_smallest() {
        let once = |ns| (vec![ExecutionSummary::of_one_visit(0, ns)], Vec::new());
        assert_eq!(kind_after_a_round_trip(&[once(7), once(9)]), SINGLE);
    }

    #[test]
    fn a_reader_of_the_older_layout_finds_no_column_where_the_kind_is() {
        let bytes = encode(&[(&[ExecutionSummary::of_one_visit(0, 7)], &[])]);
        let error = column::read_u64(&mut Cursor::new(&bytes, 0), 1, "the numbers of summaries").unwrap_err();
        assert!(error.reason.contains("no readable encoding"), "{error:?}");
    }

    #[test]
    fn unknown_kinds_are_errors() {
        for bytes in [&[NEWER | 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &[NEWER | SINGLE, 0, 0, 0, 0, 0, 0, 9]]
        {
            let error = decode(&mut Cursor::new(bytes, 0), &mut [CallpathValues::default()]).unwrap_err();
            assert!(error.reason.starts_with("9 is no kind of"), "{error:?}");
        }
    }
}
