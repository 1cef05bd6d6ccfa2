//! Two samples and their means: the difference, its interval and the effect size. The reasons for
//! these methods are in docs/diff.md.

#[cfg(test)]
mod tests;

use statrs::distribution::{ContinuousCDF as _, StudentsT};
use statrs::function::gamma::ln_gamma;

/// The share of all comparisons in which the interval contains the true difference.
pub(super) const CONFIDENCE: f64 = 0.95;

/// The values of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sample {
    pub(super) values: Vec<f64>,
    /// The variance of the mean due to estimated values; 0 if everything was measured.
    pub(super) estimate_variance: f64,
}

/// The difference between the means of two samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Comparison {
    /// The mean of the new values minus that of the base values.
    pub(super) difference: f64,
    /// The test; `None` if a side has only one value, or neither side has any spread.
    pub(super) test: Option<Test>,
    /// Hedges' g; `None` if there is no spread to compare the difference with.
    pub(super) hedges_g: Option<f64>,
}

/// The result of a t test: Welch's, or that of pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Test {
    /// Half the width of the interval around the difference.
    pub(super) half_width: f64,
    /// The two-sided probability of a difference at least this large if the means were equal.
    pub(super) p: f64,
}

impl Sample {
    /// Returns the arithmetic mean; `None` for no values.
    pub(super) fn mean(&self) -> Option<f64> {
        (!self.values.is_empty()).then(|| self.values.iter().sum::<f64>() / self.count())
    }

    /// Returns the sum of the squared deviations from the mean.
    fn squares(&self) -> f64 {
        let mean = self.mean().unwrap_or(0.0);
        self.values.iter().map(|value| (value - mean).powi(2)).sum()
    }

    /// Returns the standard deviation of the values; `None` for fewer than two.
    pub(super) fn deviation(&self) -> Option<f64> {
        (self.values.len() > 1).then(|| (self.squares() / (self.count() - 1.0)).sqrt())
    }

    /// Returns the variance of the mean.
    ///
    /// The spread of the values already includes that of their estimates. If it comes out smaller
    /// than the estimates alone make it, that is chance, and the greater of the two counts.
    fn variance_of_mean(&self) -> Option<f64> {
        let spread = self.squares() / (self.count() - 1.0) / self.count();
        (self.values.len() > 1).then(|| spread.max(self.estimate_variance))
    }

    #[expect(clippy::cast_precision_loss, reason = "a sample has fewer than 2^53 values")]
    fn count(&self) -> f64 {
        self.values.len() as f64
    }
}

/// Compares the means; `None` if a side has no values, or a value that is not finite.
pub(super) fn compare(base: &Sample, new: &Sample) -> Option<Comparison> {
    let difference =
        Some(new.mean()? - base.mean()?).filter(|difference| difference.is_finite())?;
    Some(Comparison {
        difference,
        test: welch(base, new, difference),
        hedges_g: hedges_g(base, new, difference),
    })
}

/// Compares values in pairs: those of the same rank, or of the same execution. So a change is found
/// even if the ranks differ more from each other than by the change. `None` as for [`compare`], or
/// if the numbers of values differ.
///
/// The test is one of ratios, since a slower version is slower by more where there is more work; if
/// a value is 0, it is one of differences. The interval of ratios is then given in amounts.
pub(super) fn compare_pairs(base: &Sample, new: &Sample) -> Option<Comparison> {
    let found = (base.values.len() == new.values.len()).then(|| compare(base, new)).flatten()?;
    let is_positive = |sample: &Sample| sample.values.iter().all(|value| *value > 0.0);
    let test = if is_positive(base) && is_positive(new) {
        ratios(base, new)
    } else {
        let variance = base.estimate_variance + new.estimate_variance;
        paired(base, new, variance, |base, new| new - base).map(|(_, test)| test)
    };
    Some(Comparison { test, ..found })
}

