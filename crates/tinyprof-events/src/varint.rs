//! Numbers of one to eight bytes. The zero bits at the low end of the first byte tell how many
//! bytes follow.
//!
//! ```text
//! below 2^7    xxxxxxx1
//! below 2^14   xxxxxx10 xxxxxxxx
//!    ...
//! below 2^56   10000000 xxxxxxxx (7 times)
//! ```
//!
//! Unlike LEB128 both directions are without a loop.

/// The greatest number; greater ones become it.
pub(crate) const MAX: u64 = (1 << 56) - 1;

/// Returns a number as bytes, the first in the low end, and how many they are.
#[inline(always)]
pub(crate) const fn encode(number: u64) -> (u64, u32) {
    encode_small(if number > MAX { MAX } else { number })
}

/// Does the same for a number that is at most [`MAX`].
#[inline(always)]
pub(crate) const fn encode_small(number: u64) -> (u64, u32) {
    // A seventh part, rounded up, of the bits: right up to 63 of them.
    let bytes = ((number | 1).ilog2() * 9 + 73) >> 6;
    // With eight bytes, the mark takes the whole first byte, and 56 bits follow it.
    (number << bytes | 1 << (bytes - 1), bytes)
}

/// Returns the number at the low end of these bytes, and how many of them it takes; `None` if it is
/// none.
#[inline]
pub(crate) const fn decode(bytes: u64) -> Option<(u64, u32)> {
    let count = bytes.trailing_zeros() + 1;
    if count > 8 {
        return None;
    }
    let own = if count == 8 { bytes } else { bytes & ((1 << (8 * count)) - 1) };
    Some((own >> count, count))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths_are_those_of_the_picture() {
        for (number, bytes) in [(0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (MAX, 8)] {
            assert_eq!(encode(number).1, bytes, "{number}");
        }
        assert_eq!(encode(u64::MAX), encode(MAX));
        assert_eq!(decode(0), None);
        assert_eq!(decode(1 << 8), None);
    }

    proptest! {
        #[test]
        fn numbers_come_back(number in 0..=MAX, shift in 0_u32..56, garbage: u64) {
            let number = number >> shift;
            let (bytes, count) = encode(number);
            let behind = if count == 8 { 0 } else { garbage << (8 * count) };
            prop_assert_eq!(decode(bytes | behind), Some((number, count)));
            prop_assert_eq!(encode_small(number), (bytes, count));
        }
    }
}
