//! The encoding of a series. The rank that owns a series encodes it, and its bytes are copied
//! unchanged into the part.
//!
//! ```text
//! elements | executions, each once | how many elements each execution has
//! visits (or values) of each element | sum
//! minimum | maximum  left out where every element holds one visit (or value)
//! ```

use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{MetricBucket, SeriesBucket};

/// Encodes the series of one callpath on one rank. An empty series has no bytes.
pub(super) fn encode(series: &[SeriesBucket]) -> Vec<u8> {
    let mut sink = Sink::default();
    if series.is_empty() {
        return sink.into_vec();
    }
    write_executions(&mut sink, &series.iter().map(|b| b.execution).collect::<Vec<_>>());
    let visits: Vec<u64> = series.iter().map(|b| u64::from(b.visits)).collect();
    column::write_u64(&mut sink, &visits);
    let mut times = |of: fn(&SeriesBucket) -> u64| {
        column::write_u64(&mut sink, &series.iter().map(of).collect::<Vec<_>>());
    };
    times(|b| b.sum_ns);
    // Buckets of one visit need no minimum or maximum: both equal the sum.
    if !series.iter().all(|b| *b == SeriesBucket::of_one_visit(b.execution, b.sum_ns)) {
        times(|b| b.min_ns);
        times(|b| b.max_ns);
    }
    sink.into_vec()
}

/// Encodes the series of one metric on one rank. An empty series has no bytes.
pub(super) fn encode_metric(series: &[MetricBucket]) -> Vec<u8> {
    let mut sink = Sink::default();
    if series.is_empty() {
        return sink.into_vec();
    }
    write_executions(&mut sink, &series.iter().map(|b| b.execution).collect::<Vec<_>>());
    column::write_u64(&mut sink, &series.iter().map(|b| u64::from(b.values)).collect::<Vec<_>>());
    let mut numbers = |of: fn(&MetricBucket) -> f64| {
        column::write_f64(&mut sink, &series.iter().map(of).collect::<Vec<_>>());
    };
    numbers(|b| b.sum);
    // Compared bit by bit, because -0.0 equals 0.0 but must be kept apart from it.
    let single = |b: &MetricBucket| {
        b.values == 1 && [b.min, b.max].map(f64::to_bits) == [b.sum.to_bits(); 2]
    };
    if !series.iter().all(single) {
        numbers(|b| b.min);
        numbers(|b| b.max);
    }
    sink.into_vec()
}

fn write_executions(sink: &mut Sink, executions: &[u32]) {
    let (mut distinct, mut lengths) = (Vec::new(), Vec::new());
    for run in executions.chunk_by(|a, b| a == b) {
        distinct.push(u64::from(run[0]));
        lengths.push(run.len() as u64);
    }
    sink.varint(executions.len() as u64);
    sink.varint(distinct.len() as u64);
    column::write_u64(sink, &distinct);
    column::write_u64(sink, &lengths);
}

/// Returns the number of elements in an encoded series.
pub(super) fn elements(bytes: &[u8]) -> Result<u64, Malformed> {
    if bytes.is_empty() { Ok(0) } else { Cursor::new(bytes, 0).varint("the length of a series") }
}

/// Reads the output of [`encode`]: all bytes of `cursor`.
pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<Vec<SeriesBucket>, Malformed> {
    if cursor.remaining() == 0 {
        return Ok(Vec::new());
    }
    let executions = read_executions(cursor)?;
    let count = executions.len();
    let visits = read_u32(cursor, count, "the visits of a series")?;
    let sums = column::read_u64(cursor, count, "the times of a series")?;
    let extremes = if cursor.remaining() == 0 {
        None
    } else {
        let minima = column::read_u64(cursor, count, "the minima of a series")?;
        Some((minima, column::read_u64(cursor, count, "the maxima of a series")?))
    };
    cursor.finish("a series")?;
    cursor.claim_kept(count, size_of::<SeriesBucket>(), "a series")?;
    let bucket = |at: usize| {
        let (min_ns, max_ns) =
            extremes.as_ref().map_or((sums[at], sums[at]), |(min, max)| (min[at], max[at]));
        SeriesBucket {
            execution: executions[at],
            visits: visits[at],
            sum_ns: sums[at],
            min_ns,
            max_ns,
        }
    };
    Ok((0..count).map(bucket).collect())
}

/// Reads the output of [`encode_metric`]: all bytes of `cursor`.
pub(super) fn decode_metric(cursor: &mut Cursor<'_>) -> Result<Vec<MetricBucket>, Malformed> {
    if cursor.remaining() == 0 {
        return Ok(Vec::new());
    }
    let executions = read_executions(cursor)?;
    let count = executions.len();
    let values = read_u32(cursor, count, "the values of a metric's series")?;
    let sums = column::read_f64(cursor, count, "the sums of a metric's series")?;
    let extremes = if cursor.remaining() == 0 {
        None
    } else {
        let minima = column::read_f64(cursor, count, "the minima of a metric's series")?;
        Some((minima, column::read_f64(cursor, count, "the maxima of a metric's series")?))
    };
    cursor.finish("a metric's series")?;
    cursor.claim_kept(count, size_of::<MetricBucket>(), "a metric's series")?;
    let bucket = |at: usize| {
        let (min, max) =
            extremes.as_ref().map_or((sums[at], sums[at]), |(min, max)| (min[at], max[at]));
        MetricBucket { execution: executions[at], values: values[at], sum: sums[at], min, max }
    };
    Ok((0..count).map(bucket).collect())
}

/// Returns the execution of each element.
fn read_executions(cursor: &mut Cursor<'_>) -> Result<Vec<u32>, Malformed> {
    let start = cursor.clone();
    let count = cursor.count(column::MAX_VALUES, "the length of a series")?;
    let runs = cursor.count(count, "the number of executions in a series")?;
    let distinct = read_u32(cursor, runs, "the executions of a series")?;
    let lengths = column::read_u64(cursor, runs, "the lengths of a series")?;
    if lengths.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n)) != Some(count as u64) {
        return Err(start.malformed("the executions of a series do not add up to its length"));
    }
    if lengths.contains(&0) {
        return Err(start.malformed("an execution of a series has no elements"));
    }
    cursor.claim_temporary(count, size_of::<u32>(), "the executions of a series")?;
    let mut executions = Vec::with_capacity(count);
    for (execution, length) in distinct.into_iter().zip(lengths) {
        // No length exceeds their sum, which fits.
        executions.resize(executions.len() + usize::try_from(length).unwrap_or(0), execution);
    }
    Ok(executions)
}

/// Takes a column whose numbers must fit in 32 bits.
fn read_u32(cursor: &mut Cursor<'_>, count: usize, what: &str) -> Result<Vec<u32>, Malformed> {
    let start = cursor.clone();
    let values = column::read_u64(cursor, count, what)?;
    cursor.claim_temporary(count, size_of::<u32>(), what)?;
    let mut narrow = vec![0; count];
    for (narrow, value) in narrow.iter_mut().zip(values) {
        let fits = u32::try_from(value);
        *narrow =
            fits.map_err(|_| start.malformed(format!("{what}: {value} does not fit 32 bits")))?;
    }
    Ok(narrow)
}
