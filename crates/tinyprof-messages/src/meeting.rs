//! The latest of several partners, for collectives and for calls that complete several messages.

use crate::companion::UNSURE;
use crate::time::{Offset, limited, signed};
use crate::uncertainty::Uncertainty;
use crate::ways::Hints;

/// The latest of the ranks, or messages, that a call waits for.
///
/// Meetings combine in any order and grouping. As [words](Self::to_words) they combine by the
/// maximum of each word, so that one reduction of five 64-bit integers with `MPI_MAX` does it.
///
/// Times are on one clock: in a collective that of rank 0 (the common clock), in a `Waitall` that
/// of the receiver.
///
/// ```
/// use tinyprof_messages::meeting::Meeting;
///
/// let early = Meeting::new(1_000, 0, 40, 0);
/// let late = Meeting::new(5_000, 4_500, 30, 1);
/// let both = early.combine(late);
/// assert_eq!((both.last_ns, both.last_rank), (5_000, 1));
/// assert_eq!(both.virtual_ns, 1_000, "without measurement the other one would have been last");
/// assert_eq!(both.ideal_ns, 40);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The latest entry, or sending of a message, in ns.
    pub last_ns: i64,
    /// The latest virtual time of an entry, in ns: the time less the intrusion.
    pub virtual_ns: i64,
    /// The maximum of the ideal times, in ns.
    pub ideal_ns: i64,
    /// The rank that came last, 0-based in the communicator; of several the highest.
    pub last_rank: u32,
    /// When the last message came to the receiver, in ns; in a collective as `last_ns`.
    pub arrived_ns: i64,
    /// When it would have come without measurement.
    pub arrived_virtual_ns: i64,
    /// By how much the virtual times may be wrong: that of the one who came last without
    /// measurement.
    pub uncertainty: Uncertainty,
}

/// The logarithm of the ns within which nobody came last without measurement: among those the
/// greatest uncertainty counts.
const TOGETHER: u32 = 8;
/// The bits of an uncertainty.
const UNSURE_BITS: u32 = u16::BITS;

impl Meeting {
    /// The number of words of a meeting.
    pub const WORDS: usize = 5;
    /// The number of words of one rank's part.
    pub const RECORD_WORDS: usize = 4;

    /// Returns the part of one rank, which entered the call at `entered_ns` with this intrusion
    /// and ideal time.
    #[must_use]
    #[inline]
    pub fn new(entered_ns: i64, intrusion_ns: u64, ideal_ns: u64, rank: u32) -> Self {
        let last_ns = limited(entered_ns);
        let virtual_ns = last_ns - signed(intrusion_ns);
        Self {
            last_ns,
            virtual_ns,
            ideal_ns: signed(ideal_ns),
            last_rank: rank,
            arrived_ns: last_ns,
            arrived_virtual_ns: virtual_ns,
            uncertainty: Uncertainty::of(intrusion_ns / UNSURE),
        }
    }

    /// Returns the part of one whose intrusion may be wrong by this, instead of by a third.
    #[must_use]
    #[inline]
    pub const fn with_uncertainty(self, uncertainty: Uncertainty) -> Self {
        Self { uncertainty, ..self }
    }

    /// Returns the part of one rank as words that are not combined: of all but the rank.
    ///
    /// ```text
    ///  0  last_ns
    ///  1  virtual_ns
    ///  2  ideal_ns
    ///  3  hints, in 48 bits  |  uncertainty, in 16 bits
    /// ```
    #[must_use]
    #[inline]
    pub fn to_record(&self, hints: Hints) -> [u64; Self::RECORD_WORDS] {
        let times = [self.last_ns, self.virtual_ns, self.ideal_ns];
        let [last, virtually, ideal] = times.map(i64::cast_unsigned);
        let unsure = hints.to_bits() << UNSURE_BITS | u64::from(self.uncertainty.to_bits());
        [last, virtually, ideal, unsure]
    }

