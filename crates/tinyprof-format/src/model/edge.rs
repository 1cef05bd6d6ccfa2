//! How the calls of ranks hang together: which call followed which, which message came from where,
//! and who waited for whom.

use super::{CallpathId, MessageKey};

/// The kinds of edges between callpaths that end in MPI calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum EdgeKind {
    /// From a call to the next one on the same rank.
    Flow = 0,
    /// From the call that made a request to the call that completed it.
    Completion = 1,
    /// A message, from the sender's call to the call that waited for it.
    Message = 2,
    /// A message to a receive from any source.
    MessageToAny = 3,
    /// From the rank that came last to a barrier.
    Barrier = 4,
    /// From the rank that came last to an operation in which everyone needs the data of everyone.
    AllToAll = 5,
    /// From the root of a broadcast or scatter.
    FromRoot = 6,
    /// From the rank that came last to a reduce or gather, to the root.
    ToRoot = 7,
    /// From the last of the ranks that a scan waits for.
    Scan = 8,
    /// From the call that has posted a receive to the one of the sender, which was blocked until
    /// then.
    Receiver = 9,
    /// From the rank that came last to a fence of a window.
    Fence = 10,
    /// From the last of the posts that an access to windows waits for.
    Post = 11,
    /// From the last of the ends of accesses that the window's rank waits for.
    Complete = 12,
    /// From the call that has released a lock of a window.
    Lock = 13,
}

impl EdgeKind {
    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; 14] = [
        Self::Flow,
        Self::Completion,
        Self::Message,
        Self::MessageToAny,
        Self::Barrier,
        Self::AllToAll,
        Self::FromRoot,
        Self::ToRoot,
        Self::Scan,
        Self::Receiver,
        Self::Fence,
        Self::Post,
        Self::Complete,
        Self::Lock,
    ];

    /// Returns the kind with this number, if there is one.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Returns whether the edge comes from another rank, so that its times are waiting.
    #[must_use]
    pub const fn waits(self) -> bool {
        !matches!(self, Self::Flow | Self::Completion)
    }

    /// Returns the name, for tables and JSON: `message_to_any`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::Completion => "completion",
            Self::Message => "message",
            Self::MessageToAny => "message_to_any",
            Self::Barrier => "barrier",
            Self::AllToAll => "all_to_all",
            Self::FromRoot => "from_root",
            Self::ToRoot => "to_root",
            Self::Scan => "scan",
            Self::Receiver => "receiver",
            Self::Fence => "fence",
            Self::Post => "post",
            Self::Complete => "complete",
            Self::Lock => "lock",
        }
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

/// The statistics of an edge over all its instances.
///
/// The times are
///
/// * for a flow edge, from the end of the one call to the entry of the other;
/// * for a completion edge, from the entry of the call that made the request to that of the call
///   that completed it;
/// * otherwise the waiting of the call: until its partner came.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Edge {
    /// The number of instances.
    pub count: u64,
    /// The bytes of the messages.
    pub bytes: u64,
    /// The sum of the times, in ns.
    pub sum_ns: u64,
    /// The shortest, in ns.
    pub min_ns: u64,
    /// The longest, in ns.
    pub max_ns: u64,
    /// The sum of their squares, in square ns.
    pub sum_squares_ns2: f64,
    /// The waiting that there would have been without measurement, in ns.
    pub compensated_ns: u64,
    /// The time in the call after the partner had come, in ns.
    pub transfer_ns: u64,
    /// The part of the waiting that is due to the order of receives, in ns (P02).
    pub wrong_order_ns: u64,
    /// The time that senders were blocked until the receive was posted, in ns: estimated (P03).
    pub late_receiver_ns: u64,
    /// The position among the edges of the rank by their first instances, 0-based.
    pub order: u32,
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
        self.count = self.count.saturating_add(other.count);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_squares_ns2 += other.sum_squares_ns2;
        self.compensated_ns = self.compensated_ns.saturating_add(other.compensated_ns);
        self.transfer_ns = self.transfer_ns.saturating_add(other.transfer_ns);
        self.wrong_order_ns = self.wrong_order_ns.saturating_add(other.wrong_order_ns);
        self.late_receiver_ns = self.late_receiver_ns.saturating_add(other.late_receiver_ns);
    }
}

