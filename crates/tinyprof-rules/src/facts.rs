//! All that a rule can ask: the table of facts, and the values of one subject.

mod table;

use std::collections::HashMap;
use std::fmt;

use cel::{Context, Value};
use tinyprof_report::{FactValue, HintScope, Values};

pub use table::FACTS;

/// The subjects of a rule: it is evaluated once for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The run as a whole.
    Run,
    /// A rank.
    Rank,
    /// A region that is no call of MPI.
    Region,
    /// A call of MPI: a function at a call site.
    Call,
    /// A callpath: a region or a call of MPI, with the facts of hints.
    Callpath,
    /// Ranks that wait in a call for others, at level `messages`.
    Wait,
    /// A finding of `tinyprof why`, to which the rule gives advice.
    Finding,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 7] = [
        Self::Run,
        Self::Rank,
        Self::Region,
        Self::Call,
        Self::Callpath,
        Self::Wait,
        Self::Finding,
    ];

    /// Returns the word of rules for it: that of `for`, and the one before the names of its facts.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Rank => "rank",
            Self::Region => "region",
            Self::Call => "call",
            Self::Callpath => "callpath",
            Self::Wait => "wait",
            Self::Finding => "finding",
        }
    }

    /// Returns the scope of a subject of hints; none if rules have no such subjects.
    pub(crate) const fn of_hint(scope: HintScope) -> Option<Self> {
        Some(match scope {
            HintScope::Run => Self::Run,
            HintScope::Rank => Self::Rank,
            HintScope::Callpath => Self::Callpath,
            HintScope::Wait => Self::Wait,
            _ => return None,
        })
    }

    /// Returns the scope with this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.word() == word)
    }
}

/// A fact that a rule can ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// The subjects that have it.
    pub scope: Scope,
    /// The name behind the word of the scope.
    pub name: &'static str,
    /// The unit of a number, or `text`.
    pub unit: &'static str,
    /// The meaning, and when it is unknown.
    pub meaning: &'static str,
}

impl Fact {
    /// Returns whether its value is a text, and not a number.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.unit == "text"
    }

    /// Returns the fact of a scope with this name.
    #[must_use]
    pub fn of(scope: Scope, name: &str) -> Option<&'static Self> {
        FACTS.iter().find(|fact| fact.scope == scope && fact.name == name)
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.scope.word(), self.name)
    }
}

fn to_cel(values: &Values) -> HashMap<String, Value> {
    let value = |value: &FactValue| match value {
        FactValue::Number(number) => Value::Float(*number),
        FactValue::Text(text) => Value::from(text.as_str()),
    };
    values.iter().map(|(name, of)| (name.to_owned(), value(of))).collect()
}

/// Returns values of all facts of a scope, for checks: each number is `number`.
pub(crate) fn sample(scope: Scope, number: f64) -> Values {
    let mut values = Values::default();
    for fact in FACTS.iter().filter(|fact| fact.scope == scope) {
        if fact.is_text() {
            values.text(fact.name, "x");
        } else {
            values.number(fact.name, number);
        }
    }
    values
}

/// Returns what expressions see of a run, and of a subject of a scope.
pub(crate) fn context(run: &Values, scope: Scope, subject: &Values) -> Context<'static, 'static> {
    let mut context = Context::default();
    context.add_variable_from_value(Scope::Run.word(), to_cel(run));
    if scope != Scope::Run {
        context.add_variable_from_value(scope.word(), to_cel(subject));
    }
    context
}
