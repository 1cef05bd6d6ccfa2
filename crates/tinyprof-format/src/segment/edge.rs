//! Records of edges.

use tinyprof_segment::layout::edge;

use crate::model::{CallpathId, Edge, EdgeKey};

// The words are the numbers of an edge, in their order.
const _: () = assert!(edge::ORDER + 1 - edge::COUNT == Edge::COUNT);

/// Returns the edge of a record with these words, or `None` if its key is none.
#[must_use]
pub fn edge_of_record(words: &[u64; edge::WORDS]) -> Option<(EdgeKey, Edge)> {
    let key = EdgeKey::from_bits(words[edge::KEY], CallpathId::from_bits(words[edge::FROM]))?;
    let mut edge = Edge::from_numbers(std::array::from_fn(|number| words[edge::COUNT + number]));
    if edge.count == 0 {
        // A record begins with the greatest number.
        edge.min_ns = 0;
    }
    Some((key, edge))
}
