//! Columns of numbers: a tag, then the numbers in the smallest of several encodings.

use pco::standalone::simple_decompress_into;

use crate::cursor::{Cursor, Damage};

const CONSTANT: u8 = 0;
const VARINTS: u8 = 1;
const PCO: u8 = 2;
const MULTIPLES: u8 = 3;
const NARROW: u8 = 4;
const ROUNDED: u8 = 5;

/// The encodings that a column may have at a given place.
const ANY: &[u8] = &[CONSTANT, VARINTS, PCO, MULTIPLES, NARROW, ROUNDED];
const IN_MULTIPLES: &[u8] = &[VARINTS, PCO, NARROW];
const IN_ROUNDED: &[u8] = &[VARINTS, NARROW];

/// The largest number of values in a column.
const VALUES_MAX: usize = 1 << 27;

/// The first code of a rounded column that is not the number itself.
const CODES_EXACT: u64 = 256;
/// The number of codes for numbers of eight significant bits with up to 64 bits.
const CODES: u64 = 7_424;

/// Appends the `count` integers of a column to `values`.
pub(crate) fn integers(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
    values: &mut Vec<u64>,
) -> Result<(), Damage> {
    check_count(cursor, count, what)?;
    encoded(cursor, count, what, values, ANY)
}

/// Appends the `count` integers of a column to `values`; each must fit 32 bits.
pub(crate) fn integers_u32(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
    values: &mut Vec<u64>,
) -> Result<(), Damage> {
    let (start, first) = (cursor.clone(), values.len());
    integers(cursor, count, what, values)?;
    match values[first..].iter().find(|&&value| value > u32::MAX.into()) {
        Some(value) => Err(start.damage(format!("{what}: {value} does not fit 32 bits"))),
        None => Ok(()),
    }
}

/// Returns an error unless a column may have this many numbers, and there is memory for them.
fn check_count(cursor: &Cursor<'_>, count: usize, what: &str) -> Result<(), Damage> {
    if count > VALUES_MAX {
        return Err(cursor
            .damage(format!("{what} claims {count} values, at most {VALUES_MAX} are allowed")));
    }
    cursor.charge(count, what)
}

fn encoded(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
    values: &mut Vec<u64>,
    allowed: &[u8],
) -> Result<(), Damage> {
    let start = cursor.clone();
    let first = values.len();
    let tag = cursor.u8(what)?;
    if !allowed.contains(&tag) {
        return Err(start.damage(format!("{what} has no readable encoding (tag {tag})")));
    }
    match tag {
        CONSTANT => values.resize(first + count, cursor.varint(what)?),
        VARINTS => {
            // Each number takes at least one byte.
            if count > cursor.remaining() {
                return Err(start.damage(format!("{what} has {count} values and too few bytes")));
            }
            values.resize(first + count, 0);
            cursor.varints(&mut values[first..], what)?;
        }
        PCO => {
            values.resize(first + count, 0);
            packed(cursor, &mut values[first..], what)?;
        }
        NARROW => {
            let mut narrow = vec![0_u32; count];
            packed(cursor, &mut narrow, what)?;
            values.extend(narrow.into_iter().map(u64::from));
        }
        MULTIPLES => {
            let divisor = cursor.varint(what)?;
            encoded(cursor, count, what, values, IN_MULTIPLES)?;
            for value in &mut values[first..] {
                let product = value.checked_mul(divisor);
                *value = product
                    .ok_or_else(|| start.damage(format!("{what} has multiples over 64 bits")))?;
            }
        }
        _ => {
            encoded(cursor, count, what, values, IN_ROUNDED)?;
            for value in &mut values[first..] {
                *value = rounded(*value)
                    .ok_or_else(|| start.damage(format!("{what}: {value} is no code")))?;
            }
        }
    }
    Ok(())
}

/// Returns the number of eight significant bits for a code.
const fn rounded(code: u64) -> Option<u64> {
    match code {
        0..CODES_EXACT => Some(code),
        CODES_EXACT..CODES => Some((128 + code % 128) << (code / 128 - 1)),
        _ => None,
    }
}

/// Appends the `count` floats of a column to `values`.
pub(crate) fn floats(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
    values: &mut Vec<f64>,
) -> Result<(), Damage> {
    if cursor.clone().u8(what)? == PCO {
        check_count(cursor, count, what)?;
        cursor.u8(what)?;
        let first = values.len();
        values.resize(first + count, 0.0);
        return packed(cursor, &mut values[first..], what);
    }
    let mut bits = Vec::new();
    integers(cursor, count, what, &mut bits)?;
    values.extend(bits.into_iter().map(f64::from_bits));
    Ok(())
}

/// Returns whether the next column is the constant 0.
pub(crate) fn is_zero(cursor: &Cursor<'_>) -> bool {
    cursor.rest().starts_with(&[CONSTANT, 0])
}

/// Skips a column of `count` numbers.
pub(crate) fn skip(cursor: &mut Cursor<'_>, count: usize, what: &str) -> Result<(), Damage> {
    let start = cursor.clone();
    match cursor.u8(what)? {
        CONSTANT => drop(cursor.varint(what)?),
        VARINTS => {
            for _ in 0..count {
                cursor.varint(what)?;
            }
        }
        PCO | NARROW => {
            let length = cursor.count(cursor.remaining(), what)?;
            cursor.take(length, what)?;
        }
        MULTIPLES => {
            cursor.varint(what)?;
            skip(cursor, count, what)?;
        }
        ROUNDED => skip(cursor, count, what)?,
        tag => return Err(start.damage(format!("{what} has no readable encoding (tag {tag})"))),
    }
    Ok(())
}

fn packed<T: pco::data_types::Number>(
    cursor: &mut Cursor<'_>,
    values: &mut [T],
    what: &str,
) -> Result<(), Damage> {
    let length = cursor.count(cursor.remaining(), what)?;
    let start = cursor.clone();
    let bytes = cursor.take(length, what)?;
    match simple_decompress_into(bytes, values) {
        Ok(progress) if progress.n_processed == values.len() && progress.finished => Ok(()),
        Ok(progress) => Err(start.damage(format!(
            "{what} holds {} values{} where {} were expected",
            progress.n_processed,
            if progress.finished { "" } else { " or more" },
            values.len()
        ))),
        Err(error) => Err(start.damage(format!("{what} does not decompress: {error}"))),
    }
}