    /// Returns the part of a rank that words of [`to_record`](Self::to_record) tell.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "16 bits")]
    pub fn from_record(words: [u64; Self::RECORD_WORDS], rank: u32) -> (Self, Hints) {
        let hints = Hints::from_bits(words[3] >> UNSURE_BITS);
        let [last_ns, virtual_ns, ideal_ns, unsure] = words.map(u64::cast_signed);
        let (last_ns, virtual_ns) = (limited(last_ns), limited(virtual_ns));
        let meeting = Self {
            last_ns,
            virtual_ns,
            ideal_ns: limited(ideal_ns),
            last_rank: rank,
            arrived_ns: last_ns,
            arrived_virtual_ns: virtual_ns,
            uncertainty: Uncertainty::from_bits(unsure.cast_unsigned() as u16),
        };
        (meeting, hints)
    }

    /// Returns it with an arrival that is so much later, in the run and without measurement.
    #[must_use]
    #[inline]
    pub(crate) const fn later(self, ns: i64) -> Self {
        Self {
            arrived_ns: self.arrived_ns.saturating_add(ns),
            arrived_virtual_ns: self.arrived_virtual_ns.saturating_add(ns),
            ..self
        }
    }

    /// Returns it with an arrival that is not before that of what is `ready`.
    #[must_use]
    #[inline]
    pub(crate) fn not_before(self, ready: &Self) -> Self {
        Self {
            arrived_ns: self.arrived_ns.max(ready.arrived_ns),
            arrived_virtual_ns: self.arrived_virtual_ns.max(ready.arrived_virtual_ns),
            uncertainty: self.later_one(ready),
            ..self
        }
    }

    /// Returns it with the times of the rank's clock, if they are those of another one.
    #[must_use]
    #[inline]
    pub(crate) fn to_mine(self, offset: Offset) -> Self {
        Self {
            last_ns: offset.to_mine(self.last_ns),
            virtual_ns: offset.to_mine(self.virtual_ns),
            arrived_ns: offset.to_mine(self.arrived_ns),
            arrived_virtual_ns: offset.to_mine(self.arrived_virtual_ns),
            ..self
        }
    }

    /// Returns the uncertainty of the one that came later without measurement.
    #[inline]
    fn later_one(&self, other: &Self) -> Uncertainty {
        let [own, its] =
            [self, other].map(|one| (one.arrived_virtual_ns >> TOGETHER, one.uncertainty));
        own.max(its).1
    }

    /// Returns the meeting of both. Associative and commutative.
    #[must_use]
    #[inline]
    pub fn combine(self, other: Self) -> Self {
        let (last_ns, last_rank) =
            (self.last_ns, self.last_rank).max((other.last_ns, other.last_rank));
        Self {
            last_ns,
            last_rank,
            virtual_ns: self.virtual_ns.max(other.virtual_ns),
            ideal_ns: self.ideal_ns.max(other.ideal_ns),
            arrived_ns: self.arrived_ns.max(other.arrived_ns),
            arrived_virtual_ns: self.arrived_virtual_ns.max(other.arrived_virtual_ns),
            uncertainty: self.later_one(&other),
        }
    }

    /// Returns the meeting as words, of which the maximum is that of the combined meeting:
    ///
    /// ```text
    ///  0  last_ns
    ///  1  virtual_ns
    ///  2  ideal_ns
    ///  3  last_ns, in units of 2^d ns  |  rank, in b bits
    ///  4  virtual_ns, in units of 256 ns  |  uncertainty, in 16 bits
    /// ```
    ///
    /// `ranks` is the size of the communicator, equal on all ranks; b is the number of binary
    /// digits of the largest rank. The first three words are exact. The fourth one tells who came
    /// last with a resolution of 2^d ns, where d = max(0, b - 8), so that the time has at least 55
    /// bits, which are 1.1 years: exact up to 256 ranks, 16 ns for 4,096 ranks, 4 us for 2^20.
    /// Among ranks within the resolution the highest is said to be last. Only of collectives are
    /// there words, in which arrivals are no other times.
    #[must_use]
    #[inline]
    pub fn to_words(&self, ranks: u32) -> [i64; Self::WORDS] {
        let (bits, unit) = rank_bits(ranks);
        let mask = (1 << bits) - 1;
        // Drops the bits that do not fit; the remaining ones keep their order.
        let coarse = (self.last_ns >> unit).clamp(i64::MIN >> bits, i64::MAX >> bits);
        let who = coarse << bits | (i64::from(self.last_rank) & mask);
        let of_virtual =
            (self.virtual_ns >> TOGETHER).clamp(i64::MIN >> UNSURE_BITS, i64::MAX >> UNSURE_BITS);
        let unsure = of_virtual << UNSURE_BITS | i64::from(self.uncertainty.to_bits());
        [self.last_ns, self.virtual_ns, self.ideal_ns, who, unsure]
    }

