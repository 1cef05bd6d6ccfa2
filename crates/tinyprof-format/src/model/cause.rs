//! Causes of waiting: what ranks were late by, and the path that ends at a rank.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::numbers::numbers;
use super::{CallpathId, EdgeKey};

/// An activity: what a rank does between two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Activity {
    /// The exclusive time of a callpath.
    Exclusive(CallpathId),
    /// From the end of one call to the entry of the next: the instances of a flow edge.
    Gap {
        /// The call before; [`EdgeKey::UNKNOWN`] is the begin of the recording.
        from: CallpathId,
        /// The call after; [`EdgeKey::UNKNOWN`] where the rank made no further one.
        to: CallpathId,
    },
    /// A call, without its waiting.
    Call(CallpathId),
}

/// The bits of a number: recorders put it into one word beside a rank.
const NUMBER_BITS: u32 = 40;

impl Activity {
    /// The number of the time in which a rank could have run, but had no processor (its run-queue
    /// delay). It has no callpath, so it is none of these.
    pub const NO_PROCESSOR: u64 = (1 << NUMBER_BITS) - 1;

    /// Returns the number of the activity, from 1 on and below 2^40, which follows from its
    /// callpaths. Two of 1,000 activities share a number in one program of two million.
    #[must_use]
    #[inline]
    pub const fn number(self) -> u64 {
        let hash = match self {
            Self::Call(callpath) => callpath.to_bits(),
            Self::Exclusive(callpath) => callpath.to_bits().rotate_left(32),
            Self::Gap { from, to } => {
                // Callpaths are hashes. A gap at the begin is not the call itself.
                let from = from.to_bits() ^ 0xD1B5_4A32_D192_ED03;
                from.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ to.to_bits()
            }
        };
        match (hash ^ hash >> NUMBER_BITS) & ((1 << NUMBER_BITS) - 1) {
            0 => 1,
            number => number,
        }
    }

    /// Returns the callpath at which the activity is seen: of a gap the call after it, or the one
    /// before if there is none after it.
    #[must_use]
    pub const fn callpath(self) -> CallpathId {
        match self {
            Self::Exclusive(callpath) | Self::Call(callpath) => callpath,
            Self::Gap { from, to } if to.to_bits() == EdgeKey::UNKNOWN.to_bits() => from,
            Self::Gap { to, .. } => to,
        }
    }

    /// Returns the name of the kind, for tables and JSON: `gap`.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Exclusive(_) => "exclusive",
            Self::Gap { .. } => "gap",
            Self::Call(_) => "call",
        }
    }
}

/// The activities of a run by their numbers, which are equal on all ranks.
///
/// Recorders give them by [`Activity::number`]; readers need not know that.
pub type Activities = BTreeMap<u64, Activity>;

/// The cause of others' waiting, or of a part of the critical path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// An activity of a rank.
    Activity {
        /// The rank in the world.
        rank: u32,
        /// The [number of the activity](Activities); 0 for those of the rank that were too short
        /// to be kept apart.
        number: u64,
    },
    /// Waiting that no activity explains: the latency of the network, or the time before the
    /// recording began.
    Unexplained,
    /// The causes that were too small to be kept apart.
    Other,
}

impl Cause {
    /// Returns the rank in the world, if it is known.
    #[must_use]
    pub const fn rank(self) -> Option<u32> {
        match self {
            Self::Activity { rank, .. } => Some(rank),
            Self::Unexplained | Self::Other => None,
        }
    }
}

/// Waiting, and the number of waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// The time waited, in ns.
    pub ns: u64,
    /// The waits of which this was a cause.
    pub count: u64,
}

/// The waiting of a rank at a callpath that has one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayCost {
    /// The callpath of the waits.
    pub callpath: CallpathId,
    /// The rank and the activity that caused them.
    pub cause: Cause,
    /// Waits for the rank of the cause itself.
    pub direct: Waited,
    /// Waits for ranks that had waited, directly or not, for it.
    pub propagated: Waited,
}

impl DelayCost {
    /// Returns the time waited, in ns.
    #[must_use]
    pub const fn total_ns(&self) -> u64 {
        self.direct.ns.saturating_add(self.propagated.ns)
    }
}

/// A part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathPart {
    /// The rank and its activity.
    pub cause: Cause,
    /// The time, in ns.
    pub ns: u64,
}

