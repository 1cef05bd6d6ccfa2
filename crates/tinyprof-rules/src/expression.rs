//! An expression in CEL over facts: compiled, checked against the table of facts, and evaluated.

use std::fmt;

use cel::{ExecutionError, Program, Value};
use tinyprof_report::Values;

use crate::facts::{Scope, context, sample};
use crate::references::unknown;

/// The most characters of an expression, operators, and levels of brackets: parsing and evaluation
/// use the stack.
const LENGTH_MAX: usize = 2_000;
const OPERATORS_MAX: usize = 200;
const LEVELS_MAX: usize = 24;

/// An expression.
pub(crate) struct Expression {
    text: String,
    program: Program,
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.text).finish()
    }
}

/// What an expression has to result in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    Condition,
    Number,
    NumberOrText,
}

impl Expression {
    /// Compiles an expression of a rule of this scope. The caller is on a
    /// [large stack](crate::stack).
    ///
    /// # Errors
    /// What is wrong, where in the expression, and what to do.
    pub(crate) fn new(text: &str, scope: Scope, wanted: Wanted) -> Result<Self, String> {
        if text.len() > LENGTH_MAX {
            return Err(format!("is longer than {LENGTH_MAX} characters"));
        }
        if let Some(complaint) = too_deep(text) {
            return Err(complaint);
        }
        let program = Program::compile(text).map_err(|errors| {
            errors.errors.first().map_or_else(
                || "is no expression".to_owned(),
                |first| format!("column {}: {}", first.pos.1, first.msg),
            )
        })?;
        if let Some((id, complaint)) = unknown(program.expression(), scope) {
            let at = program.source_info().offset_for(id);
            let column = at.map_or(String::new(), |(start, _)| format!("column {}: ", start + 1));
            return Err(format!("{column}{complaint}"));
        }
        let expression = Self { text: text.to_owned(), program };
        expression.check_type(scope, wanted)?;
        Ok(expression)
    }

    /// Evaluates it on samples, by which operands that do not fit show up.
    fn check_type(&self, scope: Scope, wanted: Wanted) -> Result<(), String> {
        // Parts of conditions that others decide are not evaluated: several samples.
        for number in [1.0, 0.0, 1e9] {
            let (run, subject) = (sample(Scope::Run, number), sample(scope, number));
            let found = match self.program.execute(&context(&run, scope, &subject)) {
                Ok(found) => found,
                Err(ExecutionError::DivisionByZero(_)) => continue,
                Err(error) => return Err(in_words(&error)),
            };
            let fits = match wanted {
                Wanted::Condition => matches!(found, Value::Bool(_)),
                Wanted::Number => as_number(&found).is_some(),
                Wanted::NumberOrText => {
                    as_number(&found).is_some() || matches!(found, Value::String(_))
                }
            };
            if !fits {
                return Err(match wanted {
                    Wanted::Condition => "is no condition: compare something, as in >= 0.05",
                    Wanted::Number => "is no number",
                    Wanted::NumberOrText => "is neither a number nor a text",
                }
                .to_owned());
            }
        }
        Ok(())
    }

    /// Returns its parts.
    #[cfg(test)]
    pub(crate) fn tree(&self) -> &cel::IdedExpr {
        self.program.expression()
    }

    /// Returns it as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns its value. None where a fact that it needs is unknown.
    ///
    /// # Errors
    /// What went wrong.
    pub(crate) fn value(
        &self,
        run: &Values,
        scope: Scope,
        subject: &Values,
    ) -> Result<Option<Value>, String> {
        match self.program.execute(&context(run, scope, subject)) {
            Ok(value) => Ok(Some(value)),
            Err(ExecutionError::NoSuchKey(_) | ExecutionError::DivisionByZero(_)) => Ok(None),
            Err(error) => Err(in_words(&error)),
        }
    }
}

fn too_deep(text: &str) -> Option<String> {
    let operators = text.chars().filter(|c| "!-?:+*/%<>=&|.,".contains(*c)).count();
    let (mut level, mut most) = (0_usize, 0);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => level += 1,
            ')' | ']' | '}' => level = level.saturating_sub(1),
            _ => {}
        }
        most = most.max(level);
    }
    if most > LEVELS_MAX {
        return Some(format!("has more than {LEVELS_MAX} levels of brackets"));
    }
    (operators > OPERATORS_MAX)
        .then(|| format!("has more than {OPERATORS_MAX} operators: make two rules of it"))
}

fn in_words(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchOverload(_) | ExecutionError::UnsupportedBinaryOperator(..) => {
            format!("{error}; facts are floating-point numbers: write 2.0, not 2, beside + - * /")
        }
        _ => error.to_string(),
    }
}

/// Returns a value as a number, if it is one.
#[expect(clippy::cast_precision_loss, reason = "53 bits are enough for numbers of a rule")]
pub(crate) const fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(number) => Some(*number),
        Value::Int(number) => Some(*number as f64),
        Value::UInt(number) => Some(*number as f64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::on_large_stack;

    fn compiled(text: &str) -> Result<Expression, String> {
        on_large_stack(|| Expression::new(text, Scope::Call, Wanted::Condition))?
    }

    fn wrong(text: &str) -> String {
        compiled(text).expect_err("it is wrong")
    }

    #[test]
    fn errors_say_where_and_what_to_do() {
        let check = |text: &str, expected: &str| {
            let error = wrong(text);
            assert!(error.contains(expected), "{text}: {error}");
        };
        check("call.share >", "column");
        check("call.share", "is no condition: compare something");
        check("true && call.shares > 0.1", "did you mean call.share?");
        check("region.share > 0.1", "a rule for call knows run and call");
        check("call.seconds / 2 > 1.0", "write 2.0, not 2");
        check("call.function.startWith('a')", "there is no function startWith");
        check(&"(".repeat(100_000), "longer than");
        check(&"(".repeat(1_900), "levels of brackets");
        check(&"!".repeat(1_900), "operators");
        check(&"-".repeat(1_900), "operators");
    }

    #[test]
    fn what_is_allowed_does_not_exhaust_the_stack() {
        for text in [
            format!("{}1{} > 0", "(".repeat(LEVELS_MAX), ")".repeat(LEVELS_MAX)),
            format!("1{} > 0", "+1".repeat(OPERATORS_MAX - 1)),
            format!("{}true", "!".repeat(OPERATORS_MAX)),
            format!("{}1 < 0", "-".repeat(OPERATORS_MAX - 1)),
            format!("true{}", "?true:true".repeat(OPERATORS_MAX / 2)),
            format!("true{}", "&&true".repeat(OPERATORS_MAX / 2)),
            format!("{}true", "[".repeat(LEVELS_MAX)),
            format!("run{}", ".a".repeat(OPERATORS_MAX)),
        ] {
            // Right or wrong: it comes back.
            drop(compiled(&text));
        }
    }

    #[test]
    fn an_unknown_fact_makes_no_condition_true() {
        let text = "call.bytes_per_message < 4096.0";
        let expression = compiled(text).expect("right");
        let mut subject = Values::default();
        let value = |subject: &Values| {
            expression.value(&Values::default(), Scope::Call, subject).expect("no error")
        };
        assert!(value(&subject).is_none());
        subject.number("bytes_per_message", 8.0);
        assert!(matches!(value(&subject), Some(Value::Bool(true))));
    }
}
