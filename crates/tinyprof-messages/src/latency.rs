//! The time that a message takes, in few bits.

/// A latency in 12 bits: 5 bits of exponent, 7 of mantissa, right within a 250th part. 0 if it is
/// unknown. Longer ones have larger bits.
///
/// ```
/// use tinyprof_messages::latency::Latency;
///
/// assert_eq!(Latency::of(255).ns(), 255);
/// assert!(Latency::of(50_000).ns().abs_diff(50_000) <= 200);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Latency(u16);

/// The bits of the mantissa.
const MANTISSA: u32 = 7;

impl Latency {
    /// The number of bits.
    pub const BITS: u32 = 12;
    /// The longest latency, in ns.
    const NS_MAX: u64 = ((1 << (MANTISSA + 1)) - 1) << 30;

    /// Returns the latency of `ns`, rounded to the nearest.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "12 bits")]
    pub const fn of(ns: u64) -> Self {
        if ns < 1 << (MANTISSA + 1) {
            return Self(ns as u16);
        }
        if ns >= Self::NS_MAX {
            return Self((1 << Self::BITS) - 1);
        }
        let shift = ns.ilog2() - MANTISSA;
        // Rounded up to a power of two, it is the first of the next exponent.
        let mantissa = (ns + (1 << (shift - 1))) >> shift;
        Self(((shift as u64) << MANTISSA) as u16 + mantissa as u16)
    }

    /// Returns the latency in ns.
    #[must_use]
    pub const fn ns(self) -> u64 {
        let (exponent, mantissa) = (self.0 >> MANTISSA, self.0 as u64 & ((1 << MANTISSA) - 1));
        match exponent {
            0 => mantissa,
            _ => (1 << MANTISSA | mantissa) << (exponent - 1),
        }
    }

    /// Returns whether it is unknown.
    #[must_use]
    #[inline]
    pub const fn is_unknown(self) -> bool {
        self.0 == 0
    }

    /// Returns whether it is known, and shorter than another one, or that is unknown.
    #[must_use]
    #[inline]
    pub(crate) const fn is_shorter(self, than: Self) -> bool {
        // 0 is nothing yet: one less than that is the largest number.
        self.0.wrapping_sub(1) < than.0.wrapping_sub(1)
    }

    /// Returns it as 12 bits.
    #[must_use]
    #[inline]
    pub const fn to_bits(self) -> u16 {
        self.0
    }

    /// Returns the latency with these bits, of which the upper ones are ignored. All bits are some
    /// latency.
    #[must_use]
    #[inline]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & ((1 << Self::BITS) - 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_bits_are_those_of_their_latency() {
        for bits in 0..1 << Latency::BITS {
            let latency = Latency::from_bits(bits);
            assert_eq!(Latency::of(latency.ns()), latency, "{bits}");
        }
        assert_eq!(Latency::of(u64::MAX), Latency::from_bits(u16::MAX));
    }

    #[test]
    fn what_is_unknown_is_shorter_than_nothing() {
        let [unknown, short, long] = [0, 1, 2].map(Latency::of);
        assert!(short.is_shorter(long) && short.is_shorter(unknown));
        assert!(!long.is_shorter(short) && !short.is_shorter(short));
        assert!(!unknown.is_shorter(short) && !unknown.is_shorter(unknown));
    }

    proptest! {
        #[test]
        fn it_is_rounded_by_less_than_a_250th(ns in 0..Latency::NS_MAX, shift in 0_u32..38) {
            let ns = ns >> shift;
            let rounded = Latency::of(ns).ns();
            prop_assert!(rounded.abs_diff(ns) <= ns / 250, "{ns} {rounded}");
        }
    }
}
