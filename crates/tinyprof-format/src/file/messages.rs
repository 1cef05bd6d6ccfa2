//! The encoding of messages between ranks: each record is its key, count and bytes, 8 bytes each.
//! `communication.rs` shows how a part stores them.

use crate::bytes::{Cursor, Malformed, Sink};
use crate::model::{MessageKey, Traffic};

/// One record of a callpath.
pub(super) type Record = (MessageKey, Traffic);

/// The length of a record in a message between ranks, in bytes.
pub(super) const RECORD_BYTES: usize = 24;

pub(super) fn write_record(sink: &mut Sink, &(key, traffic): &Record) {
    [key.to_bits(), traffic.count, traffic.bytes].iter().for_each(|&word| sink.u64(word));
}

pub(super) fn read_record(cursor: &mut Cursor<'_>) -> Result<Record, Malformed> {
    let start = cursor.clone();
    let key = cursor.u64("the key of a message")?;
    let count = cursor.u64("a number of messages")?;
    let bytes = cursor.u64("the bytes of messages")?;
    let key = MessageKey::from_bits(key)
        .ok_or_else(|| start.malformed(format!("{key:#x} is no key of a message")))?;
    Ok((key, Traffic { count, bytes }))
}
