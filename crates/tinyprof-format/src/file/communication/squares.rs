//! Sums of squares, as a number of two bytes at most for plausible times.
//!
//! A sum of squares tells how much the times of an edge differ: by its distance to that of equal
//! times. Eight significant bits of this distance give the standard deviation within 0.2 %. All
//! bits of the sum would take more bytes than all other numbers of an edge together.

use super::super::keys::{un_zigzag, zigzag};
use crate::model::Edge;

/// The code of the largest finite number.
const CODE_MAX: u64 = 0x7f7f;

/// Returns the squares of an edge as a number: zigzag of the code of the largest possible distance,
/// minus that of the distance.
pub(super) fn to_number(edge: &Edge) -> u64 {
    let distance = code(edge.sum_squares_ns2 - of_equals(edge.sum_ns, edge.count));
    zigzag(code(largest(edge)).wrapping_sub(distance).cast_signed())
}

/// Returns the sum of squares of an edge whose other numbers are known, or `None` if `number` is
/// none that [`to_number`] returns.
pub(super) fn from_number(edge: &Edge, number: u64) -> Option<f64> {
    let code = code(largest(edge)).checked_add_signed(un_zigzag(number).checked_neg()?)?;
    let bits = u32::try_from(code).ok().filter(|_| code <= CODE_MAX)?;
    Some(of_equals(edge.sum_ns, edge.count) + f64::from(f32::from_bits(bits << 16)))
}

/// Returns the sum of the squares of `count` equal times.
#[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
fn of_equals(sum_ns: u64, count: u64) -> f64 {
    sum_ns as f64 * (sum_ns as f64 / count.max(1) as f64)
}

/// Returns the largest distance that times between minimum and maximum can have.
#[expect(clippy::cast_precision_loss, reason = "squares are statistics: 53 bits are plenty")]
fn largest(edge: &Edge) -> f64 {
    let half = edge.max_ns.wrapping_sub(edge.min_ns) as f64 / 2.0;
    edge.count as f64 * (half * half)
}

/// Returns the upper half of the bits of the nearest `f32` with eight significant bits; 0 for what
/// is not above 0, which is due to rounding. Codes have the order of the numbers.
#[expect(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
fn code(distance: f64) -> u64 {
    if distance > 0.0 {
        let bits = u64::from((distance as f32).to_bits());
        ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).min(CODE_MAX)
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edge(times_ns: &[u64]) -> Edge {
        let mut all = Edge::default();
        times_ns.iter().for_each(|&ns| all.absorb(&Edge::of_one_instance(ns)));
        all
    }

    fn read_back(edge: &Edge) -> f64 {
        from_number(edge, to_number(edge)).expect("its own number")
    }

    #[test]
    fn equal_times_and_pairs_have_the_number_0() {
        let check = |times: &[u64]| assert_eq!(to_number(&edge(times)), 0, "{times:?}");
        check(&[]);
        check(&[7]);
        check(&[1_000_003; 900]);
        check(&[10, 30]);
    }

    proptest! {
        #[test]
        fn deviations_are_kept_within_their_precision(times in prop::collection::vec(0..1_000_000_000_u64, 2..20)) {
            let edge = edge(&times);
            let deviation = |squares: f64| (squares - of_equals(edge.sum_ns, edge.count)).max(0.0).sqrt();
            let (before, after) = (deviation(edge.sum_squares_ns2), deviation(read_back(&edge)));
            // What the sum of squares itself rounds away is not known either.
            let rounded_ns = (edge.sum_squares_ns2 * f64::EPSILON * 20.0).sqrt();
            prop_assert!((before - after).abs() <= before * 0.002 + rounded_ns, "{before}, {after}");
        }

        #[test]
        fn what_has_been_read_is_written_alike(
            n in prop::array::uniform4(any::<u64>()), shift in 0..64_u32, sum_squares_ns2 in any::<f64>(),
        ) {
            let [count, sum_ns, min_ns, max_ns] = n.map(|n| n >> shift);
            let edge = Edge { count, sum_ns, min_ns, max_ns, sum_squares_ns2, ..Edge::default() };
            let once = Edge { sum_squares_ns2: read_back(&edge), ..edge };
            prop_assert_eq!(read_back(&once).to_bits(), once.sum_squares_ns2.to_bits());
        }
    }

    #[test]
    fn hostile_numbers_are_none() {
        let edge = edge(&[1, 2, 3]);
        for number in [u64::MAX, u64::MAX - 1, 0xffff, 0x10000] {
            assert_eq!(from_number(&edge, number), None, "{number}");
        }
    }
}
