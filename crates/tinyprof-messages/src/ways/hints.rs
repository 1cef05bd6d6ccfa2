//! The words of a rank to the others about the ways that it has seen.

use super::{CANDIDATES, Seen};
use crate::uncertainty::Uncertainty;

/// The words of a rank to the others about the ways that it has seen, in 48 bits:
///
/// ```text
///  0                    16             20   ...   44     48
///  | time of a message  | of the first |  |  | of the 7th |
/// ```
///
/// The time is that along the way that explains most; of each way there is the logarithm of the
/// time that it does not explain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints(u64);

/// The bits of the time of a message.
const HOP_BITS: u32 = u16::BITS;
/// The bits of a hint on a way.
const HINT_BITS: u32 = 4;
/// The largest hint.
const HINT_MAX: u64 = (1 << HINT_BITS) - 1;
/// The logarithm of the ns of the smallest hint but 0.
const HINT_LEAST: u32 = 6;

impl Hints {
    /// The number of bits.
    pub const BITS: u32 = 48;

    /// Returns them as bits.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// Returns the hints with these bits, of which the upper ones are ignored. All bits are some
    /// hints.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits & ((1 << Self::BITS) - 1))
    }

    pub(super) fn of(seen: &[Seen]) -> Self {
        let mut bits = 0;
        for seen in seen.iter().rev() {
            let log = (seen.unlike_ns >> HINT_LEAST).checked_ilog2();
            let hint = log.map_or(0, |log| (u64::from(log) + 1).min(HINT_MAX));
            bits = bits << HINT_BITS | hint;
        }
        let best = seen.iter().min_by_key(|seen| seen.unlike_ns);
        let hop = Uncertainty::of(best.map_or(0, |best| best.hop_ns()));
        Self(bits << HOP_BITS | u64::from(hop.to_bits()))
    }

    /// Returns the time in ns that each way does not explain.
    #[inline]
    pub(crate) fn unlike_ns(self) -> [u64; CANDIDATES] {
        std::array::from_fn(|at| {
            let hint = self.0 >> (HOP_BITS as usize + HINT_BITS as usize * at) & HINT_MAX;
            hint.checked_sub(1).map_or(0, |log| 1 << (log + u64::from(HINT_LEAST)))
        })
    }

    /// Returns the time of a message in ns, 0 if unknown.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the lowest bits")]
    pub(crate) const fn hop_ns(self) -> u64 {
        Uncertainty::from_bits(self.0 as u16).ns()
    }
}

const _: () = assert!(CANDIDATES * HINT_BITS as usize + HOP_BITS as usize <= Hints::BITS as usize);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hints_keep_the_best_way_and_its_message() {
        let seen = [5_000, 70, 0, 1 << 40].map(|unlike_ns| {
            let mut seen = Seen { unlike_ns, ..Seen::default() };
            seen.took(640);
            seen
        });
        let hints = Hints::from_bits(Hints::of(&seen).to_bits());
        assert_eq!(hints.unlike_ns()[..4], [4_096, 64, 0, 1 << 20]);
        assert_eq!(hints.hop_ns(), 640);
    }

    proptest! {
        #[test]
        fn all_bits_are_some_hints(bits: u64) {
            let hints = Hints::from_bits(bits);
            prop_assert!(hints.unlike_ns().iter().all(|ns| *ns <= 1 << 20));
            prop_assert_eq!(Hints::from_bits(hints.to_bits()), hints);
        }
    }
}
