//! The numbers of a message or an edge, as differences to what can be expected of them.
//!
//! ```text
//! messages  counts | bytes / count | bytes % count
//! edges     counts | bytes / count | bytes % count | sums
//!           sum / count - minimum | maximum - sum / count
//!           squares, see `squares.rs`
//!           compensated times (zigzag): minus the sum, if the kind waits
//!           transfers | wrong orders | late receivers | orders
//! ```
//!
//! A count of 0 divides as 1. Differences wrap around. The first three numbers of the edge of a
//! message are those of the messages that the callpath got from the same partner, if there are any:
//! so the difference to these is stored (zigzag).

use std::ops::RangeInclusive;

use super::super::keys::{un_zigzag, zigzag};
use super::squares;
use crate::model::{Edge, EdgeKey, EdgeKind, MessageKey, MessageKind, Traffic};

/// The names of the numbers of messages, for errors. A test compares them with docs/format.md.
pub(super) const OF_MESSAGES: [&str; 3] =
    ["the counts of messages", "the means of messages", "the remainders of messages"];

/// The names of the numbers of edges, for errors. A test compares them with docs/format.md.
pub(super) const OF_EDGES: [&str; 12] = [
    "the counts of edges",
    "the means of bytes of edges",
    "the remainders of bytes of edges",
    "the sums of edges",
    "the minima of edges",
    "the maxima of edges",
    "the squares of edges",
    "the compensated times of edges",
    "the transfers of edges",
    "the wrong orders of edges",
    "the late receivers of edges",
    "the orders of edges",
];

pub(super) type MessageRow = [u64; OF_MESSAGES.len()];
pub(super) type EdgeRow = [u64; OF_EDGES.len()];

pub(super) fn of_message(traffic: &Traffic) -> MessageRow {
    let count = traffic.count.max(1);
    [traffic.count, traffic.bytes / count, traffic.bytes % count]
}

/// Returns the traffic with these numbers, or `None` if the bytes do not fit.
pub(super) fn to_message(&[count, mean, rest]: &MessageRow) -> Option<Traffic> {
    let bytes = mean.checked_mul(count.max(1))?.checked_add(rest)?;
    Some(Traffic { count, bytes })
}

/// Returns the keys of the messages that a callpath got from the partner of an edge, if it is that
/// of a message.
pub(super) fn received(key: &EdgeKey) -> Option<RangeInclusive<MessageKey>> {
    let of_size =
        |size_class| MessageKey { kind: MessageKind::MessageIn, partner: key.partner, size_class };
    let is_message = matches!(key.kind, EdgeKind::Message | EdgeKind::MessageToAny);
    is_message.then(|| of_size(0)..=of_size(u8::MAX))
}

/// Returns the first three numbers of the row of all these messages together; none if there are
/// none.
pub(super) fn expected(received: impl Iterator<Item = Traffic>) -> Option<MessageRow> {
    let all = received.fold(Traffic::default(), |all, traffic| Traffic {
        count: all.count.saturating_add(traffic.count),
        bytes: all.bytes.saturating_add(traffic.bytes),
    });
    (all.count > 0).then(|| of_message(&all))
}

pub(super) fn of_edge(kind: EdgeKind, edge: &Edge, expected: Option<MessageRow>) -> EdgeRow {
    let mean = edge.sum_ns / edge.count.max(1);
    let compensated = edge.compensated_ns.wrapping_sub(uncompensated_ns(kind, edge.sum_ns));
    let [mut count, mut bytes, mut rest] =
        of_message(&Traffic { count: edge.count, bytes: edge.bytes });
    if let Some(expected) = expected {
        [count, bytes, rest] = std::array::from_fn(|at| {
            zigzag([count, bytes, rest][at].wrapping_sub(expected[at]).cast_signed())
        });
    }
    [
        count,
        bytes,
        rest,
        edge.sum_ns,
        mean.wrapping_sub(edge.min_ns),
        edge.max_ns.wrapping_sub(mean),
        squares::to_number(edge),
        zigzag(compensated.cast_signed()),
        edge.transfer_ns,
        edge.wrong_order_ns,
        edge.late_receiver_ns,
        edge.order.into(),
    ]
}

/// Returns the edge with these numbers, or `None` if one of them does not fit.
pub(super) fn to_edge(kind: EdgeKind, row: &EdgeRow, expected: Option<MessageRow>) -> Option<Edge> {
    let [count, bytes, rest, sum_ns, below, above, squares, compensated, ..] = *row;
    let [.., transfer_ns, wrong_order_ns, late_receiver_ns, order] = *row;
    let mut first = [count, bytes, rest];
    if let Some(expected) = expected {
        first = std::array::from_fn(|at| expected[at].wrapping_add_signed(un_zigzag(first[at])));
    }
    let Traffic { count, bytes } = to_message(&first)?;
    let mean = sum_ns / count.max(1);
    let compensated = un_zigzag(compensated);
    let edge = Edge {
        count,
        bytes,
        sum_ns,
        min_ns: mean.wrapping_sub(below),
        max_ns: mean.wrapping_add(above),
        sum_squares_ns2: 0.0,
        compensated_ns: uncompensated_ns(kind, sum_ns).wrapping_add_signed(compensated),
        transfer_ns,
        wrong_order_ns,
        late_receiver_ns,
        order: u32::try_from(order).ok()?,
    };
    Some(Edge { sum_squares_ns2: squares::from_number(&edge, squares)?, ..edge })
}

/// Returns the compensated time where measuring has changed nothing.
const fn uncompensated_ns(kind: EdgeKind, sum_ns: u64) -> u64 {
    if kind.waits() { sum_ns } else { 0 }
}
