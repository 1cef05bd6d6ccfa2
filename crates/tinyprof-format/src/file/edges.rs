//! The encoding of edges between ranks: each record is its key in two numbers and those of
//! [`Edge`], 8 bytes each. `communication.rs` shows how a part stores them.

use crate::bytes::{Cursor, Malformed, Sink};
use crate::model::{CallpathId, Edge, EdgeKey};

/// One record of a callpath.
pub(super) type Record = (EdgeKey, Edge);

/// The length of a record in a message between ranks, in bytes.
pub(super) const RECORD_BYTES: usize = (2 + Edge::COUNT) * 8;

pub(super) fn write_record(sink: &mut Sink, (key, edge): &Record) {
    sink.u64(key.to_bits());
    sink.u64(key.from.to_bits());
    edge.named().into_iter().for_each(|(_, number)| sink.u64(number));
}

pub(super) fn read_record(cursor: &mut Cursor<'_>) -> Result<Record, Malformed> {
    let start = cursor.clone();
    let (bits, from) = (cursor.u64("an edge")?, cursor.u64("an edge")?);
    let mut numbers = [0; Edge::COUNT];
    for number in &mut numbers {
        *number = cursor.u64("an edge")?;
    }
    let edge = Edge::from_numbers(numbers);
    if u64::from(edge.order) != numbers[Edge::COUNT - 1] {
        return Err(start.malformed("the order of an edge does not fit 32 bits"));
    }
    let key = EdgeKey::from_bits(bits, CallpathId::from_bits(from));
    let key = key.ok_or_else(|| start.malformed(format!("{bits:#x} is no key of an edge")))?;
    Ok((key, edge))
}
