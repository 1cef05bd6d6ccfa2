//! One column of numbers, in the smallest of several encodings.
//!
//! ```text
//! tag 0  constant   one varint, all values equal it
//! tag 1  varints    every value as a varint: wins for a handful of small values
//! tag 2  pco        varint length, then a standalone pco file of 64-bit integers or floats
//! tag 3  multiples  varint divisor, then a column of the values divided by it, which is of tag 1,
//!          2 or 4
//! tag 4  narrow     like 2, of 32-bit integers
//! tag 5  rounded  numbers of eight significant bits, see `rounded.rs`: a column of their codes,
//!          of tag 1 or 4
//! ```
//!
//! The number of values is not stored, since the reader of a column knows how many it must have.
//! Floats that are not worth packing are stored as a column of their bits.
//!
//! Clocks that tick in microseconds produce multiples of 1,000. pco detects these itself in long
//! columns, but stores the divisor in a number of bytes that matters for a few hundred values. The
//! same applies to the width of its integers. Tags 3 and 4 together save 3 % on the profile of 512
//! ranks that is used to measure sizes. Versions before 0.3 had only tags 0 to 2, those before 1.0
//! had 0 to 4.

#[cfg(feature = "pco")]
mod claims;
#[cfg(feature = "pco")]
mod pack;
#[cfg(not(feature = "pco"))]
mod plain;
mod rounded;
#[cfg(test)]
#[cfg(feature = "pco")]
mod tests;

use super::{Cursor, Malformed, Sink};
#[cfg(feature = "pco")]
use pack::{Packable, pack, unpack};
#[cfg(not(feature = "pco"))]
use plain::{Packable, pack, unpack};

pub(crate) use rounded::round;

const CONSTANT: u8 = 0;
const VARINTS: u8 = 1;
const PCO: u8 = 2;
const MULTIPLES: u8 = 3;
const NARROW: u8 = 4;
const ROUNDED: u8 = 5;

/// The fewest integers that are packed. Below this, pco saves little or nothing over varints, and
/// its tables take 10 us to build.
const PCO_MIN_INTEGERS: usize = 32;

/// The fewest floats that are packed. Their bits are longer as varints than as plain bytes.
const PCO_MIN_FLOATS: usize = 8;

/// The most values one column may hold: a damaged or hostile count must not make the reader
/// allocate more than 1 GiB at a time.
pub(crate) const MAX_VALUES: usize = 1 << 27;

/// Appends a column of integers.
pub(crate) fn write_u64(sink: &mut Sink, values: &[u64]) {
    let (least, greatest) = ends(values);
    if least >= greatest {
        sink.u8(CONSTANT);
        sink.varint(greatest);
        return;
    }
    let divisor = common_divisor(values);
    let ends = (least / divisor, greatest / divisor);
    match rounded::codes(values, greatest) {
        // Few significant bits may be a coincidence, and the numbers also small multiples. Codes
        // have the order of the numbers.
        Some(codes) if rounded::range(least, greatest) < (greatest - least) / divisor => {
            sink.u8(ROUNDED);
            write_varied(sink, &codes, NARROW, rounded::code(least));
        }
        _ if divisor == 1 => write_integers(sink, values.iter().copied(), ends),
        _ => {
            sink.u8(MULTIPLES);
            sink.varint(divisor);
            write_integers(sink, values.iter().map(|&value| value / divisor), ends);
        }
    }
}

/// Returns the least and the greatest value. Without values, the greatest is 0, and less than the
/// least.
fn ends(values: &[u64]) -> (u64, u64) {
    values
        .iter()
        .fold((u64::MAX, 0), |(least, greatest), &value| (least.min(value), greatest.max(value)))
}

/// Appends integers between these ends, packed as 32-bit integers if they fit.
fn write_integers(
    sink: &mut Sink,
    values: impl Iterator<Item = u64>,
    (least, greatest): (u64, u64),
) {
    if greatest <= u32::MAX.into() {
        let narrow: Vec<u32> =
            values.map(|value| u32::try_from(value).unwrap_or(u32::MAX)).collect();
        write_varied(sink, &narrow, NARROW, least);
    } else {
        write_varied(sink, &values.collect::<Vec<u64>>(), PCO, least);
    }
}

/// Returns the greatest common divisor of values that are not all 0. For a clock of high resolution
/// the search ends early.
fn common_divisor(values: &[u64]) -> u64 {
    let mut divisor = 0;
    for &value in values {
        let mut rest = value;
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        if divisor == 1 {
            break;
        }
    }
    divisor
}

