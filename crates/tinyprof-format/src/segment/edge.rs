//! Records of edges.

use tinyprof_segment::layout::edge;

use crate::model::{CallpathId, Edge, EdgeKey};

/// Returns the edge of a record with these words, or `None` if its key is none.
#[must_use]
pub fn edge_of_record(words: &[u64; edge::WORDS]) -> Option<(EdgeKey, Edge)> {
    let key = EdgeKey::from_bits(words[edge::KEY], CallpathId::from_bits(words[edge::FROM]))?;
    let count = words[edge::COUNT];
    let edge = Edge {
        count,
        bytes: words[edge::BYTES],
        sum_ns: words[edge::SUM],
        // A record begins with the greatest number.
        min_ns: if count == 0 { 0 } else { words[edge::MIN] },
        max_ns: words[edge::MAX],
        sum_squares_ns2: f64::from_bits(words[edge::SQUARES]),
        compensated_ns: words[edge::COMPENSATED],
        transfer_ns: words[edge::TRANSFER],
        wrong_order_ns: words[edge::WRONG_ORDER],
        late_receiver_ns: words[edge::LATE_RECEIVER],
        order: u32::try_from(words[edge::ORDER]).unwrap_or(u32::MAX),
    };
    Some((key, edge))
}
