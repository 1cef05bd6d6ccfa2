//! Numbers of eight significant bits, as in a profile of reduced precision.
//!
//! Their codes have the order of the numbers. A code `c` below 256 is the number `c`. A greater
//! code is a number from 128 to 255 (`c % 128`) times a power of two (`c / 128 - 1`). There are
//! 7,424 codes, while the numbers need up to 64 bits.

/// The number of codes: one more than the greatest.
const CODES: u64 = 58 * 128;

/// Returns the nearest number of eight significant bits; off by at most 1 part in 256.
pub(crate) const fn round(value: u64) -> u64 {
    let bits = u64::BITS - value.leading_zeros();
    if bits <= 8 {
        return value;
    }
    let shift = bits - 8;
    // A carry into a ninth bit leaves a number of one significant bit. Above the greatest number
    // there is none.
    match value.checked_add(1 << (shift - 1)) {
        Some(sum) => sum >> shift << shift,
        None => 255 << 56,
    }
}

/// Returns the codes of the numbers up to `greatest`, if all have eight significant bits and at
/// least one benefits from a code.
pub(super) fn codes(values: &[u64], greatest: u64) -> Option<Vec<u32>> {
    let few_bits =
        |&value: &u64| value == 0 || value.leading_zeros() + value.trailing_zeros() >= 56;
    let narrow = |&value: &u64| u32::try_from(code(value)).unwrap_or(u32::MAX);
    (greatest >= 256 && values.iter().all(few_bits)).then(|| values.iter().map(narrow).collect())
}

/// Returns the distance between the codes of two numbers.
pub(super) const fn range(least: u64, greatest: u64) -> u64 {
    code(greatest) - code(least)
}

/// Returns the code of a number of eight significant bits.
pub(super) const fn code(value: u64) -> u64 {
    if value < 256 {
        return value;
    }
    let shift = 56 - value.leading_zeros();
    ((shift as u64 + 1) << 7) | (value >> shift & 127)
}

/// Returns the number of a code, and true if the code is invalid. It has no branches, because it
/// runs for every number of a column.
#[inline]
pub(super) const fn of_code(code: u64) -> (u64, bool) {
    let exponent = code >> 7;
    let leading_bit = ((exponent > 0) as u64) << 7;
    ((leading_bit | code & 127) << (exponent.saturating_sub(1) & 63), code >= CODES)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn codes_are_numbers_in_order() {
        let numbers: Vec<u64> = (0..CODES).map(|code| of_code(code).0).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b));
        assert_eq!(numbers.last(), Some(&(255 << 56)));
        assert!(of_code(CODES).1 && of_code(u64::MAX).1 && !of_code(CODES - 1).1);
        for (expected, &number) in (0..).zip(&numbers) {
            assert_eq!((code(number), round(number)), (expected, number));
        }
    }

    #[test]
    fn numbers_of_more_bits_have_no_codes() {
        assert_eq!(codes(&[256, 257], 257), None);
        assert_eq!(codes(&[0, 255], 255), None, "small numbers are their own codes");
        assert_eq!(codes(&[0, 256, 510], 510), Some(vec![0, 256, 383]));
        assert_eq!(range(255, 510), 128);
        assert_eq!((round(511), round(u64::MAX)), (512, 255 << 56));
    }

    proptest! {
        #[test]
        fn the_error_is_at_most_four_per_mille_and_order_is_kept(a in any::<u64>(), b in any::<u64>(), shift in 0..64) {
            let (a, b) = (a >> shift, b >> shift);
            prop_assert!(u128::from(round(a).abs_diff(a)) * 1000 <= u128::from(a) * 4);
            prop_assert!((a <= b) == (round(a) <= round(b)) || round(a) == round(b));
            prop_assert_eq!(round(round(a)), round(a));
        }
    }
}
