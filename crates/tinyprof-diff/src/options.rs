//! The settings of a comparison.

use std::fmt;
use std::str::FromStr;

use tinyprof_report::SortKey;

/// The settings of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The amount that is compared.
    pub metric: SortKey,
    /// The estimator that makes a run's value of its executions, where a side has several runs.
    pub estimator: Estimator,
    /// The largest increase that a callpath may have, relative to the base; none if there is no
    /// limit.
    pub fail_above: Option<f64>,
    /// The smallest share of the inclusive time at which a callpath is shown and can exceed the
    /// limit.
    pub min_share: f64,
}

/// Inclusive times by their means, without limits.
impl Default for Options {
    fn default() -> Self {
        Self {
            metric: SortKey::Inclusive,
            estimator: Estimator::default(),
            fail_above: None,
            min_share: 0.0,
        }
    }
}

/// The value of a run, made of the amounts of its executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimator {
    /// The arithmetic mean.
    #[default]
    Mean,
    /// The middle value, or the mean of the two in the middle.
    Median,
    /// The least value.
    Min,
}

impl Estimator {
    /// All estimators.
    pub const ALL: [Self; 3] = [Self::Mean, Self::Median, Self::Min];

    /// Returns the word for it, in arguments and reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Min => "min",
        }
    }
}

/// A word that is no estimator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownEstimator(String);

impl fmt::Display for UnknownEstimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = Estimator::ALL.map(Estimator::word).join(", ");
        write!(f, "there is no estimator {:?}: expected one of {words}", self.0)
    }
}

impl std::error::Error for UnknownEstimator {}

impl FromStr for Estimator {
    type Err = UnknownEstimator;

    /// ```
    /// use tinyprof_diff::Estimator;
    ///
    /// assert_eq!("min".parse(), Ok(Estimator::Min));
    /// let error = "minimum".parse::<Estimator>().unwrap_err();
    /// assert!(error.to_string().ends_with("expected one of mean, median, min"));
    /// ```
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|estimator| estimator.word() == word);
        found.ok_or_else(|| UnknownEstimator(word.to_owned()))
    }
}
