//! Texts with expressions in braces: `{call.name} takes {call.seconds|time}`.

use cel::Value;
use tinyprof_report::cells::{data, percent_cell, shown, time, whole};
use tinyprof_report::{Values, plain_number};

use crate::expression::{Expression, Wanted, as_number};
use crate::facts::Scope;

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Plain,
    Time,
    Percent,
    Bytes,
}

impl Form {
    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "time" => Self::Time,
            "percent" => Self::Percent,
            "bytes" => Self::Bytes,
            _ => return None,
        })
    }

    fn write(self, number: f64) -> String {
        match self {
            Self::Plain => plain_number(number),
            Self::Time => time(whole(number * 1e9)),
            Self::Percent => percent_cell(number),
            Self::Bytes => data(integer(number)),
        }
    }
}

fn integer(number: f64) -> u64 {
    u64::try_from(whole(number)).unwrap_or(u64::MAX)
}

#[derive(Debug)]
pub(crate) enum Part {
    Text(String),
    Value(Expression, Form),
}

/// A text with expressions.
#[derive(Debug)]
pub(crate) struct Template(Vec<Part>);

impl Template {
    /// Parses a text of a rule of this scope.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub(crate) fn new(text: &str, scope: Scope) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            let (inside, after) = behind
                .split_once('}')
                .ok_or("a { has no }: braces are for facts, as in {run.ranks}")?;
            parts.push(Part::Text(before.to_owned()));
            let (expression, form) = match inside.rsplit_once('|') {
                Some((expression, word)) if !expression.ends_with('|') => {
                    let form = Form::of_word(word.trim()).ok_or_else(|| {
                        format!("{{{inside}}}: behind | stands time, percent or bytes")
                    })?;
                    (expression, form)
                }
                _ => (inside, Form::Plain),
            };
            let wanted = if form == Form::Plain { Wanted::NumberOrText } else { Wanted::Number };
            let expression = Expression::new(expression, scope, wanted)
                .map_err(|error| format!("{{{inside}}}: {error}"))?;
            parts.push(Part::Value(expression, form));
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        Ok(Self(parts))
    }

    /// Returns its parts.
    #[cfg(test)]
    pub(crate) fn parts(&self) -> &[Part] {
        &self.0
    }

    /// Returns the text, escaped for a terminal. Facts that are unknown are a question mark.
    ///
    /// # Errors
    /// What went wrong.
    pub(crate) fn text(
        &self,
        run: &Values,
        scope: Scope,
        subject: &Values,
    ) -> Result<String, String> {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Value(expression, form) => {
                    text.push_str(&match expression.value(run, scope, subject)? {
                        Some(Value::String(found)) => found.to_string(),
                        Some(found) => {
                            as_number(&found).map_or("?".to_owned(), |number| form.write(number))
                        }
                        None => "?".to_owned(),
                    });
                }
            }
        }
        Ok(shown(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_their_units() {
        let text =
            "{call.name}: {call.seconds|time}, {call.share|percent}, {call.visits}, {call.line}";
        let template = Template::new(text, Scope::Call).expect("right");
        let mut call = Values::default();
        call.text("name", "f\u{1b}[2J");
        call.number("seconds", 0.5);
        call.number("share", 0.25);
        call.number("visits", 12.0);
        let found = template.text(&Values::default(), Scope::Call, &call).expect("no error");
        assert!(found.ends_with(": 500 ms, 25.0%, 12, ?"), "{found}");
        assert!(!found.contains('\u{1b}'), "{found}");
    }

    #[test]
    fn wrong_braces_are_told() {
        let check = |text: &str, expected: &str| {
            let error = Template::new(text, Scope::Run).expect_err("it is wrong");
            assert!(error.contains(expected), "{error}");
        };
        check("{run.ranks", "a { has no }");
        check("{run.seconds|hours}", "time, percent or bytes");
        check("{run.rank}", "did you mean run.ranks?");
    }
}
