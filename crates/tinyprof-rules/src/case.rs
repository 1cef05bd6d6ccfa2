//! The test cases of a rule: facts, and whether it holds for them.

use tinyprof_report::Values;
use toml::{Table, Value};

use crate::facts::{Fact, Scope};
use crate::references::no_fact_of;

/// A test case of a rule.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) holds: bool,
    pub(crate) run: Values,
    pub(crate) subject: Values,
}

impl Case {
    /// Takes the facts of a case: tables of the run, and of the subject. Others are unknown.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn new(holds: bool, tables: &Table, scope: Scope) -> Result<Self, String> {
        let mut case = Self { holds, run: Values::default(), subject: Values::default() };
        for (word, table) in tables {
            let of = Scope::of_word(word).filter(|of| [Scope::Run, scope].contains(of));
            let (Some(of), Value::Table(table)) = (of, table) else {
                let subject = scope.word();
                return Err(format!(
                    "a case has holds, run and {subject}, as in {subject} = {{ share = 0.1 }}; not \
                     {word}"
                ));
            };
            let values = if of == Scope::Run { &mut case.run } else { &mut case.subject };
            for (name, value) in table {
                add(values, of, name, value)?;
            }
        }
        Ok(case)
    }
}

#[expect(clippy::cast_precision_loss, reason = "53 bits are enough for numbers of a rule")]
fn add(values: &mut Values, of: Scope, name: &str, value: &Value) -> Result<(), String> {
    let Some(fact) = Fact::of(of, name) else {
        return Err(no_fact_of(of, name));
    };
    match (value, fact.is_text()) {
        (Value::String(text), true) => values.text(fact.name, text.as_str()),
        (Value::Float(number), false) => values.number(fact.name, *number),
        (Value::Integer(number), false) => values.number(fact.name, *number as f64),
        (_, true) => return Err(format!("{fact} is a text")),
        (_, false) => return Err(format!("{fact} is a number")),
    }
    Ok(())
}
