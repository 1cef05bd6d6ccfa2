//! One column of integers in the smallest of several encodings, as used for all numbers of a
//! profile.
//!
//! `docs/format.md` describes the bytes.

use crate::bytes::{Cursor, Sink, column};
use crate::error::DecodeError;
use crate::file::ReadOptions;

/// Encodes a column. The number of values is not stored in it.
///
/// # Cost
/// About 30 million values per second on one core of a machine of 2020.
///
/// ```
/// use tinyprof_format::column::{decode, encode};
///
/// let times_ns = [5_000, 7_000, 6_000];
/// let bytes = encode(&times_ns);
/// assert_eq!(bytes, [3, 0xe8, 0x07, 1, 5, 7, 6]);
/// assert_eq!(decode(&bytes, 3), Ok(times_ns.to_vec()));
/// ```
#[must_use]
pub fn encode(values: &[u64]) -> Vec<u8> {
    let mut sink = Sink::default();
    column::write_u64(&mut sink, values);
    sink.into_vec()
}

/// Decodes a column of `count` values.
///
/// # Errors
/// If `bytes` are not those of `count` values.
pub fn decode(bytes: &[u8], count: usize) -> Result<Vec<u64>, DecodeError> {
    let memory_limit = ReadOptions::default().memory_limit(bytes.len() as u64);
    let mut cursor = Cursor::within(&memory_limit, bytes, 0);
    let values = column::read_u64(&mut cursor, count, "the column");
    Ok(values.and_then(|values| cursor.finish("the column").map(|()| values))?)
}
