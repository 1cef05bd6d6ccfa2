//! The series of several ranks in one set of columns.
//!
//! ```text
//! stretches of one execution in each rank's series
//! execution - position in the rank's list of stretches       all zero in a usual run
//! elements of each stretch
//! visits of each element | sum
//! 1 byte: 0 if every element holds one visit, else minimum | maximum
//! ```
//!
//! A series encoded by its rank has the head of a compressed column and a list of executions, about
//! 40 bytes. That is negligible beside 10,000 visits, but a quarter of the size of 200 visits
//! (measured on the authors' loops: 1.16 bytes per value, joined 0.85). The aggregator therefore
//! joins short series. It leaves long ones as they are, since joining them would cost time and save
//! no space.

use super::series;
use crate::bytes::{Cursor, Malformed, Sink, column};
use crate::model::{CallpathValues, SeriesBucket};

/// The largest mean number of elements of series that are joined.
const MEAN_ELEMENTS_MAX: u64 = 1_024;

/// Decodes the series of the ranks, if there are any and they are short.
pub(super) fn worth_joining(encoded: &[&[u8]]) -> Option<Vec<Vec<SeriesBucket>>> {
    let (mut present, mut elements) = (0_u64, 0_u64);
    for bytes in encoded.iter().filter(|bytes| !bytes.is_empty()) {
        present += 1;
        elements = elements.saturating_add(series::elements(bytes).ok()?);
    }
    if present == 0 || elements > present * MEAN_ELEMENTS_MAX {
        return None;
    }
    // Damaged series stay as they are; their reader reports the damage.
    encoded.iter().map(|bytes| series::decode(&mut Cursor::new(bytes, 0)).ok()).collect()
}

