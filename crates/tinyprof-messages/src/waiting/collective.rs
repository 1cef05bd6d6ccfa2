//! Who waits for whom in a collective, and for how long in a send.

use tinyprof_vocabulary::Pattern;

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
