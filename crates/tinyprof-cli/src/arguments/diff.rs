//! Arguments of `tinyprof diff`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tinyprof_diff::Estimator;
use tinyprof_report::SortKey;

use super::{DIFF_METRIC, Selection, TableOutput, metric, profile};

/// Arguments of `tinyprof diff`.
#[derive(Args, Debug)]
#[command(
    override_usage = "tinyprof diff [OPTIONS] BASE NEW\n       tinyprof diff [OPTIONS] --base DIR... --new DIR..."
)]
pub(crate) struct DiffArguments {
    /// Two profiles: the run before, and the run after
    #[arg(value_names = ["BASE", "NEW"], num_args = 2, value_parser = profile::directory, required_unless_present = "base", conflicts_with = "base")]
    profiles: Vec<PathBuf>,
    /// The runs before the change
    #[arg(long, value_name = "DIR", num_args = 1.., value_parser = profile::directory, requires = "new")]
    base: Vec<PathBuf>,
    /// The runs after the change
    #[arg(long, value_name = "DIR", num_args = 1.., value_parser = profile::directory, requires = "base")]
    new: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[arg(long, value_name = "NAME", value_parser = metric, default_value = "inclusive", help = DIFF_METRIC)]
    pub(crate) metric: SortKey,
    /// The value that a run gets from its executions if a side has several runs: mean, median or
    /// min; the latter two ignore executions that something slowed
    #[arg(long, value_name = "NAME", value_parser = estimator(), default_value = "mean", hide_possible_values = true)]
    pub(crate) estimator: Estimator,
    /// Exit with 4 if a callpath of at least --min-share is up by more than PERCENT, such as 5%,
    /// and that is more than chance
    #[arg(long, value_name = "PERCENT")]
    pub(crate) fail_above: Option<Percent>,
    /// Ignore callpaths below this share of the inclusive time, in the table and for --fail-above
    #[arg(long, value_name = "PERCENT", default_value = "1%")]
    pub(crate) min_share: Percent,
    /// Also show callpaths below --min-share
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) output: TableOutput,
}

impl DiffArguments {
    /// Returns the runs of both sides.
    pub(crate) fn sides(&self) -> (&[PathBuf], &[PathBuf]) {
        match self.profiles.as_slice() {
            [base, new] => (std::slice::from_ref(base), std::slice::from_ref(new)),
            _ => (&self.base, &self.new),
        }
    }
}

/// Parses an estimator. Its words are also those of completions.
fn estimator() -> impl TypedValueParser<Value = Estimator> {
    let words = PossibleValuesParser::new(Estimator::ALL.map(Estimator::word));
    words.try_map(|word| word.parse::<Estimator>())
}

/// A percentage as users type it, `5%`, as a part of one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Percent(pub(crate) f64);

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        let part = number.filter(|percent| percent.is_finite() && *percent >= 0.0);
        part.map(|percent| Self(percent / 100.0))
            .ok_or_else(|| "expected a percentage such as 5% or 0.5%".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_has_its_sign() {
        assert_eq!("5%".parse(), Ok(Percent(0.05)));
        assert_eq!("0.5 %".parse(), Ok(Percent(0.005)));
        assert_eq!("0%".parse(), Ok(Percent(0.0)));
        for wrong in ["", "5", "%", "-5%", "inf%", "NaN%", "5%%", "x%"] {
            assert!(wrong.parse::<Percent>().is_err(), "{wrong}");
        }
    }
}

/// Arguments of `tinyprof efficiency`.
#[derive(Args, Debug)]
pub(crate) struct EfficiencyArguments {
    /// The profiles: directories NAME.tprof; the first is the base of scalability
    #[arg(value_name = "DIR", num_args = 1.., required = true, value_parser = profile::directory)]
    pub(crate) directories: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) output: TableOutput,
}