pub(super) fn encode(sink: &mut Sink, ranks: &[Vec<SeriesBucket>]) {
    let (mut stretches, mut gaps, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for series in ranks {
        let before = gaps.len();
        for (position, stretch) in (0_u64..).zip(series.chunk_by(|a, b| a.execution == b.execution))
        {
            gaps.push(u64::from(stretch[0].execution).wrapping_sub(position));
            lengths.push(stretch.len() as u64);
        }
        stretches.push((gaps.len() - before) as u64);
    }
    column::write_u64(sink, &stretches);
    column::write_u64(sink, &gaps);
    column::write_u64(sink, &lengths);
    let numbers = |sink: &mut Sink, of: fn(&SeriesBucket) -> u64| {
        column::write_u64(sink, &ranks.iter().flatten().map(of).collect::<Vec<_>>());
    };
    numbers(sink, |b| u64::from(b.visits));
    numbers(sink, |b| b.sum_ns);
    if ranks.iter().flatten().all(|b| *b == SeriesBucket::of_one_visit(b.execution, b.sum_ns)) {
        sink.u8(0);
    } else {
        sink.u8(1);
        numbers(sink, |b| b.min_ns);
        numbers(sink, |b| b.max_ns);
    }
}

/// Fills in the series of the ranks.
pub(super) fn decode(
    cursor: &mut Cursor<'_>,
    ranks: &mut [CallpathValues],
) -> Result<(), Malformed> {
    let start = cursor.clone();
    // A few bytes may claim many values. No writer joins more than these.
    let most = usize::try_from(MEAN_ELEMENTS_MAX).unwrap_or(usize::MAX).saturating_mul(ranks.len());
    let checked_sum = |numbers: &[u64], what: &str| {
        let sum = numbers.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
        let sum = sum.and_then(|n| usize::try_from(n).ok()).filter(|&n| n <= most);
        sum.ok_or_else(|| {
            start.malformed(format!("there are more {what} than can be in joined series"))
        })
    };
    let stretches = column::read_u64(cursor, ranks.len(), "the stretches of series")?;
    let total = checked_sum(&stretches, "stretches")?;
    let gaps = column::read_u64(cursor, total, "the executions of series")?;
    let lengths = column::read_u64(cursor, total, "the lengths of stretches")?;
    let elements = checked_sum(&lengths, "elements")?;
    if lengths.contains(&0) {
        return Err(start.malformed("an execution of a series has no elements"));
    }
    let visits = column::read_u64(cursor, elements, "the visits of series")?;
    let sums = column::read_u64(cursor, elements, "the times of series")?;
    let extremes = match cursor.u8("the kind of joined series")? {
        0 => None,
        1 => {
            let minima = column::read_u64(cursor, elements, "the minima of series")?;
            Some((minima, column::read_u64(cursor, elements, "the maxima of series")?))
        }
        other => return Err(cursor.malformed(format!("{other} is no kind of joined series"))),
    };
    cursor.claim_kept(elements, size_of::<SeriesBucket>(), "the series")?;
    let (mut stretch, mut at) = (0, 0);
    for (values, count) in ranks.iter_mut().zip(stretches) {
        let of_rank =
            usize::try_from(count).ok().and_then(|count| lengths.get(stretch..stretch + count));
        let of_rank: u64 = of_rank.unwrap_or_default().iter().sum();
        values.series = Vec::with_capacity(usize::try_from(of_rank).unwrap_or(0));
        for position in 0..count {
            let execution = u32::try_from(gaps[stretch].wrapping_add(position));
            let execution =
                execution.map_err(|_| start.malformed("an execution does not fit 32 bits"))?;
            for _ in 0..lengths[stretch] {
                let visits = u32::try_from(visits[at]);
                let visits = visits
                    .map_err(|_| start.malformed("the visits of a bucket do not fit 32 bits"))?;
                let sum_ns = sums[at];
                let (min_ns, max_ns) =
                    extremes.as_ref().map_or((sum_ns, sum_ns), |(min, max)| (min[at], max[at]));
                values.series.push(SeriesBucket { execution, visits, sum_ns, min_ns, max_ns });
                at += 1;
            }
            stretch += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(elements: u64) -> Vec<SeriesBucket> {
        (0..elements)
            .map(|i| SeriesBucket::of_one_visit(u32::from(i >= elements / 2), 100 + i % 7))
            .collect()
    }

    fn joined(ranks: &[Vec<SeriesBucket>]) -> Option<Vec<Vec<SeriesBucket>>> {
        let encoded: Vec<Vec<u8>> = ranks.iter().map(|series| series::encode(series)).collect();
        worth_joining(&encoded.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn short_series_are_joined_and_come_back() {
        let folded = SeriesBucket { execution: 7, visits: 3, sum_ns: 30, min_ns: 5, max_ns: 20 };
        for ranks in [vec![series(200), Vec::new(), series(3)], vec![series(10), vec![folded]]] {
            assert_eq!(joined(&ranks), Some(ranks.clone()));
            let mut sink = Sink::default();
            encode(&mut sink, &ranks);
            let mut found = vec![CallpathValues::default(); ranks.len()];
            let mut cursor = Cursor::new(sink.as_slice(), 0);
            decode(&mut cursor, &mut found).unwrap();
            cursor.finish("joined series").unwrap();
            assert_eq!(found.into_iter().map(|values| values.series).collect::<Vec<_>>(), ranks);
        }
    }

    #[test]
    fn long_series_and_none_are_not_joined() {
        assert_eq!(joined(&[Vec::new(), Vec::new()]), None);
        assert!(joined(&[series(MEAN_ELEMENTS_MAX), series(1)]).is_some());
        assert_eq!(joined(&[series(MEAN_ELEMENTS_MAX + 1)]), None);
    }

    #[test]
    fn few_bytes_cannot_claim_many_values() {
        let mut sink = Sink::default();
        // One stretch for the one rank, of 2^27 elements.
        [1, 0, 1 << 27, 1, 1].iter().for_each(|&n| column::write_u64(&mut sink, &[n]));
        sink.u8(0);
        let error = decode(&mut Cursor::new(sink.as_slice(), 0), &mut [CallpathValues::default()]);
        assert!(error.unwrap_err().reason.contains("more elements than can be"));
    }
}