    /// Returns the meeting that words of [`to_words`](Self::to_words), or their maximum, mean for
    /// a communicator of this many ranks.
    #[must_use]
    #[inline]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "masked bits")]
    pub fn from_words(words: [i64; Self::WORDS], ranks: u32) -> Self {
        let [last_ns, virtual_ns, ideal_ns, who, unsure] = words;
        let (bits, _) = rank_bits(ranks);
        let (last_ns, virtual_ns) = (limited(last_ns), limited(virtual_ns));
        Self {
            last_ns,
            virtual_ns,
            ideal_ns: limited(ideal_ns),
            last_rank: (who & ((1 << bits) - 1)) as u32,
            arrived_ns: last_ns,
            arrived_virtual_ns: virtual_ns,
            uncertainty: Uncertainty::from_bits(unsure as u16),
        }
    }
}

/// Returns the number of bits of the largest rank, and the logarithm of the unit of the time
/// beside it.
#[inline]
fn rank_bits(ranks: u32) -> (u32, u32) {
    let bits = u32::BITS - ranks.saturating_sub(1).leading_zeros();
    (bits, bits.saturating_sub(8))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn meeting(ranks: u32) -> impl Strategy<Value = Meeting> {
        (0..1_i64 << 50, 0..1_u64 << 40, 0..1_u64 << 50, 0..ranks)
            .prop_map(|(at, intrusion, ideal, rank)| Meeting::new(at, intrusion, ideal, rank))
    }

    fn maximum(a: [i64; 5], b: [i64; 5]) -> [i64; 5] {
        std::array::from_fn(|i| a[i].max(b[i]))
    }

    #[test]
    fn the_largest_communicator_knows_its_last_rank_to_its_unit() {
        let ranks = 1 << 20;
        let year = 365 * 86_400 * 1_000_000_000;
        let words = |at, rank| Meeting::new(at, 0, 0, rank).to_words(ranks);
        let last = |a, b| Meeting::from_words(maximum(a, b), ranks).last_rank;
        assert_eq!(last(words(year + 4_096, 3), words(year, ranks - 1)), 3);
        assert_eq!(last(words(4_095, 3), words(0, 9)), 9, "within 4,096 ns the highest");
    }

    proptest! {
        #[test]
        fn the_order_does_not_matter(a in meeting(9), b in meeting(9), c in meeting(9)) {
            prop_assert_eq!(a.combine(b), b.combine(a));
            prop_assert_eq!(a.combine(b).combine(c), a.combine(b.combine(c)));
            prop_assert_eq!(a.combine(a), a);
        }

        #[test]
        fn the_maximum_of_words_is_the_combined_meeting(
            ranks in 1_u32..257,
            parts in proptest::collection::vec(meeting(256), 1..9),
        ) {
            let parts = parts.iter().map(|m| Meeting { last_rank: m.last_rank % ranks, ..*m });
            let combined = parts.clone().reduce(Meeting::combine).unwrap();
            let words = parts.map(|part| part.to_words(ranks)).reduce(maximum).unwrap();
            prop_assert_eq!(Meeting::from_words(words, ranks), combined);
        }
    }
}
