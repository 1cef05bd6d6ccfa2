//! The lists of a callpath in a segment: past executions, and the visits of a series.

use tinyprof_segment::layout::{PAST_WORDS, SERIES_WORDS, header, node};
use tinyprof_segment::list::List;
use tinyprof_segment::words::{high, low};

use super::words::Words;
use crate::model::{MetricBucket, MetricSummary};
use crate::ticks::{PastExecution, SeriesElement};

/// Returns the past execution in eight words, if they are valid.
pub(super) fn past_of(word: impl Fn(usize) -> Option<u64>) -> Option<PastExecution> {
    let first = word(0)?;
    let past = PastExecution {
        execution: low(first),
        executions: high(first),
        visits: word(1)?,
        sum: word(2)?,
        min: word(3)?,
        max: word(4)?,
        squares: u128::from(word(6)?) << 64 | u128::from(word(5)?),
        variance: f64::from_bits(word(7)?),
    };
    let possible = past.visits > 0 && past.executions > 0;
    (possible && past.execution.checked_add(past.executions).is_some()).then_some(past)
}

/// Returns the values of a past execution in eight words, if they are valid.
pub(super) fn past_value_of(word: impl Fn(usize) -> Option<u64>) -> Option<MetricSummary> {
    let first = word(0)?;
    let float = |at| word(at).map(f64::from_bits);
    let past = MetricSummary {
        execution: low(first),
        executions: high(first),
        values: word(1)?,
        sum: float(2)?,
        min: float(3)?,
        max: float(4)?,
        sum_squares: float(5)?,
    };
    let possible = past.values > 0 && past.executions > 0 && !past.sum.is_nan();
    (possible && past.execution.checked_add(past.executions).is_some()).then_some(past)
}

/// Returns the list in word `word` and the next of the node at `line`. None if it is invalid, or if
/// earlier lists have used up `limit_bytes`.
///
/// Intact lists do not overlap, so together they are no longer than the segment.
fn list_at(
    words: Words<'_>,
    line: u32,
    word: usize,
    element_words: usize,
    limit_bytes: &mut usize,
) -> Option<List> {
    let list = List::from_words([words.get(line, word)?, words.get(line, word + 1)?]);
    if list.length == 0 {
        return Some(list);
    }
    let bytes = (list.length as usize).checked_mul(element_words * 8)?;
    if list.block.is_none()
        || list.length > list.capacity
        || words.bytes(list.block.number(), 0, bytes).is_none()
    {
        return None;
    }
    *limit_bytes = limit_bytes.checked_sub(bytes)?;
    Some(list)
}

/// Returns the past executions of the node at `line`.
pub(super) fn past(
    words: Words<'_>,
    line: u32,
    limit_bytes: &mut usize,
) -> Option<Vec<PastExecution>> {
    let list = list_at(words, line, node::PAST, PAST_WORDS, limit_bytes)?;
    (0..list.length).map(|at| past_of(past_words(words, list, at)?)).collect()
}

/// Returns the past executions of the metric at `line`.
pub(super) fn past_values(
    words: Words<'_>,
    line: u32,
    limit_bytes: &mut usize,
) -> Option<Vec<MetricSummary>> {
    let list = list_at(words, line, node::PAST, PAST_WORDS, limit_bytes)?;
    (0..list.length).map(|at| past_value_of(past_words(words, list, at)?)).collect()
}

/// Returns the words of element `at` of a list of past executions.
fn past_words<'a>(
    words: Words<'a>,
    list: List,
    at: u32,
) -> Option<impl Fn(usize) -> Option<u64> + use<'a>> {
    let line = list.block.number().checked_add(at)?;
    // The owner may have died while changing the last element. The header then contains its
    // previous state.
    let changing = words.get(0, header::UNDO_LINE).map(low) == Some(line);
    Some(
        move |word| {
            if changing { words.get(0, header::UNDO + word) } else { words.get(line, word) }
        },
    )
}

/// Returns the series of the node at `line`.
pub(super) fn series(
    words: Words<'_>,
    line: u32,
    limit_bytes: &mut usize,
) -> Option<Vec<SeriesElement>> {
    let list = list_at(words, line, node::SERIES, SERIES_WORDS, limit_bytes)?;
    let element = |at: u32| {
        let word = |word| words.get(list.block.number(), at as usize * SERIES_WORDS + word);
        let first = word(0)?;
        let (execution, visits) = (low(first), high(first));
        let visit =
            SeriesElement { execution, visits, sum: word(1)?, min: word(2)?, max: word(3)? };
        (visits > 0).then_some(visit)
    };
    (0..list.length).map(element).collect()
}

/// Returns the series of the metric at `line`.
pub(super) fn series_of_values(
    words: Words<'_>,
    line: u32,
    limit_bytes: &mut usize,
) -> Option<Vec<MetricBucket>> {
    let list = list_at(words, line, node::SERIES, SERIES_WORDS, limit_bytes)?;
    let element = |at: u32| {
        let word = |word| words.get(list.block.number(), at as usize * SERIES_WORDS + word);
        let float = |at| word(at).map(f64::from_bits);
        let first = word(0)?;
        let (execution, values) = (low(first), high(first));
        let bucket =
            MetricBucket { execution, values, sum: float(1)?, min: float(2)?, max: float(3)? };
        (values > 0).then_some(bucket)
    };
    (0..list.length).map(element).collect()
}
