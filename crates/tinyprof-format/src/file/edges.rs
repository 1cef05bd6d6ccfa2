//! The encoding of edges between ranks: each record is its key in two numbers and eleven numbers,
//! 8 bytes each. `communication.rs` shows how a part stores them.

use crate::bytes::{Cursor, Malformed, Sink};
use crate::model::{CallpathId, Edge, EdgeKey};

/// One record of a callpath.
pub(super) type Record = (EdgeKey, Edge);

/// The numbers of a record in a message between ranks.
const RECORD_WORDS: usize = 13;

/// The length of a record in a message between ranks, in bytes.
pub(super) const RECORD_BYTES: usize = RECORD_WORDS * 8;

pub(super) fn write_record(sink: &mut Sink, (key, edge): &Record) {
    let words: [u64; RECORD_WORDS] = [
        key.to_bits(),
        key.from.to_bits(),
        edge.count,
        edge.bytes,
        edge.sum_ns,
        edge.min_ns,
        edge.max_ns,
        edge.sum_squares_ns2.to_bits(),
        edge.compensated_ns,
        edge.transfer_ns,
        edge.wrong_order_ns,
        edge.late_receiver_ns,
        edge.order.into(),
    ];
    words.iter().for_each(|&word| sink.u64(word));
}

pub(super) fn read_record(cursor: &mut Cursor<'_>) -> Result<Record, Malformed> {
    let start = cursor.clone();
    let mut words = [0; RECORD_WORDS];
    for word in &mut words {
        *word = cursor.u64("an edge")?;
    }
    let key = EdgeKey::from_bits(words[0], CallpathId::from_bits(words[1]));
    let edge = Edge {
        count: words[2],
        bytes: words[3],
        sum_ns: words[4],
        min_ns: words[5],
        max_ns: words[6],
        sum_squares_ns2: f64::from_bits(words[7]),
        compensated_ns: words[8],
        transfer_ns: words[9],
        wrong_order_ns: words[10],
        late_receiver_ns: words[11],
        order: order(words[12], &start)?,
    };
    let key =
        key.ok_or_else(|| start.malformed(format!("{:#x} is no key of an edge", words[0])))?;
    Ok((key, edge))
}

fn order(number: u64, cursor: &Cursor<'_>) -> Result<u32, Malformed> {
    u32::try_from(number).map_err(|_| cursor.malformed("the order of an edge does not fit 32 bits"))
}
