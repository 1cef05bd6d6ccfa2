//! One column of numbers in the smallest of three encodings.
//!
//! ```text
//! tag 0  constant   one varint, all values equal it (or, for floats, 8 bytes)
//! tag 1  varints    every value as a varint: wins for a handful of small values
//! tag 2  pco        varint length, then a standalone pco file
//! ```
//!
//! The number of values is not stored: whoever reads a column knows how many it must have.

use pco::ChunkConfig;
use pco::standalone::{simple_compress, simple_decompress_into};

use super::{Cursor, Malformed, Sink};

const CONSTANT: u8 = 0;
const VARINTS: u8 = 1;
const PCO: u8 = 2;

/// Below this many values pco's own header outweighs what it saves.
const PCO_MIN_VALUES: usize = 8;

/// The most values one column may hold: a damaged or hostile count must not make the reader allocate more
/// than 1 GiB at a time.
pub(crate) const MAX_VALUES: usize = 1 << 27;

/// Appends a column of integers.
pub(crate) fn write_u64(sink: &mut Sink, values: &[u64]) {
    let first = values.first().copied().unwrap_or(0);
    if values.iter().all(|&v| v == first) {
        sink.u8(CONSTANT);
        sink.varint(first);
        return;
    }
    let mut varints = Sink::default();
    values.iter().for_each(|&v| varints.varint(v));
    if values.len() >= PCO_MIN_VALUES {
        // Only an absurd chunk configuration makes pco fail; varints are then as correct and merely longer.
        if let Ok(packed) = simple_compress(values, &ChunkConfig::default())
            && packed.len() < varints.len()
        {
            return write_packed(sink, &packed);
        }
    }
    sink.u8(VARINTS);
    sink.bytes(varints.as_slice());
}

/// Appends a column of floats; they come back bit by bit.
pub(crate) fn write_f64(sink: &mut Sink, values: &[f64]) {
    let bits: Vec<u64> = values.iter().map(|v| v.to_bits()).collect();
    if values.len() < PCO_MIN_VALUES || bits.iter().all(|&b| b == bits[0]) {
        return write_u64(sink, &bits);
    }
    match simple_compress(values, &ChunkConfig::default()) {
        Ok(packed) => write_packed(sink, &packed),
        Err(_) => write_u64(sink, &bits),
    }
}

fn write_packed(sink: &mut Sink, packed: &[u8]) {
    sink.u8(PCO);
    sink.varint(packed.len() as u64);
    sink.bytes(packed);
}

/// Takes a column of `count` integers.
pub(crate) fn read_u64(cursor: &mut Cursor<'_>, count: usize, what: &str) -> Result<Vec<u64>, Malformed> {
    if count > MAX_VALUES {
        return Err(
            cursor.malformed(format!("{what} claims {count} values, at most {MAX_VALUES} are allowed"))
        );
    }
    let start = cursor.clone();
    match cursor.u8(what)? {
        CONSTANT => Ok(vec![cursor.varint(what)?; count]),
        VARINTS if count <= cursor.remaining() => (0..count).map(|_| cursor.varint(what)).collect(),
        PCO => read_packed(cursor, count, what),
        tag => Err(start.malformed(format!("{what} has no readable encoding (tag {tag})"))),
    }
}

/// Takes a column of `count` floats.
pub(crate) fn read_f64(cursor: &mut Cursor<'_>, count: usize, what: &str) -> Result<Vec<f64>, Malformed> {
    if count <= MAX_VALUES && cursor.clone().u8(what)? == PCO {
        cursor.u8(what)?;
        return read_packed(cursor, count, what);
    }
    Ok(read_u64(cursor, count, what)?.into_iter().map(f64::from_bits).collect())
}

fn read_packed<T: pco::data_types::Number + Default>(
    cursor: &mut Cursor<'_>,
    count: usize,
    what: &str,
) -> Result<Vec<T>, Malformed> {
    let length = cursor.count(cursor.remaining(), what)?;
    let start = cursor.clone();
    let packed = cursor.take(length, what)?;
    let mut values = vec![T::default(); count];
    match simple_decompress_into(packed, &mut values) {
        Ok(progress) if progress.n_processed == count && progress.finished => Ok(values),
        Ok(progress) => Err(start.malformed(format!(
            "{what} holds {} values{} where {count} were expected",
            progress.n_processed,
            if progress.finished { "" } else { " or more" }
        ))),
        Err(error) => Err(start.malformed(format!("{what} does not decompress: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(values: &[u64]) {
        let mut sink = Sink::default();
        write_u64(&mut sink, values);
        let bytes = sink.into_vec();
        let mut cursor = Cursor::new(&bytes, 0);
        assert_eq!(read_u64(&mut cursor, values.len(), "column").unwrap(), values);
        cursor.finish("column").unwrap();
        let more = read_u64(&mut Cursor::new(&bytes, 0), values.len() + 1, "column");
        assert!(bytes[0] == CONSTANT || more.is_err(), "a column knows how long it is");
    }

    #[test]
    fn small_constant_and_extreme_columns_come_back() {
        check(&[]);
        check(&[7]);
        check(&[5; 1000]);
        check(&[0, u64::MAX, 1, 2]);
        check(&(0..300).map(|i| i * i).collect::<Vec<_>>());
    }

    proptest! {
        #[test]
        fn any_column_comes_back(values in prop::collection::vec(any::<u64>(), 0..200)) {
            check(&values);
        }

        #[test]
        fn any_floats_come_back_bit_by_bit(values in prop::collection::vec(any::<f64>(), 0..100)) {
            let mut sink = Sink::default();
            write_f64(&mut sink, &values);
            let bytes = sink.into_vec();
            let back = read_f64(&mut Cursor::new(&bytes, 0), values.len(), "column").unwrap();
            let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&back), bits(&values));
        }

        #[test]
        fn any_bytes_give_values_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64), count in 0_usize..100) {
            drop(read_u64(&mut Cursor::new(&bytes, 0), count, "column"));
            drop(read_f64(&mut Cursor::new(&bytes, 0), count, "column"));
        }
    }
}
