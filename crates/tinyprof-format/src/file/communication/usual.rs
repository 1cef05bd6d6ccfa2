//! Numbers of which most ranks of a key have the same.
//!
//! ```text
//! usual numbers | runs of others                one for each key
//! gaps: ranks after the run before              one for each run
//! lengths | numbers                             one for each run
//! ```
//!
//! Ranks are counted among those of the key. All of a run have its number.

use std::collections::HashMap;

use crate::bytes::{Cursor, Malformed, Sink, column};

/// The runs with a number of their own for each of this many ranks, at most. Otherwise it is
/// not worth a try.
const RANKS_OF_A_RUN: usize = 4;

/// Returns the numbers of keys in this layout, if that is shorter than `bytes`.
pub(super) fn write(keys: impl Iterator<Item = &[u64]>, bytes: usize) -> Option<Vec<u8>> {
    let (mut all_usual, mut counts) = (Vec::new(), Vec::new());
    let (mut gaps, mut lengths, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let mut ranks = 0;
    for numbers in keys {
        let usual = most_frequent(numbers);
        let before = gaps.len();
        let mut gap = 0;
        for run in numbers.chunk_by(|a, b| a == b) {
            if run[0] == usual {
                gap = run.len() as u64;
            } else {
                gaps.push(std::mem::take(&mut gap));
                lengths.push(run.len() as u64);
                others.push(run[0]);
            }
        }
        ranks += numbers.len();
        all_usual.push(usual);
        counts.push((gaps.len() - before) as u64);
    }
    if gaps.is_empty() || gaps.len() * RANKS_OF_A_RUN > ranks {
        return None;
    }
    let mut sink = Sink::default();
    for numbers in [all_usual, counts, gaps, lengths, others] {
        column::write_u64(&mut sink, &numbers);
    }
    Some(sink.into_vec()).filter(|written| written.len() < bytes)
}

/// Returns the least of the numbers that occur most often.
fn most_frequent(numbers: &[u64]) -> u64 {
    let mut counts = HashMap::<u64, usize>::new();
    for run in numbers.chunk_by(|a, b| a == b) {
        *counts.entry(run[0]).or_default() += run.len();
    }
    let most = counts.into_iter().max_by_key(|&(number, count)| (count, std::cmp::Reverse(number)));
    most.map_or(0, |(number, _)| number)
}

/// Takes the output of [`write`]. `lengths` gives the number of ranks of each key.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    lengths: &[usize],
    what: &str,
) -> Result<Vec<u64>, Malformed> {
    let start = cursor.clone();
    let wrong = || start.malformed(format!("{what} are of ranks that the key does not have"));
    let usual = column::read_u64(cursor, lengths.len(), what)?;
    let counts = column::read_u64(cursor, lengths.len(), what)?;
    let total = lengths.iter().sum::<usize>();
    let runs = counts.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    let runs = runs.and_then(|runs| usize::try_from(runs).ok()).filter(|&runs| runs <= total);
    let runs = runs.ok_or_else(wrong)?;
    let gaps = column::read_u64(cursor, runs, what)?;
    let run_lengths = column::read_u64(cursor, runs, what)?;
    let others = column::read_u64(cursor, runs, what)?;
    cursor.claim_temporary(total, size_of::<u64>(), what)?;
    let mut numbers = Vec::with_capacity(total);
    let mut runs = gaps.into_iter().zip(run_lengths).zip(others);
    for ((&length, usual), count) in lengths.iter().zip(usual).zip(counts) {
        let end = numbers.len() + length;
        for ((gap, run), other) in runs.by_ref().take(usize::try_from(count).unwrap_or(0)) {
            let fits = gap.checked_add(run).is_some_and(|ranks| ranks <= (end - numbers.len()) as u64);
            if !fits || run == 0 {
                return Err(wrong());
            }
            // Both fit, as they are not above the number of ranks.
            let [gap, run] = [gap, run].map(|ranks| usize::try_from(ranks).unwrap_or(0));
            numbers.resize(numbers.len() + gap, usual);
            numbers.resize(numbers.len() + run, other);
        }
        numbers.resize(end, usual);
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_others_take_a_few_bytes() {
        let key: Vec<u64> =
            (0..256).map(|rank| if rank % 64 == 3 { 500 } else { 123_456 }).collect();
        let bytes = write([key.as_slice()].into_iter(), 99).unwrap();
        assert_eq!(bytes.len(), 4 + 2 + 5 + 2 + 3);
        let mut cursor = Cursor::new(&bytes, 0);
        assert_eq!(read(&mut cursor, &[256], "numbers").unwrap(), key);
        assert_eq!(write([key.as_slice()].into_iter(), bytes.len()), None, "not shorter");
    }

    #[test]
    fn hostile_runs_are_errors() {
        let read = |bytes: &[u8]| read(&mut Cursor::new(bytes, 0), &[3], "numbers");
        let of = |gap, length| [[0, 9], [0, 1], [0, gap], [0, length], [0, 7]].concat();
        assert_eq!(read(&of(1, 2)).unwrap(), [9, 7, 7]);
        for (gap, length) in [(1, 3), (4, 1), (0, 0)] {
            let error = read(&of(gap, length)).expect_err("a hostile run");
            assert!(error.reason.contains("does not have"), "{error:?}");
        }
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert!(read(&[&[0, 9, 0], &most[..], &[0; 6]].concat()).is_err(), "more runs than ranks");
        assert!(read(&[&[0, 9, 0, 1, 0], &most[..], &[0, 1, 0, 7]].concat()).is_err());
    }
}
