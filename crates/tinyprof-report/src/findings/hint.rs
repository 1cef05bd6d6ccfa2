//! A built-in rule of a hint, translated from `crates/tinyprof-rules/src/hints.toml`.

use super::finding::{Certainty, FindingKind};
use super::values::Values;
use crate::facts::numbers::whole;
use crate::words::units::{count_cell, number_cell, percent_cell, time};

/// The subjects of which a hint is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HintScope {
    /// The run as a whole.
    Run,
    /// A rank.
    Rank,
    /// A callpath: a region or a call of MPI.
    Callpath,
    /// Ranks that wait in a call for others.
    Wait,
}

/// An expression over the facts of the run and of the subject; none if one that it needs is
/// unknown.
type Expression<T> = fn(&Values, &Values) -> Option<T>;

/// A text over these facts.
type Sentence = fn(&Values, &Values) -> String;

/// A built-in rule of a hint, as the recorder applies it, which links neither TOML nor CEL.
///
/// A wrong hint costs its reader more than a missing one, so each needs an effect that is both
/// large and clear.
#[derive(Debug)]
#[non_exhaustive]
pub struct Hint {
    /// The name of the rule.
    pub name: &'static str,
    /// The kind of the findings.
    pub kind: FindingKind,
    /// The certainty of their severity.
    pub certainty: Certainty,
    /// The subjects.
    pub scope: HintScope,
    pub(crate) when: Expression<bool>,
    pub(crate) seconds: Expression<f64>,
    pub(crate) headline: Sentence,
    pub(crate) evidence: Sentence,
    pub(crate) advice: Sentence,
}

impl Hint {
    /// Returns whether it holds for a subject; not if a fact that it needs is unknown.
    #[must_use]
    pub fn holds(&self, run: &Values, subject: &Values) -> bool {
        (self.when)(run, subject) == Some(true)
    }

    /// Returns the severity in seconds of one rank's time; none if it is unknown.
    #[must_use]
    pub fn gain(&self, run: &Values, subject: &Values) -> Option<f64> {
        (self.seconds)(run, subject).filter(|seconds| seconds.is_finite())
    }
}

/// The text of an unknown fact.
const UNKNOWN: &str = "?";

fn of(number: Option<f64>, cell: impl FnOnce(f64) -> String) -> String {
    number.filter(|number| number.is_finite()).map_or_else(|| UNKNOWN.to_owned(), cell)
}

/// Returns a number as templates write it.
#[must_use]
pub fn plain_number(number: f64) -> String {
    match u64::try_from(whole(number)) {
        Ok(count) if number.fract() == 0.0 && number >= 0.0 => count_cell(count),
        _ => number_cell(number),
    }
}

/// Returns the value of an expression; none if a fact that it needs is unknown.
pub(super) fn known(of: impl FnOnce() -> Option<f64>) -> Option<f64> {
    of()
}

pub(super) fn plain(number: Option<f64>) -> String {
    of(number, plain_number)
}

pub(super) fn seconds(number: Option<f64>) -> String {
    of(number, |number| time(whole(number * 1e9)))
}

pub(super) fn percent(number: Option<f64>) -> String {
    of(number, percent_cell)
}

pub(super) fn text(text: Option<&str>) -> String {
    text.unwrap_or(UNKNOWN).to_owned()
}