/// The facts of the clock of a rank at level `messages`: by how much measuring has delayed it, and
/// how sure that is. All numbers are 0 at other levels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockFacts {
    /// The number of messages and collective operations of which a companion was seen. 0 where the
    /// level was never `messages`.
    pub companions: u64,
    /// By how much measuring has delayed the rank by what it did itself, in ns.
    pub own_intrusion_ns: u64,
    /// By how much it was delayed in all, directly or through others, in ns.
    pub intrusion_ns: u64,
    /// By how much that may be wrong, in ns: the rank's own part and `propagated_uncertainty_ns`.
    pub uncertainty_ns: u64,
    /// The useful time along the longest chain of causes, in ns.
    pub ideal_ns: u64,
    /// By how much the clock may differ from that of rank 0 after correction, in ns.
    pub offset_uncertainty_ns: u64,
    /// Messages without a companion, because the sender had no room for it or it came too late.
    pub companions_missing: u64,
    /// Receives whose companion could not be told, such as those of several threads.
    pub companions_unclear: u64,
    /// Partners that came after the call had ended, by the clocks.
    pub contradictions: u64,
    /// Messages to any source that were delivered in another order than without measurement.
    pub inversions: u64,
    /// The time in MPI calls whose partners are not followed, in ns. They can hide any delay.
    /// At least 1; 0 in profiles of recorders that did not keep it.
    pub unfollowed_ns: u64,
    /// The part of `uncertainty_ns` that came through others, in ns.
    pub propagated_uncertainty_ns: u64,
    /// Companions that nobody had asked for when the program ended: of messages that it never
    /// received, or was said not to have received. 0 in profiles of recorders that did not count.
    pub companions_left: u64,
}

impl ClockFacts {
    /// The number of facts.
    pub const COUNT: usize = 13;

    /// Returns the names and numbers, in the order in which a profile stores them. New ones go to
    /// the end.
    #[must_use]
    pub const fn named(&self) -> [(&'static str, u64); Self::COUNT] {
        [
            ("companions", self.companions),
            ("own_intrusion_ns", self.own_intrusion_ns),
            ("intrusion_ns", self.intrusion_ns),
            ("uncertainty_ns", self.uncertainty_ns),
            ("ideal_ns", self.ideal_ns),
            ("offset_uncertainty_ns", self.offset_uncertainty_ns),
            ("companions_missing", self.companions_missing),
            ("companions_unclear", self.companions_unclear),
            ("contradictions", self.contradictions),
            ("inversions", self.inversions),
            ("unfollowed_ns", self.unfollowed_ns),
            ("propagated_uncertainty_ns", self.propagated_uncertainty_ns),
            ("companions_left", self.companions_left),
        ]
    }

    /// Returns true if all numbers are 0: the level was never `messages`.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the facts of another thread of the rank. Numbers of events are added, and so is the
    /// time in calls; of other times, the larger one counts, as one thread may know of another's.
    pub fn absorb(&mut self, other: &Self) {
        self.companions = self.companions.saturating_add(other.companions);
        self.own_intrusion_ns = self.own_intrusion_ns.max(other.own_intrusion_ns);
        self.intrusion_ns = self.intrusion_ns.max(other.intrusion_ns);
        self.uncertainty_ns = self.uncertainty_ns.max(other.uncertainty_ns);
        self.ideal_ns = self.ideal_ns.max(other.ideal_ns);
        self.offset_uncertainty_ns = self.offset_uncertainty_ns.max(other.offset_uncertainty_ns);
        self.companions_missing = self.companions_missing.saturating_add(other.companions_missing);
        self.companions_unclear = self.companions_unclear.saturating_add(other.companions_unclear);
        self.contradictions = self.contradictions.saturating_add(other.contradictions);
        self.inversions = self.inversions.saturating_add(other.inversions);
        self.unfollowed_ns = self.unfollowed_ns.saturating_add(other.unfollowed_ns);
        self.propagated_uncertainty_ns =
            self.propagated_uncertainty_ns.max(other.propagated_uncertainty_ns);
        self.companions_left = self.companions_left.saturating_add(other.companions_left);
    }

    /// Creates facts from numbers in the order of [`named`](Self::named).
    #[must_use]
    pub const fn from_numbers(n: [u64; Self::COUNT]) -> Self {
        Self {
            companions: n[0],
            own_intrusion_ns: n[1],
            intrusion_ns: n[2],
            uncertainty_ns: n[3],
            ideal_ns: n[4],
            offset_uncertainty_ns: n[5],
            companions_missing: n[6],
            companions_unclear: n[7],
            contradictions: n[8],
            inversions: n[9],
            unfollowed_ns: n[10],
            propagated_uncertainty_ns: n[11],
            companions_left: n[12],
        }
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

    #[test]
    fn facts_of_threads_are_added_and_their_times_are_of_the_same_rank() {
        let of = |factor: u64| {
            ClockFacts::from_numbers(
                [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map(|n| n * factor),
            )
        };
        let mut facts = of(2);
        facts.absorb(&of(1));
        assert_eq!(
            facts,
            ClockFacts::from_numbers([3, 4, 6, 8, 10, 12, 21, 24, 27, 30, 33, 24, 39])
        );
    }

    #[test]
    fn facts_keep_their_order() {
        let numbers = std::array::from_fn(|at| at as u64);
        assert_eq!(ClockFacts::from_numbers(numbers).named().map(|(_, number)| number), numbers);
    }
}
