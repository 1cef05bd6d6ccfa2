//! A rule: a condition over facts, and what to say where it holds.

use cel::Value;
use tinyprof_report::{Certainty, Values};

use crate::case::Case;
use crate::expression::{Expression, as_number};
use crate::facts::Scope;
use crate::template::Template;

/// A rule: a condition over facts, and what to say where it holds.
#[derive(Debug)]
pub struct Rule {
    pub(crate) name: String,
    pub(crate) scope: Scope,
    pub(crate) when: Expression,
    /// The seconds of one rank's time that would be gained; none for a rule for findings.
    pub(crate) seconds: Option<Expression>,
    /// What was found; none for a rule for findings.
    pub(crate) text: Option<Template>,
    /// The numbers that support it; hints have them, other rules have them in their text.
    #[cfg_attr(not(test), expect(dead_code, reason = "the recorder has it, translated"))]
    pub(crate) evidence: Option<Template>,
    pub(crate) advice: Template,
    /// The certainty of the seconds; of other rules than hints it is an upper bound.
    #[cfg_attr(not(test), expect(dead_code, reason = "the recorder has it, translated"))]
    pub(crate) certainty: Certainty,
    pub(crate) source: String,
    pub(crate) cases: Vec<Case>,
    /// Where it is: `built-in`, or the file and the line.
    pub(crate) origin: String,
    pub(crate) is_built_in: bool,
    /// Whether it is one of those that are applied where reports are made, also by the recorder.
    pub(crate) is_hint: bool,
}

impl Rule {
    /// Returns the name, by which findings call their rule.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what it is about.
    #[must_use]
    pub const fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns where it is: `built-in`, or the file and the line.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns where its condition comes from; empty if it does not say.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the condition, in CEL.
    #[must_use]
    pub fn formula(&self) -> &str {
        self.when.text()
    }

    /// Returns the number of its test cases.
    #[must_use]
    pub const fn cases(&self) -> usize {
        self.cases.len()
    }

    /// Returns whether the rule holds; a rule that asks for what is unknown does not.
    pub(crate) fn holds(&self, run: &Values, subject: &Values) -> Result<bool, String> {
        let value = self.when.value(run, self.scope, subject)?;
        Ok(matches!(value, Some(Value::Bool(true))))
    }

    /// Returns the seconds of one rank's time that would be gained; none if they are unknown, or
    /// no time.
    pub(crate) fn gain(&self, run: &Values, subject: &Values) -> Result<Option<f64>, String> {
        let Some(seconds) = &self.seconds else { return Ok(None) };
        let value = seconds.value(run, self.scope, subject)?;
        let number = value.as_ref().and_then(as_number);
        Ok(number.filter(|number| number.is_finite() && *number > 0.0))
    }
}
