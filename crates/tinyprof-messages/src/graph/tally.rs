//! Counts and sums that can be added in any order.

/// Numbers, added up: how many, their sum, extremes and squares. All are integers, so that the sum
/// of tallies does not depend on order and grouping.
///
/// ```
/// use tinyprof_messages::graph::Tally;
///
/// let tally: Tally = [3, 5, 10].into_iter().collect();
/// assert_eq!((tally.count, tally.sum, tally.minimum, tally.maximum), (3, 18, 3, 10));
/// assert_eq!(tally.square_deviation(), 26.0, "9 + 1 + 16");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// The number of numbers.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The smallest, `u64::MAX` if there is none.
    pub minimum: u64,
    /// The largest, 0 if there is none.
    pub maximum: u64,
    /// The sum of their squares.
    pub squares: u128,
}

impl Tally {
    /// No numbers.
    pub const EMPTY: Self = Self { count: 0, sum: 0, minimum: u64::MAX, maximum: 0, squares: 0 };

    /// Adds a number.
    #[inline]
    pub fn add(&mut self, number: u64) {
        let squares = u128::from(number).pow(2);
        self.absorb(Self { count: 1, sum: number, minimum: number, maximum: number, squares });
    }

    /// Adds other numbers.
    #[inline]
    pub fn absorb(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.minimum = self.minimum.min(other.minimum);
        self.maximum = self.maximum.max(other.maximum);
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// Returns the sum of the squares of the distances to the mean, which needs fewer bytes in a
    /// profile than the squares.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "what remains after the subtraction is small")]
    pub fn square_deviation(&self) -> f64 {
        let Some(count) = std::num::NonZeroU64::new(self.count) else { return 0.0 };
        let of_mean = u128::from(self.sum).pow(2);
        let (whole, rest) = (of_mean / u128::from(count.get()), of_mean % u128::from(count.get()));
        self.squares.saturating_sub(whole) as f64 - rest as f64 / count.get() as f64
    }
}

impl Default for Tally {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl FromIterator<u64> for Tally {
    fn from_iter<T: IntoIterator<Item = u64>>(numbers: T) -> Self {
        let mut tally = Self::EMPTY;
        numbers.into_iter().for_each(|number| tally.add(number));
        tally
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
    fn approximate(number: u128) -> f64 {
        number as f64
    }

    #[test]
    fn a_mean_between_two_integers_is_exact() {
        let deviation = |numbers: [u64; 2]| Tally::from_iter(numbers).square_deviation();
        assert_eq!([deviation([0, 1]), deviation([7, 10])], [0.5, 4.5]);
    }

    proptest! {
        #[test]
        fn the_deviation_is_that_from_the_mean(
            numbers in proptest::collection::vec(0_u64..1_000_000, 1..50)
        ) {
            let tally: Tally = numbers.iter().copied().collect();
            let count = numbers.len() as u64;
            let deviation = |number: &u64| u128::from((count * number).abs_diff(tally.sum)).pow(2);
            let times_count_squared: u128 = numbers.iter().map(deviation).sum();
            let expected = approximate(times_count_squared) / approximate(u128::from(count).pow(2));
            let error = (tally.square_deviation() - expected).abs();
            prop_assert!(error <= 1e-9 * (1.0 + expected), "{error}");
        }
    }
}
