//! Numbers of which most ranks of a key have the same.
//!
//! ```text
//! sets of the others, see `rank_sets.rs`: positions among the ranks of a key
//! usual numbers | how many sets have another one     one for each key
//! sets | numbers                                     one for each set with another number
//! ```
//!
//! Ranks at the border of a grid are the others of several keys: so their set is stored once.

use std::collections::{BTreeMap, HashMap};

use super::rank_sets::{FoundSets, RankSets};
use crate::bytes::{Cursor, Malformed, Sink, column};

/// The ranks for each other number, at least. With fewer it is not worth a try.
const RANKS_OF_ANOTHER: usize = 4;

/// Returns the numbers of keys in this layout, if that is shorter than `bytes`.
pub(super) fn write(keys: &[&[u64]], bytes: usize) -> Option<Vec<u8>> {
    let most = keys.iter().map(|numbers| numbers.len()).sum::<usize>() / RANKS_OF_ANOTHER;
    let mut sets = RankSets::default();
    let (mut all_usual, mut counts) = (Vec::new(), Vec::new());
    let (mut set_numbers, mut others) = (Vec::new(), Vec::new());
    for numbers in keys {
        let usual = most_frequent(numbers);
        let mut positions = BTreeMap::<u64, Vec<u64>>::new();
        for (position, &number) in (0..).zip(*numbers).filter(|(_, number)| **number != usual) {
            positions.entry(number).or_default().push(position);
        }
        all_usual.push(usual);
        counts.push(positions.len() as u64);
        for (number, positions) in positions {
            set_numbers.push(sets.number_of(positions.into_iter()));
            others.push(number);
        }
        if others.len() > most {
            return None;
        }
    }
    let mut sink = Sink::default();
    sets.write(&mut sink);
    for numbers in [all_usual, counts, set_numbers, others] {
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
    let total = lengths.iter().sum::<usize>();
    let sets = FoundSets::read(cursor, lengths.iter().copied().max().unwrap_or(0))?;
    let usual = column::read_u64(cursor, lengths.len(), what)?;
    let counts = column::read_u64(cursor, lengths.len(), what)?;
    let others = counts.iter().try_fold(0_u64, |sum, &n| sum.checked_add(n));
    let others = others.and_then(|others| usize::try_from(others).ok()).filter(|&n| n <= total);
    let others = others.ok_or_else(wrong)?;
    let set_numbers = column::read_u64(cursor, others, what)?;
    let others = column::read_u64(cursor, others, what)?;
    cursor.claim_temporary(total, size_of::<u64>(), what)?;
    let mut numbers = Vec::with_capacity(total);
    let mut others = set_numbers.into_iter().zip(others);
    for ((&length, usual), count) in lengths.iter().zip(usual).zip(counts) {
        let first = numbers.len();
        numbers.resize(first + length, usual);
        let mut left = length;
        for (set, other) in others.by_ref().take(usize::try_from(count).unwrap_or(0)) {
            // No rank has two others: few bytes may not make much work.
            left = sets.length(set).and_then(|ranks| left.checked_sub(ranks)).ok_or_else(wrong)?;
            for position in sets.ranks(set) {
                *numbers[first..].get_mut(position).ok_or_else(wrong)? = other;
            }
        }
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_others_take_a_few_bytes() {
        let key = |usual, other| -> Vec<u64> {
            (0..256).map(|rank| if rank % 64 == 3 { other } else { usual }).collect()
        };
        let keys = [key(123_456, 500), key(70_000, 9)];
        let keys = keys.each_ref().map(Vec::as_slice);
        let bytes = write(&keys, 99).unwrap();
        assert!(bytes.len() < 32, "{}", bytes.len());
        let mut cursor = Cursor::new(&bytes, 0);
        assert_eq!(read(&mut cursor, &[256, 256], "numbers").unwrap(), keys.concat());
        cursor.finish("the numbers").unwrap();
        assert_eq!(write(&keys, bytes.len()), None, "not shorter");
    }

    #[test]
    fn hostile_sets_are_errors() {
        let read = |bytes: &[u8]| read(&mut Cursor::new(bytes, 0), &[3, 4], "numbers");
        // A set of the last two of three, then what the keys have.
        let of = |gap, length, counts: [u8; 2], sets: &[u8]| {
            let set = [&[1, 0, 1, 0, gap, 0, length, 0, 9, 1][..], &counts, &[0], sets].concat();
            [&set[..], &[0, 7]].concat()
        };
        assert_eq!(read(&of(1, 2, [1, 0], &[0])).unwrap(), [9, 7, 7, 9, 9, 9, 9]);
        for (gap, length, counts, set) in
            [(2, 2, [1, 0], 0), (1, 2, [1, 0], 1), (1, 2, [2, 0], 0), (1, 2, [8, 0], 0)]
        {
            let error = read(&of(gap, length, counts, &[set])).expect_err("a hostile set");
            assert!(error.reason.contains("does not have"), "{error:?}");
        }
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert!(read(&[&[1, 0, 1, 0, 1, 0, 2, 0, 9, 0][..], &most, &[0; 9]].concat()).is_err());
    }
}
