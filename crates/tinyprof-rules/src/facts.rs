//! All that a rule can ask: the table of facts, and the values of one subject.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use cel::{Context, Value};

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
    /// A finding of `tinyprof why`, to which the rule gives advice.
    Finding,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 5] = [Self::Run, Self::Rank, Self::Region, Self::Call, Self::Finding];

    /// Returns the word of rules for it: that of `for`, and the one before the names of its facts.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Rank => "rank",
            Self::Region => "region",
            Self::Call => "call",
            Self::Finding => "finding",
        }
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

const fn fact(scope: Scope, name: &'static str, unit: &'static str, meaning: &'static str) -> Fact {
    Fact { scope, name, unit, meaning }
}

/// All facts. The table of docs/rules.md is this one.
pub const FACTS: &[Fact] = &[
    fact(Scope::Run, "ranks", "number", "ranks that have any time"),
    fact(Scope::Run, "hosts", "number", "hosts"),
    fact(Scope::Run, "seconds", "s", "time of a rank without start-up, the mean over ranks"),
    fact(Scope::Run, "mpi_share", "part", "time in calls of MPI, of the time of all ranks"),
    fact(Scope::Run, "io_share", "part", "time of input and output, of the time of all ranks"),
    fact(Scope::Run, "waiting_share", "part", "waiting for other ranks; unknown at level calls"),
    fact(Scope::Run, "load_balance", "part", "mean useful time of a rank, of the greatest"),
    fact(
        Scope::Run,
        "communication_efficiency",
        "part",
        "greatest useful time, of the longest rank's time; unknown without calls of MPI",
    ),
    fact(
        Scope::Run,
        "no_processor_share",
        "part",
        "time in which threads could run, but had no processor; unknown where not recorded",
    ),
    fact(Scope::Rank, "number", "number", "the rank, 0-based"),
    fact(Scope::Rank, "host", "text", "its host"),
    fact(Scope::Rank, "seconds", "s", "its time without start-up"),
    fact(Scope::Rank, "busy_seconds", "s", "its time outside of MPI"),
    fact(Scope::Rank, "busy_ratio", "number", "the same, by the mean over ranks"),
    fact(Scope::Rank, "mpi_share", "part", "its time in calls of MPI"),
    fact(
        Scope::Rank,
        "host_busy_ratio",
        "number",
        "mean time outside of MPI of the ranks of its host, by that of the ranks of other hosts; \
         unknown with one host",
    ),
    fact(Scope::Region, "name", "text", "function, with file and line where known"),
    fact(Scope::Region, "function", "text", "function"),
    fact(Scope::Region, "file", "text", "file; unknown without debug information"),
    fact(Scope::Region, "line", "number", "line; unknown without debug information"),
    fact(Scope::Region, "seconds", "s", "exclusive time of all ranks"),
    fact(Scope::Region, "share", "part", "the same, of the time of all ranks"),
    fact(Scope::Region, "visits", "number", "visits of all ranks"),
    fact(Scope::Region, "ranks", "number", "ranks that came there"),
    fact(Scope::Region, "seconds_per_visit", "s", "exclusive time of a visit, the mean"),
    fact(Scope::Region, "mean_seconds", "s", "exclusive time of a rank, the mean over these"),
    fact(Scope::Region, "max_seconds", "s", "the greatest of a rank"),
    fact(Scope::Region, "slowest_rank", "number", "that rank"),
    fact(Scope::Call, "name", "text", "function of MPI and call site"),
    fact(Scope::Call, "function", "text", "function of MPI"),
    fact(Scope::Call, "file", "text", "file; unknown without debug information"),
    fact(Scope::Call, "line", "number", "line; unknown without debug information"),
    fact(Scope::Call, "seconds", "s", "time of all ranks in it"),
    fact(Scope::Call, "share", "part", "the same, of the time of all ranks"),
    fact(Scope::Call, "visits", "number", "visits of all ranks"),
    fact(Scope::Call, "ranks", "number", "ranks that came there"),
    fact(Scope::Call, "seconds_per_visit", "s", "time of a visit, the mean"),
    fact(Scope::Call, "visits_per_second", "1/s", "visits of a rank in a second of the run"),
    fact(Scope::Call, "mean_seconds", "s", "time of a rank, the mean over these"),
    fact(Scope::Call, "max_seconds", "s", "the greatest of a rank"),
    fact(Scope::Call, "slowest_rank", "number", "that rank"),
    fact(Scope::Call, "messages", "number", "messages that leave and enter ranks"),
    fact(Scope::Call, "bytes", "B", "their bytes"),
    fact(Scope::Call, "bytes_per_message", "B", "their mean; unknown without messages"),
    fact(Scope::Call, "accesses", "number", "accesses to files"),
    fact(Scope::Call, "bytes_per_access", "B", "their mean; unknown without accesses"),
    fact(Scope::Finding, "kind", "text", "kind, as docs/why.md has them"),
    fact(Scope::Finding, "seconds", "s", "what would be gained at most, of a rank's time"),
    fact(Scope::Finding, "share", "part", "the same, of the run"),
    fact(Scope::Finding, "ranks", "text", "ranks that are the cause: 0-2,5"),
    fact(Scope::Finding, "ranks_count", "number", "how many these are"),
    fact(Scope::Finding, "function", "text", "function of the cause; unknown without a place"),
    fact(Scope::Finding, "file", "text", "file of the cause; unknown without a place"),
    fact(Scope::Finding, "line", "number", "line of the cause; unknown without a place"),
    fact(
        Scope::Finding,
        "waits_in",
        "text",
        "function of MPI in which others wait; unknown if none",
    ),
];

/// The value of a fact.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FactValue {
    Number(f64),
    Text(String),
}

/// The facts of one subject that are known, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Values(pub(crate) BTreeMap<&'static str, FactValue>);

impl Values {
    pub(crate) fn number(&mut self, name: &'static str, value: f64) {
        self.0.insert(name, FactValue::Number(value));
    }

    /// Adds a number, if it is known.
    pub(crate) fn number_if(&mut self, name: &'static str, value: Option<f64>) {
        if let Some(value) = value {
            self.number(name, value);
        }
    }

    pub(crate) fn text(&mut self, name: &'static str, value: &str) {
        self.0.insert(name, FactValue::Text(value.to_owned()));
    }

    fn to_cel(&self) -> HashMap<String, Value> {
        let value = |value: &FactValue| match value {
            FactValue::Number(number) => Value::Float(*number),
            FactValue::Text(text) => Value::from(text.as_str()),
        };
        self.0.iter().map(|(name, of)| ((*name).to_owned(), value(of))).collect()
    }

    /// Returns values of all facts of a scope, for checks: each number is `number`.
    pub(crate) fn sample(scope: Scope, number: f64) -> Self {
        let mut values = Self::default();
        for fact in FACTS.iter().filter(|fact| fact.scope == scope) {
            if fact.is_text() {
                values.text(fact.name, "x");
            } else {
                values.number(fact.name, number);
            }
        }
        values
    }
}

/// Returns what expressions see of a run, and of a subject of a scope.
pub(crate) fn context(run: &Values, scope: Scope, subject: &Values) -> Context<'static, 'static> {
    let mut context = Context::default();
    context.add_variable_from_value(Scope::Run.word(), run.to_cel());
    if scope != Scope::Run {
        context.add_variable_from_value(scope.word(), subject.to_cel());
    }
    context
}
