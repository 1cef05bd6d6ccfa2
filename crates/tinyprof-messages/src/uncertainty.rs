//! By how much a time may be wrong, in few bits.

/// A number of ns, rounded by at most a thousandth: 6 bits of exponent, 10 of mantissa.
///
/// Larger numbers have larger bits, so that the maximum of bits is that of the numbers.
///
/// It goes from rank to rank, each of which adds a little and rounds again. Rounded up each time,
/// it would grow by a thousandth with each message, to years after 40,000 of them. So ranks that
/// meet round to the [nearest](Self::nearest), and a sender [draws](Self::drawn) whether it rounds
/// up.
///
/// ```
/// use tinyprof_messages::uncertainty::Uncertainty;
///
/// assert_eq!(Uncertainty::of(2_047).ns(), 2_047);
/// assert_eq!(Uncertainty::of(2_049).ns(), 2_050);
/// assert_eq!(Uncertainty::nearest(1_000_300).ns(), 1_000_448);
/// assert_eq!(Uncertainty::nearest(999_999).ns(), 999_936);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uncertainty(u16);

/// The bits of the mantissa.
const MANTISSA: u32 = 10;

impl Uncertainty {
    /// Returns the uncertainty of `ns`, rounded up.
    #[must_use]
    #[inline]
    pub const fn of(ns: u64) -> Self {
        Self::rounded(ns, 0)
    }

    /// Returns the uncertainty of `ns`, rounded to the nearest.
    #[must_use]
    #[inline]
    pub const fn nearest(ns: u64) -> Self {
        Self::rounded(ns, 1 << (u64::BITS - 1))
    }

    /// Returns the uncertainty of `ns`, rounded up or down so that the mean over many numbers of
    /// messages is exact.
    #[must_use]
    #[inline]
    pub const fn drawn(ns: u64, number: u64) -> Self {
        /// The golden ratio, whose multiples fill the range evenly.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        Self::rounded(ns, number.wrapping_add(1).wrapping_mul(STEP))
    }

    /// Returns the uncertainty of `ns`, rounded up if what would be left out is more than a
    /// fraction of a unit, in 64 bits.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "limited to 11 and to 6 bits")]
    const fn rounded(ns: u64, fraction: u64) -> Self {
        if ns < 1 << MANTISSA {
            return Self(ns as u16);
        }
        let mut shift = ns.ilog2() - MANTISSA;
        let left_out = if shift == 0 { 0 } else { ns << (u64::BITS - shift) };
        let mut mantissa = (ns >> shift) + (left_out > fraction) as u64;
        if mantissa >> (MANTISSA + 1) != 0 {
            // Rounded up to the next power of two.
            mantissa >>= 1;
            shift += 1;
        }
        // The first bit of the mantissa is always 1, and not stored.
        Self(((shift + 1) << MANTISSA) as u16 | (mantissa as u16 & ((1 << MANTISSA) - 1)))
    }

    /// Returns the number of ns.
    #[must_use]
    #[inline]
    pub const fn ns(self) -> u64 {
        let mantissa = self.0 as u64 & ((1 << MANTISSA) - 1);
        match self.0 as u32 >> MANTISSA {
            0 => mantissa,
            exponent if exponent <= u64::BITS - MANTISSA => {
                (1 << MANTISSA | mantissa) << (exponent - 1)
            }
            _ => u64::MAX,
        }
    }

    /// Returns it as 16 bits.
    #[must_use]
    #[inline]
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// Returns the uncertainty with these bits. All bits are some uncertainty.
    #[must_use]
    #[inline]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn powers_of_two_are_exact() {
        for bit in 0..u64::BITS {
            assert_eq!(Uncertainty::of(1 << bit).ns(), 1 << bit);
        }
        assert_eq!(Uncertainty::of(u64::MAX).ns(), u64::MAX);
        assert_eq!(Uncertainty::of(0), Uncertainty::default());
    }

    #[test]
    fn what_goes_to_and_fro_grows_by_what_is_added() {
        // Two ranks with 1 us of their own for each message.
        let mut ns = 1_000_000_000;
        for number in 0..100_000 {
            ns = Uncertainty::drawn(ns + 1_000, number).ns();
        }
        assert!((1_090_000_000..1_110_000_000).contains(&ns), "{ns}");
    }

    proptest! {
        #[test]
        fn it_is_rounded_up_by_a_thousandth(ns: u64, shift in 0_u32..64) {
            let ns = ns >> shift;
            let rounded = Uncertainty::of(ns).ns();
            prop_assert!(rounded >= ns && rounded - ns <= ns / 1_000, "{ns} {rounded}");
        }

        #[test]
        fn others_are_rounded_by_a_thousandth_either_way(ns: u64, shift in 0_u32..64, number: u64) {
            let ns = ns >> shift;
            for rounded in [Uncertainty::nearest(ns), Uncertainty::drawn(ns, number)] {
                prop_assert!(rounded.ns().abs_diff(ns) <= ns / 1_000, "{ns} {rounded:?}");
                let again = [Uncertainty::nearest(rounded.ns()), Uncertainty::of(rounded.ns())];
                prop_assert_eq!(again, [rounded; 2]);
            }
        }

        #[test]
        fn the_order_of_bits_is_that_of_numbers(one: u16, other: u16) {
            let [a, b] = [one, other].map(Uncertainty::from_bits);
            prop_assert!(one > other || a.ns() <= b.ns());
        }
    }
}