/// Appends values, none of them below `least`, as varints or packed with the tag `tag`.
fn write_varied<T: Packable + Into<u64>>(sink: &mut Sink, values: &[T], tag: u8, least: u64) {
    let integers = values.iter().map(|&value| value.into());
    if values.len() >= PCO_MIN_INTEGERS {
        let packed = pack(values, integers.clone());
        let is_shorter = |packed: &Vec<u8>| {
            // The least value usually decides this, without a look at the others.
            packed.len() < values.len() * Sink::varint_length(least)
                || packed.len() < integers.clone().map(Sink::varint_length).sum()
        };
        if let Some(packed) = packed.filter(is_shorter) {
            return write_packed(sink, tag, &packed);
        }
    }
    sink.u8(VARINTS);
    integers.for_each(|value| sink.varint(value));
}

/// Appends a column of floats, which are restored bit by bit.
pub(crate) fn write_f64(sink: &mut Sink, values: &[f64]) {
    let bits: Vec<u64> = values.iter().map(|v| v.to_bits()).collect();
    if values.len() < PCO_MIN_FLOATS || bits.iter().all(|&b| b == bits[0]) {
        return write_u64(sink, &bits);
    }
    // The bits of floats of one sign have the order of the floats, or its reverse.
    match pack(values, bits.iter().copied()) {
        Some(packed) => write_packed(sink, PCO, &packed),
        None => write_u64(sink, &bits),
    }
}

fn write_packed(sink: &mut Sink, tag: u8, packed: &[u8]) {
    sink.u8(tag);
    sink.varint(packed.len() as u64);
    sink.bytes(packed);
}

/// Takes a column of `count` integers.
pub(crate) fn read_u64(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
) -> Result<Vec<u64>, Malformed> {
    if count > MAX_VALUES {
        return Err(cursor
            .malformed(format!("{what} claims {count} values, at most {MAX_VALUES} are allowed")));
    }
    match cursor.clone().u8(what)? {
        CONSTANT => {
            cursor.u8(what)?;
            let value = cursor.varint(what)?;
            cursor.claim_temporary(count, size_of::<u64>(), what)?;
            Ok(vec![value; count])
        }
        MULTIPLES => {
            cursor.u8(what)?;
            let divisor = cursor.varint(what)?;
            let reason = || format!("{what} has multiples of {divisor} over 64 bits");
            read_varied(cursor, count, what, |value| value.overflowing_mul(divisor), &reason)
        }
        ROUNDED => {
            cursor.u8(what)?;
            if cursor.clone().u8(what)? == PCO {
                return Err(cursor
                    .malformed(format!("{what} has codes in an encoding that codes do not have")));
            }
            read_varied(cursor, count, what, rounded::of_code, &|| {
                format!("{what} has a code that stands for no number")
            })
        }
        _ => read_varied(cursor, count, what, |value| (value, false), &String::new),
    }
}

/// Takes the output of [`write_varied`]. `convert` converts each number, and returns true if it is
/// invalid. `reason` gives the error message.
fn read_varied(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
    mut convert: impl FnMut(u64) -> (u64, bool),
    reason: &dyn Fn() -> String,
) -> Result<Vec<u64>, Malformed> {
    let start = cursor.clone();
    let mut wrong = false;
    let mut checked = |value: u64| {
        let (value, is_wrong) = convert(value);
        wrong |= is_wrong;
        value
    };
    let values = match cursor.u8(what)? {
        VARINTS if count <= cursor.remaining() => {
            cursor.claim_temporary(count, size_of::<u64>(), what)?;
            let mut values = Vec::with_capacity(count);
            for _ in 0..count {
                values.push(checked(cursor.varint(what)?));
            }
            values
        }
        PCO => read_packed(cursor, count, what, checked)?,
        NARROW => read_packed(cursor, count, what, |value: u32| checked(value.into()))?,
        tag => return Err(start.malformed(format!("{what} has no readable encoding (tag {tag})"))),
    };
    if wrong { Err(start.malformed(reason())) } else { Ok(values) }
}

/// Takes a column of `count` floats.
pub(crate) fn read_f64(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
) -> Result<Vec<f64>, Malformed> {
    if count <= MAX_VALUES && cursor.clone().u8(what)? == PCO {
        cursor.u8(what)?;
        return read_packed(cursor, count, what, |value: f64| value);
    }
    let bits = read_u64(cursor, count, what)?;
    cursor.claim_temporary(count, size_of::<f64>(), what)?;
    Ok(bits.into_iter().map(f64::from_bits).collect())
}

fn read_packed<T: Packable, U>(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
    convert: impl FnMut(T) -> U,
) -> Result<Vec<U>, Malformed> {
    let length = cursor.count(cursor.remaining(), what)?;
    let start = cursor.clone();
    let packed = cursor.take(length, what)?;
    start.claim_temporary(count, size_of::<U>(), what)?;
    let failed = |error: String| start.malformed(format!("{what} does not decompress: {error}"));
    let claim = |bytes: usize| start.claim_temporary(bytes, 1, what);
    match unpack(packed, count, convert, claim, failed)? {
        (values, true) if values.len() == count => Ok(values),
        (values, is_all) => Err(start.malformed(format!(
            "{what} holds {} values{} where {count} were expected",
            values.len(),
            if is_all { "" } else { " or more" }
        ))),
    }
}
