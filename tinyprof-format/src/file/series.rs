//! A series in bytes: encoded by the rank that owns it, never touched again on its way into the part.

use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::SeriesBucket;

/// The bytes of one callpath's series on one rank. No bytes for an empty series.
pub(super) fn encode(series: &[SeriesBucket]) -> Vec<u8> {
    let mut sink = Sink::default();
    if series.is_empty() {
        return sink.into_vec();
    }
    let (mut executions, mut lengths) = (Vec::new(), Vec::new());
    for run in series.chunk_by(|a, b| a.execution == b.execution) {
        executions.push(u64::from(run[0].execution));
        lengths.push(run.len() as u64);
    }
    sink.varint(series.len() as u64);
    sink.varint(executions.len() as u64);
    column::write_u64(&mut sink, &executions);
    column::write_u64(&mut sink, &lengths);
    let visits: Vec<u64> = series.iter().map(|b| u64::from(b.visits)).collect();
    column::write_u64(&mut sink, &visits);
    let mut times = |of: fn(&SeriesBucket) -> u64| {
        column::write_u64(&mut sink, &series.iter().map(of).collect::<Vec<_>>());
    };
    times(|b| b.sum_ns);
    if !all_single(series) {
        times(|b| b.min_ns);
        times(|b| b.max_ns);
    }
    sink.into_vec()
}

/// Buckets of one visit need no minimum and no maximum: both equal the sum.
fn all_single(series: &[SeriesBucket]) -> bool {
    series.iter().all(|b| *b == SeriesBucket::of_one_visit(b.execution, b.sum_ns))
}

/// Reads what [`encode`] wrote: all bytes of `cursor`.
pub(super) fn decode(mut cursor: Cursor<'_>) -> Result<Vec<SeriesBucket>, Malformed> {
    if cursor.remaining() == 0 {
        return Ok(Vec::new());
    }
    let start = cursor.clone();
    let count = cursor.count(usize::MAX, "the length of a series")?;
    let runs = cursor.count(count, "the number of executions in a series")?;
    let executions = column::read_u64(&mut cursor, runs, "the executions of a series")?;
    let lengths = column::read_u64(&mut cursor, runs, "the lengths of a series")?;
    if lengths.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n)) != Some(count as u64) {
        return Err(start.malformed("the executions of a series do not add up to its length"));
    }
    let visits = column::read_u64(&mut cursor, count, "the visits of a series")?;
    let sums = column::read_u64(&mut cursor, count, "the times of a series")?;
    let single = cursor.remaining() == 0;
    let (minima, maxima) = if single {
        (sums.clone(), sums.clone())
    } else {
        let minima = column::read_u64(&mut cursor, count, "the minima of a series")?;
        (minima, column::read_u64(&mut cursor, count, "the maxima of a series")?)
    };
    cursor.finish("a series")?;
    let mut series = Vec::with_capacity(count);
    for (&execution, &length) in executions.iter().zip(&lengths) {
        let narrow = |value: u64, what: &str| {
            u32::try_from(value).map_err(|_| start.malformed(format!("{what} {value} does not fit 32 bits")))
        };
        let execution = narrow(execution, "execution")?;
        for _ in 0..length {
            let at = series.len();
            let visits = narrow(visits[at], "a number of visits")?;
            series.push(SeriesBucket {
                execution,
                visits,
                sum_ns: sums[at],
                min_ns: minima[at],
                max_ns: maxima[at],
            });
        }
    }
    Ok(series)
}
