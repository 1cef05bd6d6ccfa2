//! Activities and causes, as words that travel between ranks.

/// An activity: what a rank does between two moments. A callpath, or the gap before a call.
///
/// 40 bits. Ranks compare their times by activity, so the number must be derived from what is equal
/// on all ranks, such as the hash that names a callpath. Two of 1,000 activities share a number in
/// one program of two million.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Activity(u64);

/// The bits of an activity.
const ACTIVITY_BITS: u32 = 40;
const ACTIVITY_MASK: u64 = (1 << ACTIVITY_BITS) - 1;
/// The largest rank that a cause can name is one less: that one is nobody.
const NOBODY: u64 = u64::MAX >> ACTIVITY_BITS;

impl Activity {
    /// The activities that are not in a bounded list.
    pub const OTHER: Self = Self(0);

    /// The time in which a rank could have run, but had no processor: it is no work of the program.
    pub const NO_PROCESSOR: Self = Self(ACTIVITY_MASK);

    /// Returns the activity with this hash: its bits folded to 40, never [`OTHER`](Self::OTHER).
    ///
    /// ```
    /// use tinyprof_messages::delay::Activity;
    ///
    /// assert_eq!(Activity::from_hash(7).number(), 7);
    /// assert_ne!(Activity::from_hash(0), Activity::OTHER);
    /// ```
    #[must_use]
    #[inline]
    pub const fn from_hash(hash: u64) -> Self {
        match (hash ^ hash >> ACTIVITY_BITS) & ACTIVITY_MASK {
            0 => Self(1),
            number => Self(number),
        }
    }

    /// Returns the activity with a [`number`](Self::number), of which 40 bits count.
    #[must_use]
    #[inline]
    pub const fn from_number(number: u64) -> Self {
        Self(number & ACTIVITY_MASK)
    }

    /// Returns the number, below 2^40; 0 is [`OTHER`](Self::OTHER).
    #[must_use]
    #[inline]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// A rank and an activity: what others have waited for, or a part of the critical path.
///
/// ```text
///  | rank: 24 bits | activity: 40 bits |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cause(u64);

impl Cause {
    /// Waiting that no activity explains: the latency of the network, or time before measurement.
    pub const UNEXPLAINED: Self = Self(NOBODY << ACTIVITY_BITS | 1);
    /// The causes that are not in a bounded list.
    pub const OTHER: Self = Self(NOBODY << ACTIVITY_BITS);

    /// Returns the cause of a rank in the world, 0-based. Ranks from 2^24 - 1 on are
    /// [`OTHER`](Self::OTHER).
    #[must_use]
    #[inline]
    pub const fn new(rank: u32, activity: Activity) -> Self {
        let rank = rank as u64;
        if rank < NOBODY { Self(rank << ACTIVITY_BITS | activity.0) } else { Self::OTHER }
    }

    /// Returns the cause as a word.
    #[must_use]
    #[inline]
    pub const fn to_word(self) -> u64 {
        self.0
    }

    /// Returns the cause of a word of [`to_word`](Self::to_word).
    #[must_use]
    #[inline]
    pub const fn from_word(word: u64) -> Self {
        Self(word)
    }

    /// Returns the rank in the world; `None` for [`OTHER`](Self::OTHER) and
    /// [`UNEXPLAINED`](Self::UNEXPLAINED).
    #[must_use]
    #[inline]
    pub const fn rank(self) -> Option<u32> {
        let rank = self.0 >> ACTIVITY_BITS;
        if rank == NOBODY { None } else { Some(rank as u32) }
    }

    /// Returns the activity; of no meaning without a [`rank`](Self::rank).
    #[must_use]
    #[inline]
    pub const fn activity(self) -> Activity {
        Activity(self.0 & ACTIVITY_MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_its_rank_and_its_activity() {
        for (rank, hash) in [(0, 0), (5, u64::MAX), ((1 << 24) - 2, 1 << 40)] {
            let activity = Activity::from_hash(hash);
            let cause = Cause::from_word(Cause::new(rank, activity).to_word());
            assert_eq!((cause.rank(), cause.activity()), (Some(rank), activity));
        }
    }

    #[test]
    fn ranks_that_do_not_fit_are_other() {
        assert_eq!(Cause::new((1 << 24) - 1, Activity::from_hash(9)), Cause::OTHER);
        assert_eq!((Cause::OTHER.rank(), Cause::UNEXPLAINED.rank()), (None, None));
        assert_ne!(Cause::OTHER, Cause::UNEXPLAINED);
    }
}
