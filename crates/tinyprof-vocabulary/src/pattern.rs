//! The patterns of waiting.

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
}
