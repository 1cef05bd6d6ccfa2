//! How the calls of ranks hang together: which call followed which, which message came from where,
//! and who waited for whom.

use super::kinds::kinds;
use super::numbers::numbers;
use super::{CallpathId, MessageKey};

kinds! {
    /// The kinds of edges between callpaths that end in MPI calls.
    #[non_exhaustive]
    pub enum EdgeKind {
        /// From a call to the next one on the same rank.
        Flow = 0 "flow",
        /// From the call that made a request to the call that completed it.
        Completion = 1 "completion",
        /// A message, from the sender's call to the call that waited for it.
        Message = 2 "message",
        /// A message to a receive from any source.
        MessageToAny = 3 "message_to_any",
        /// From the rank that came last to a barrier.
        Barrier = 4 "barrier",
        /// From the rank that came last to an operation in which everyone needs the data of
        /// everyone.
        AllToAll = 5 "all_to_all",
        /// From the root of a broadcast or scatter.
        FromRoot = 6 "from_root",
        /// From the rank that came last to a reduce or gather, to the root.
        ToRoot = 7 "to_root",
        /// From the last of the ranks that a scan waits for.
        Scan = 8 "scan",
        /// From the call that has posted a receive to the one of the sender, which was blocked
        /// until then.
        Receiver = 9 "receiver",
        /// From the rank that came last to a fence of a window.
        Fence = 10 "fence",
        /// From the last of the posts that an access to windows waits for.
        Post = 11 "post",
        /// From the last of the ends of accesses that the window's rank waits for.
        Complete = 12 "complete",
        /// From the call that has released a lock of a window.
        Lock = 13 "lock",
    }
}

impl EdgeKind {
    /// Returns whether the edge comes from another rank, so that its times are waiting.
    #[must_use]
    pub const fn waits(self) -> bool {
        !matches!(self, Self::Flow | Self::Completion)
    }
}

/// The identity of an edge to a callpath of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeKey {
    /// The kind.
    pub kind: EdgeKind,
    /// The rank in the world that it comes from, relative to the rank itself: 0 for flow and
    /// completion. [`ANY_PARTNER`](MessageKey::ANY_PARTNER) where it is not known.
    pub partner: i32,
    /// The callpath that it comes from. [`UNKNOWN`](Self::UNKNOWN) where it is unknown; for a
    /// flow edge the begin of the recording.
    pub from: CallpathId,
}

impl EdgeKey {
    /// The callpath of an edge that comes from an unknown one.
    pub const UNKNOWN: CallpathId = CallpathId::from_bits(0);

    /// Returns the key without partner and origin.
    #[must_use]
    pub const fn with_any_partner(self) -> Self {
        Self { partner: MessageKey::ANY_PARTNER, from: Self::UNKNOWN, ..self }
    }

    /// Returns kind and partner as a number, from the low bits up.
    #[must_use]
    #[inline]
    pub const fn to_bits(self) -> u64 {
        (self.partner.cast_unsigned() as u64) << 32 | self.kind as u64
    }

    /// Returns the key of an edge from `from` with this number, or `None` if it is the number of
    /// none.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "taking the parts is the purpose")]
    pub fn from_bits(bits: u64, from: CallpathId) -> Option<Self> {
        let kind = EdgeKind::from_number(bits as u8).filter(|_| bits as u32 >> 8 == 0)?;
        Some(Self { kind, partner: ((bits >> 32) as u32).cast_signed(), from })
    }
}

numbers! {
    /// The statistics of an edge over all its instances.
    ///
    /// The times are
    ///
    /// * for a flow edge, from the end of the one call to the entry of the other;
    /// * for a completion edge, from the entry of the call that made the request to that of the
    /// call that completed it;
    /// * otherwise the waiting of the call: until its partner came.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Edge {
        /// The number of instances.
        count: u64 = sum,
        /// The bytes of the messages.
        bytes: u64 = sum,
        /// The sum of the times, in ns.
        sum_ns: u64 = sum,
        /// The shortest, in ns.
        min_ns: u64 = kept,
        /// The longest, in ns.
        max_ns: u64 = max,
        /// The sum of their squares, in square ns.
        sum_squares_ns2: f64 = sum,
        /// The waiting that there would have been without measurement, in ns.
        compensated_ns: u64 = sum,
        /// The time in the call after the partner had come, in ns.
        transfer_ns: u64 = sum,
        /// The part of the waiting that is due to the order of receives, in ns (P02).
        wrong_order_ns: u64 = sum,
        /// The time that senders were blocked until the receive was posted, in ns: estimated (P03).
        late_receiver_ns: u64 = sum,
        /// The position among the edges of the rank by their first instances, 0-based.
        order: u32 = kept,
    }
}

impl Edge {
    /// Returns an edge with one instance of `ns` ns and no message.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
    pub fn of_one_instance(ns: u64) -> Self {
        Self {
            count: 1,
            sum_ns: ns,
            min_ns: ns,
            max_ns: ns,
            sum_squares_ns2: ns as f64 * ns as f64,
            ..Self::default()
        }
    }

    /// Adds other instances. An edge without instances has neither minimum nor order.
    pub fn absorb(&mut self, other: &Self) {
        if self.count == 0 {
            (self.min_ns, self.order) = (other.min_ns, other.order);
        } else if other.count > 0 {
            self.min_ns = self.min_ns.min(other.min_ns);
            self.order = self.order.min(other.order);
        }
        self.merge(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_of_one_kind() {
        for (number, kind) in (0..).zip(EdgeKind::ALL) {
            assert_eq!((kind as u8, EdgeKind::from_number(number)), (number, Some(kind)));
            assert_eq!(EdgeKind::ALL.iter().filter(|k| k.name() == kind.name()).count(), 1);
        }
        assert_eq!(EdgeKind::from_number(14), None);
    }

    #[test]
    fn instances_add_up() {
        let mut edge = Edge::default();
        edge.absorb(&Edge { order: 7, ..Edge::of_one_instance(30) });
        edge.absorb(&Edge { order: 3, bytes: 8, ..Edge::of_one_instance(10) });
        edge.absorb(&Edge::default());
        assert_eq!((edge.count, edge.sum_ns, edge.min_ns, edge.max_ns), (2, 40, 10, 30));
        assert_eq!((edge.sum_squares_ns2.to_bits(), edge.order), (1000.0_f64.to_bits(), 3));
    }

    #[test]
    fn waiting_without_an_instance_is_kept() {
        let of_order = Edge { wrong_order_ns: 5, order: 9, ..Edge::default() };
        let one = Edge { order: 3, ..Edge::of_one_instance(30) };
        for (mut edge, other) in [(of_order, one), (one, of_order)] {
            edge.absorb(&other);
            assert_eq!(edge, Edge { wrong_order_ns: 5, ..one });
        }
    }

    #[test]
    fn a_number_is_that_of_its_key_or_of_none() {
        for (kind, partner) in EdgeKind::ALL.into_iter().zip(-4..) {
            let key = EdgeKey { kind, partner, from: CallpathId::from_bits(7) };
            assert_eq!(EdgeKey::from_bits(key.to_bits(), key.from), Some(key));
        }
        assert_eq!(EdgeKey::from_bits(14, EdgeKey::UNKNOWN), None);
        assert_eq!(EdgeKey::from_bits(0x100, EdgeKey::UNKNOWN), None);
    }
}
