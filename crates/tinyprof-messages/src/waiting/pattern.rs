//! The patterns of waiting, and who waits in which collective.

/// A cause of waiting. The patterns are those of Scalasca.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Pattern {
    /// P01: a receive waits for a message that is sent later.
    LateSender = 1,
    /// P02: the part of [`LateSender`](Self::LateSender) that is due to the order of receives: a
    /// message that was sent earlier is received later.
    LateSenderWrongOrder = 2,
    /// P03: a send is blocked until the receive is posted.
    LateReceiver = 3,
    /// P04: a barrier waits for the last rank.
    WaitAtBarrier = 4,
    /// P05: an operation in which everyone needs the data of everyone.
    WaitAtAllToAll = 5,
    /// P06: a broadcast or scatter waits for its root.
    LateBroadcast = 6,
    /// P07: the root of a reduce or gather waits for the last rank.
    EarlyReduce = 7,
    /// P08: a scan waits for the ranks before it.
    EarlyScan = 8,
    /// A fence of a window waits for the last rank.
    WaitAtFence = 9,
    /// An access to the memory of other ranks waits until the last of them has posted it.
    LatePost = 10,
    /// A rank waits until the last of the accesses to its memory has ended.
    EarlyWait = 11,
    /// A lock of a window is held by another rank.
    LockContention = 12,
}

impl Pattern {
    /// All patterns, in the order of their numbers.
    pub const ALL: [Self; 12] = [
        Self::LateSender,
        Self::LateSenderWrongOrder,
        Self::LateReceiver,
        Self::WaitAtBarrier,
        Self::WaitAtAllToAll,
        Self::LateBroadcast,
        Self::EarlyReduce,
        Self::EarlyScan,
        Self::WaitAtFence,
        Self::LatePost,
        Self::EarlyWait,
        Self::LockContention,
    ];

    /// Returns the pattern with this number, if there is one.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|pattern| *pattern as u8 == number)
    }

    /// Returns the name, for tables and JSON: `late_sender`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LateSender => "late_sender",
            Self::LateSenderWrongOrder => "late_sender_wrong_order",
            Self::LateReceiver => "late_receiver",
            Self::WaitAtBarrier => "wait_at_barrier",
            Self::WaitAtAllToAll => "wait_at_all_to_all",
            Self::LateBroadcast => "late_broadcast",
            Self::EarlyReduce => "early_reduce",
            Self::EarlyScan => "early_scan",
            Self::WaitAtFence => "wait_at_fence",
            Self::LatePost => "late_post",
            Self::EarlyWait => "early_wait",
            Self::LockContention => "lock_contention",
        }
    }
}

/// The kinds of collectives, by who waits for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Collective {
    /// Everyone waits for everyone, and no data is exchanged.
    Barrier,
    /// Everyone waits for everyone: allreduce, allgather, alltoall, reduce-scatter.
    AllToAll,
    /// Everyone waits for the root: broadcast, scatter.
    FromRoot,
    /// The root waits for everyone: reduce, gather.
    ToRoot,
    /// Everyone waits for the ranks up to itself: scan, exscan.
    Scan,
}

impl Collective {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Barrier, Self::AllToAll, Self::FromRoot, Self::ToRoot, Self::Scan];

    /// Returns the name of waiting in such an operation.
    #[must_use]
    pub const fn pattern(self) -> Pattern {
        match self {
            Self::Barrier => Pattern::WaitAtBarrier,
            Self::AllToAll => Pattern::WaitAtAllToAll,
            Self::FromRoot => Pattern::LateBroadcast,
            Self::ToRoot => Pattern::EarlyReduce,
            Self::Scan => Pattern::EarlyScan,
        }
    }

    /// Returns whether `rank` waits for `other`, both 0-based in the communicator. Nobody waits
    /// for itself. `root` is ignored where there is none.
    #[must_use]
    #[inline]
    pub const fn waits_for(self, rank: u32, other: u32, root: u32) -> bool {
        rank != other
            && match self {
                Self::Barrier | Self::AllToAll => true,
                Self::FromRoot => other == root,
                Self::ToRoot => rank == root,
                Self::Scan => other < rank,
            }
    }

    /// Returns whether `rank` may wait for anyone, so that its clock has to know when the others
    /// came.
    #[must_use]
    #[inline]
    pub const fn waits(self, rank: u32, root: u32) -> bool {
        match self {
            Self::Barrier | Self::AllToAll => true,
            Self::FromRoot => rank != root,
            Self::ToRoot => rank == root,
            Self::Scan => rank != 0,
        }
    }
}

/// Returns how long a sender was blocked until its receive was posted, estimated at the receiver.
///
/// `posted_ns` and `sent_ns` are on the receiver's clock. `limit_ns` is the sender's time in the
/// call, `u64::MAX` where nobody knows. Only for sends that wait for their receiver: synchronous
/// ones, and those above the size up to which the MPI library sends eagerly.
#[must_use]
#[inline]
pub fn late_receiver_ns(posted_ns: i64, sent_ns: i64, limit_ns: u64) -> u64 {
    u64::try_from(posted_ns.saturating_sub(sent_ns)).unwrap_or(0).min(limit_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_of_one_pattern() {
        for (number, pattern) in (1..).zip(Pattern::ALL) {
            assert_eq!(Pattern::from_number(number), Some(pattern));
            assert_eq!(Pattern::ALL.iter().filter(|p| p.name() == pattern.name()).count(), 1);
        }
        assert_eq!((Pattern::from_number(0), Pattern::from_number(13)), (None, None));
    }

    #[test]
    fn a_rank_waits_if_it_waits_for_some_other() {
        for kind in Collective::ALL {
            for (rank, root) in (0..4).flat_map(|rank| (0..4).map(move |root| (rank, root))) {
                let anyone = (0..4).any(|other| kind.waits_for(rank, other, root));
                assert_eq!(kind.waits(rank, root), anyone, "{kind:?} {rank} {root}");
            }
        }
    }

    #[test]
    fn a_sender_is_blocked_until_the_receive_and_no_longer_than_its_call() {
        assert_eq!(late_receiver_ns(900, 400, u64::MAX), 500);
        assert_eq!(late_receiver_ns(900, 400, 300), 300);
        assert_eq!(late_receiver_ns(400, 900, u64::MAX), 0);
        assert_eq!(late_receiver_ns(i64::MAX, i64::MIN, u64::MAX), i64::MAX.unsigned_abs());
    }
}
