//! Medians, their spread, and the confidence of the median of paired differences.

/// Median, minimum and maximum of some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    /// Returns the spread, or `None` without values.
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (&least, &most) = (values.first()?, values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 {
            values[middle]
        } else {
            f64::midpoint(values[middle - 1], values[middle])
        };
        Some(Self { median, least, most })
    }
}

/// An interval for the true median, with its confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// From 0 to 1.
    pub(crate) confidence: f64,
}

/// The wanted confidence.
pub(crate) const WANTED: f64 = 0.95;

/// Returns an interval between two of the values for the true median, with its confidence. It
/// assumes only that the values are independent, and nothing of their distribution. It is the
/// narrowest such interval with a confidence of 95 %. Fewer than six values have none; then the
/// widest interval is returned with the confidence that it has. Returns `None` for fewer than two
/// values.
pub(crate) fn median_interval(values: impl IntoIterator<Item = f64>) -> Option<Interval> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let count = values.len();
    if count < 2 {
        return None;
    }
    // Each value is above or below the true median with equal chance, like a coin toss.
    let mut chance = 0.5_f64.powi(i32::try_from(count).ok()?);
    let mut outside = 2.0 * chance;
    let (mut left_out, mut confidence) = (0, 1.0 - outside);
    for next in 1..count / 2 {
        #[expect(clippy::cast_precision_loss, reason = "counts of repetitions are small")]
        let ratio = (count - next + 1) as f64 / next as f64;
        chance *= ratio;
        outside += 2.0 * chance;
        if 1.0 - outside < WANTED {
            break;
        }
        (left_out, confidence) = (next, 1.0 - outside);
    }
    Some(Interval { low: values[left_out], high: values[count - 1 - left_out], confidence })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_of_sorted_values() {
        let spread = |values: &[f64]| Spread::of(values.iter().copied());
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[3.0, -1.0, 9.0]), Some(Spread { median: 3.0, least: -1.0, most: 9.0 }));
        assert_eq!(spread(&[4.0, 1.0]), Some(Spread { median: 2.5, least: 1.0, most: 4.0 }));
    }

    /// Compares with the tables of the sign test.
    #[test]
    fn the_interval_leaves_out_what_the_sign_test_leaves_out() {
        let of = |count: u32| median_interval((1..=count).rev().map(f64::from));
        assert_eq!((of(0), of(1)), (None, None));
        let five = of(5).unwrap();
        assert_eq!((five.low, five.high, five.confidence), (1.0, 5.0, 0.9375));
        let seven = of(7).unwrap();
        assert_eq!((seven.low, seven.high, seven.confidence), (1.0, 7.0, 1.0 - 2.0 / 128.0));
        let nine = of(9).unwrap();
        assert_eq!((nine.low, nine.high), (2.0, 8.0));
        assert!((nine.confidence - 0.960_937_5).abs() < 1e-12, "{nine:?}");
        let twenty = of(20).unwrap();
        assert_eq!((twenty.low, twenty.high), (6.0, 15.0));
        assert!((twenty.confidence - 0.958_610_5).abs() < 1e-6, "{twenty:?}");
    }
}