numbers! {
    /// The facts of a rank about its causes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CauseFacts {
        /// The time from the begin of the ranks to the end of this one, in ns: the sum of its path.
        /// The rank that ended last has the longest time.
        ended_ns: u64,
        /// Direct waiting whose cause was too small to be kept, in ns.
        other_direct_ns: u64,
        /// The number of such parts of waits.
        other_direct_count: u64,
        /// Propagated waiting whose cause was too small to be kept, in ns.
        other_propagated_ns: u64,
        /// The number of such parts of waits.
        other_propagated_count: u64,
        /// Waits for ranks whose state could not be read.
        unread: u64,
        /// Waits for ranks that had done too much by the time at which their state was read: their
        /// causes are approximate.
        late: u64,
        /// Waits for ranks of which it was forgotten when they had synchronised with this one.
        forgotten: u64,
        /// Waiting that was not looked at, as it was too short, in ns. It is in the time of the
        /// calls.
        short_ns: u64,
        /// Waiting of which nobody looked for the cause, in ns: for ranks on other hosts, and of
        /// further threads.
        unfollowed_ns: u64,
    }
}

/// The causes of a rank's waiting, and the path that ends at it, at level `messages`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankCauses {
    /// The activities by their numbers. A recorder knows those of its own rank; a reader gives
    /// all ranks those of all. The number of an activity that is missing is of a rank whose data
    /// were lost.
    pub activities: Arc<Activities>,
    /// The delay costs.
    pub costs: Vec<DelayCost>,
    /// The path, the longest part first: the critical path, if the rank ended last.
    pub path: Vec<PathPart>,
    /// Sums and losses.
    pub facts: CauseFacts,
}

impl RankCauses {
    /// Returns the activity of a cause, if it is known.
    #[must_use]
    pub fn activity(&self, cause: Cause) -> Option<Activity> {
        match cause {
            Cause::Activity { number, .. } => self.activities.get(&number).copied(),
            Cause::Unexplained | Cause::Other => None,
        }
    }

    /// Returns all waiting whose causes were looked for, in ns.
    #[must_use]
    pub fn waited_ns(&self) -> u64 {
        let costs = self.costs.iter().map(DelayCost::total_ns);
        let other = [self.facts.other_direct_ns, self.facts.other_propagated_ns];
        costs.chain(other).fold(0, u64::saturating_add)
    }

    /// Returns the rank whose path is the critical one, that which ended last, of the causes of all
    /// ranks, and its causes.
    ///
    /// ```
    /// use tinyprof_format::model::{CauseFacts, RankCauses};
    ///
    /// let ended = |ended_ns| {
    ///     let facts = CauseFacts { ended_ns, ..CauseFacts::default() };
    ///     Some(RankCauses { facts, ..RankCauses::default() })
    /// };
    /// let ranks = [ended(5), None, ended(9)];
    /// let (rank, causes) = RankCauses::last(&ranks).expect("there are causes");
    /// assert_eq!((rank, causes.facts.ended_ns), (2, 9));
    /// ```
    #[must_use]
    pub fn last(ranks: &[Option<Self>]) -> Option<(u32, &Self)> {
        let known = (0..).zip(ranks).filter_map(|(rank, causes)| Some((rank, causes.as_ref()?)));
        known.max_by_key(|(rank, causes)| (causes.facts.ended_ns, std::cmp::Reverse(*rank)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_tell_activities_apart() {
        let ids = [0, 1, 2, u64::MAX].map(CallpathId::from_bits);
        let mut numbers: Vec<u64> = Vec::new();
        for to in ids {
            numbers.extend(ids.map(|from| Activity::Gap { from, to }.number()));
            numbers.extend([Activity::Call(to), Activity::Exclusive(to)].map(Activity::number));
        }
        assert!(numbers.iter().all(|number| (1..1 << NUMBER_BITS).contains(number)));
        // Nobody has a callpath 0, whose call and exclusive time have one number.
        let all = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert!(numbers.len() >= all - 4, "{} of {all}", numbers.len());
    }

    #[test]
    fn an_activity_is_seen_at_its_call() {
        let id = CallpathId::from_bits;
        let gap = |from, to| Activity::Gap { from, to };
        assert_eq!(gap(id(1), id(2)).callpath(), id(2));
        assert_eq!(gap(id(1), EdgeKey::UNKNOWN).callpath(), id(1));
        assert_eq!(gap(EdgeKey::UNKNOWN, id(2)).callpath(), id(2));
        assert_eq!(Activity::Call(id(3)).callpath(), id(3));
    }
}