/// Applies the t test to the logarithms of ratios.
fn ratios(base: &Sample, new: &Sample) -> Option<Test> {
    let base_mean = base.mean()?;
    let relative = |sample: &Sample| Some(sample.estimate_variance / sample.mean()?.powi(2));
    let variance = relative(base)? + relative(new)?;
    let (mean, test) = paired(base, new, variance, |base, new| (new / base).ln())?;
    let half_width = base_mean * mean.exp() * test.half_width.sinh();
    half_width.is_finite().then_some(Test { half_width, ..test })
}

/// Applies the t test to a number for each pair, and returns their mean with it.
fn paired(
    base: &Sample,
    new: &Sample,
    estimate_variance: f64,
    of_pair: impl Fn(f64, f64) -> f64,
) -> Option<(f64, Test)> {
    let pairs = base.values.iter().zip(&new.values);
    let numbers = Sample {
        values: pairs.map(|(base, new)| of_pair(*base, *new)).collect(),
        estimate_variance,
    };
    let variance = numbers.variance_of_mean().filter(|variance| *variance > 0.0)?;
    let student = StudentsT::new(0.0, 1.0, numbers.count() - 1.0).ok()?;
    let mean = numbers.mean()?;
    Some((mean, Test::of_difference(&student, mean, variance.sqrt())?))
}

/// Applies Welch's t test, which does not assume equal variances.
fn welch(base: &Sample, new: &Sample, difference: f64) -> Option<Test> {
    let (base_variance, new_variance) = (base.variance_of_mean()?, new.variance_of_mean()?);
    let variance = base_variance + new_variance;
    if variance <= 0.0 {
        return None;
    }
    // Shares of the variance, since the square of the variance might overflow.
    let (base_share, new_share) = (base_variance / variance, new_variance / variance);
    let freedom = (base_share.powi(2) / (base.count() - 1.0)
        + new_share.powi(2) / (new.count() - 1.0))
        .recip();
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Test::of_difference(&student, difference, variance.sqrt())
}

impl Test {
    /// Returns the test of a difference with this standard error; `None` if its numbers overflow.
    fn of_difference(student: &StudentsT, difference: f64, error: f64) -> Option<Self> {
        let half_width = quantile(student) * error;
        let p = (2.0 * student.sf((difference / error).abs())).min(1.0);
        (half_width.is_finite() && p.is_finite()).then_some(Self { half_width, p })
    }
}

/// Returns the value that is exceeded on each side as often as an interval may miss. It is found by
/// bisection, since the distribution's own inverse is off in the sixth digit for many degrees of
/// freedom.
fn quantile(student: &StudentsT) -> f64 {
    let misses = |bound: f64| student.sf(bound) > (1.0 - CONFIDENCE) / 2.0;
    let (mut low, mut high) = (0.0, 1.0);
    while misses(high) && high < f64::MAX / 2.0 {
        (low, high) = (high, 2.0 * high);
    }
    // 53 bits, and a few more for rounding.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if misses(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns the difference in units of the pooled standard deviation, corrected for the bias of
/// small samples.
fn hedges_g(base: &Sample, new: &Sample, difference: f64) -> Option<f64> {
    if base.values.len() < 2 || new.values.len() < 2 {
        return None;
    }
    let freedom = base.count() + new.count() - 2.0;
    let deviation = ((base.squares() + new.squares()) / freedom).sqrt();
    let unbiased =
        (ln_gamma(freedom / 2.0) - ln_gamma((freedom - 1.0) / 2.0)).exp() / (freedom / 2.0).sqrt();
    Some(difference / deviation * unbiased).filter(|g| g.is_finite())
}

/// Returns the p values adjusted by the method of Benjamini and Hochberg, in the order given. If
/// all below 0.05 are marked, at most 5 % of the marks are expected to be wrong.
pub(super) fn adjusted(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|left, right| p[*right].total_cmp(&p[*left]));
    let mut adjusted = vec![1.0; p.len()];
    let (mut least, mut rank) =
        (1.0_f64, Sample { values: p.to_vec(), estimate_variance: 0.0 }.count());
    let tests = rank;
    for at in order {
        least = least.min(p[at] * tests / rank);
        adjusted[at] = least;
        rank -= 1.0;
    }
    adjusted
}
