//! One number for each key and rank, such as all counts.
//!
//! Ranks that do the same have equal numbers under a key, but other ones under the next key. So the
//! numbers of a key may be stored relative to the least of them, or apart from those of other keys:
//!
//! ```text
//! tag 0  zeros
//! tag 1  plain     a column of all numbers
//! tag 2  above     a column of the least number of each key, then one of all numbers minus that
//! tag 3  apart     a column for each key
//! tag 4  usual     a column of the number that most ranks of each key have, and the others,
//!                  see `usual.rs`
//! ```

use super::usual;
use crate::bytes::{Cursor, Malformed, Sink, column};

const ZEROS: u8 = 0;
const PLAIN: u8 = 1;
const ABOVE: u8 = 2;
const APART: u8 = 3;
const USUAL: u8 = 4;

/// The number of ranks of a key, on average, from which columns of their own are worth their heads.
const APART_MIN: usize = 64;

/// Appends numbers, key by key. `lengths` gives how many each key has.
pub(super) fn write(sink: &mut Sink, numbers: &[u64], lengths: &[usize]) {
    if numbers.iter().all(|&number| number == 0) {
        return sink.u8(ZEROS);
    }
    let (tag, shortest) = of_ranks(numbers, lengths);
    let usual = usual::write(&of_keys(numbers, lengths).collect::<Vec<_>>(), shortest.len());
    let (tag, shortest) = usual.map_or((tag, shortest), |usual| (USUAL, usual));
    sink.u8(tag);
    sink.bytes(&shortest);
}

/// Returns the numbers in one of the layouts in which no rank is a usual one.
fn of_ranks(numbers: &[u64], lengths: &[usize]) -> (u8, Vec<u8>) {
    let keys = || of_keys(numbers, lengths);
    let is_equal = |numbers: &[u64]| numbers.windows(2).all(|pair| pair[0] == pair[1]);
    let mut plain = Sink::default();
    if numbers.len() >= APART_MIN * lengths.len() && !keys().all(is_equal) {
        keys().for_each(|numbers| column::write_u64(&mut plain, numbers));
        return (APART, plain.into_vec());
    }
    column::write_u64(&mut plain, numbers);
    let least: Vec<u64> = keys().map(|n| n.iter().copied().min().unwrap_or(0)).collect();
    let above = keys().zip(&least).flat_map(|(n, least)| n.iter().map(move |n| n - least));
    let above: Vec<u64> = above.collect();
    let mut relative = Sink::default();
    column::write_u64(&mut relative, &least);
    column::write_u64(&mut relative, &above);
    let is_shorter = relative.len() < plain.len();
    if is_shorter { (ABOVE, relative.into_vec()) } else { (PLAIN, plain.into_vec()) }
}

fn of_keys<'a>(numbers: &'a [u64], lengths: &'a [usize]) -> impl Iterator<Item = &'a [u64]> {
    let mut rest = numbers;
    lengths.iter().map(move |&length| {
        let (of_key, after) = rest.split_at(length);
        rest = after;
        of_key
    })
}

/// Takes the output of [`write`].
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    lengths: &[usize],
    what: &str,
) -> Result<Vec<u64>, Malformed> {
    let total = lengths.iter().sum();
    let start = cursor.clone();
    match cursor.u8(what)? {
        ZEROS => {
            cursor.claim_temporary(total, size_of::<u64>(), what)?;
            Ok(vec![0; total])
        }
        PLAIN => column::read_u64(cursor, total, what),
        ABOVE => {
            let least = column::read_u64(cursor, lengths.len(), what)?;
            let mut numbers = column::read_u64(cursor, total, what)?;
            let least =
                least.iter().zip(lengths).flat_map(|(&n, &count)| (0..count).map(move |_| n));
            for (number, least) in numbers.iter_mut().zip(least) {
                *number = number.wrapping_add(least);
            }
            Ok(numbers)
        }
        APART => {
            cursor.claim_temporary(total, size_of::<u64>(), what)?;
            let mut numbers = Vec::with_capacity(total);
            for &length in lengths {
                let of_key = cursor.passing(|cursor| column::read_u64(cursor, length, what))?;
                numbers.extend(of_key);
            }
            Ok(numbers)
        }
        USUAL => usual::read(cursor, lengths, what),
        tag => Err(start.malformed(format!("{what} have no readable layout (tag {tag})"))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(numbers: &[u64], lengths: &[usize]) -> Vec<u8> {
        let mut sink = Sink::default();
        write(&mut sink, numbers, lengths);
        let bytes = sink.into_vec();
        let mut cursor = Cursor::new(&bytes, 0);
        assert_eq!(read(&mut cursor, lengths, "numbers").unwrap(), numbers);
        cursor.finish("the numbers").unwrap();
        for cut in 0..bytes.len() {
            let read = read(&mut Cursor::new(&bytes[..cut], 0), lengths, "numbers");
            assert!(read.is_err(), "cut at {cut} of {}", bytes.len());
        }
        bytes
    }

    #[test]
    fn each_layout_is_read() {
        let noise = |seed: u64| (0..100).map(move |n: u64| n.wrapping_mul(seed) % 50 + seed);
        assert_eq!(check(&[0; 9], &[9]), [ZEROS]);
        assert_eq!(check(&[5; 9], &[4, 5]), [PLAIN, 0, 5]);
        let two: Vec<u64> = [[1_u64; 50], [9_000; 50]].concat();
        assert_eq!(check(&two, &[50, 50])[0], ABOVE);
        assert_eq!(check(&two, &[50, 50]).len(), 1 + 4 + 2);
        let apart: Vec<u64> = noise(7).chain(noise(900_007)).collect();
        assert_eq!(check(&apart, &[100, 100])[0], APART);
        let few: Vec<u64> = (0..200).map(|n| if n % 100 == 7 { 70_000 + n } else { 9 }).collect();
        assert_eq!(check(&few, &[100, 100])[0], USUAL);
        let unknown = read(&mut Cursor::new(&[5, 0, 0], 0), &[1], "numbers").unwrap_err();
        assert!(unknown.reason.contains("tag 5"), "{unknown:?}");
    }

    proptest! {
        #[test]
        fn any_numbers_come_back(keys in prop::collection::vec(prop::collection::vec(any::<u64>(), 1..5), 1..5)) {
            let lengths: Vec<usize> = keys.iter().map(Vec::len).collect();
            check(&keys.concat(), &lengths);
        }
    }
}
