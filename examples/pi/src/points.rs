//! Points at random below and above the curve 4 / (1 + x^2), under which pi lies from 0 to 1.

use std::ops::Range;

use tinyprof::profile;

use crate::arguments::Regions;

/// Returns x and y of the points with these numbers, each from 0 to 1. A point depends on its
/// number alone, so that all runs count the same points, whoever draws them.
#[profile]
pub(crate) fn draw(numbers: Range<u64>) -> Vec<[f64; 2]> {
    numbers.map(|number| [uniform(2 * number), uniform(2 * number + 1)]).collect()
}

/// Returns how many points lie below the curve.
#[profile]
pub(crate) fn count_below(points: &[[f64; 2]], regions: Regions) -> u64 {
    let counted = match regions {
        Regions::Packets => points.iter().filter(|&&point| is_below(point)).count(),
        Regions::Points => points.iter().filter(|&&point| is_below_measured(point)).count(),
    };
    counted as u64
}

fn is_below([x, y]: [f64; 2]) -> bool {
    y * (1.0 + x * x) < 1.0
}

#[profile(name = "is_below")]
fn is_below_measured(point: [f64; 2]) -> bool {
    is_below(point)
}

/// Returns a number from 0 to 1: the bits of `SplitMix64`.
fn uniform(number: u64) -> f64 {
    let mut word = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let bits = u32::try_from((word ^ (word >> 31)) >> 32).expect("32 bits");
    f64::from(bits) / 4_294_967_296.0
}

/// How many points of how many lie below the curve.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) below: u64,
    pub(crate) points: u64,
}

impl Estimate {
    /// Returns pi.
    #[expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53")]
    pub(crate) fn pi(self) -> f64 {
        4.0 * self.below as f64 / self.points as f64
    }

    /// Returns the standard error of pi, by the points themselves.
    #[expect(clippy::cast_precision_loss, reason = "the counts are far below 2^53")]
    pub(crate) fn error(self) -> f64 {
        let share = self.below as f64 / self.points as f64;
        4.0 * (share * (1.0 - share) / self.points as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_points_estimate_pi_within_their_error() {
        let count = |numbers| count_below(&draw(numbers), Regions::Packets);
        let below = count(0..50_000) + count(50_000..200_000);
        assert_eq!(below, count_below(&draw(0..200_000), Regions::Points));
        let estimate = Estimate { below, points: 200_000 };
        let off = (estimate.pi() - std::f64::consts::PI).abs();
        assert!(off < 4.0 * estimate.error() && estimate.error() < 0.004, "{off}");
    }
}
