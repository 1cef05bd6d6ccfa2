//! Rules as text: TOML, of which each rule is checked by itself.

use std::fmt;

use serde::Deserialize;
use tinyprof_report::Certainty;
use tinyprof_settings::near::{changes, is_near};
use toml::{Spanned, Table};

use crate::case::Case;
use crate::expression::{Expression, Wanted};
use crate::facts::Scope;
use crate::rule::Rule;
use crate::stack::on_large_stack;
use crate::template::Template;

/// The most bytes of a file of rules, and the most rules.
const BYTES_MAX: usize = 1 << 20;
const RULES_MAX: usize = 1_000;

/// A complaint about a rule, or about a file of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line, from 1 on, if it is known.
    pub line: Option<usize>,
    /// The complaint, and what to do.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.text),
            None => write!(f, "{}: {}", self.file, self.text),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    #[serde(default)]
    rule: Vec<Spanned<Table>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    name: String,
    #[serde(rename = "for")]
    scope: String,
    when: String,
    seconds: Option<String>,
    text: Option<String>,
    evidence: Option<String>,
    certainty: Option<String>,
    advice: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    case: Vec<Table>,
}

/// Returns the rules of a text that are right, and what is wrong with the others. Those of hints
/// have evidence.
pub(crate) fn parse(toml: &str, file: &str, is_hint: bool) -> (Vec<Rule>, Vec<Problem>) {
    let problem = |line: Option<usize>, text: String| Problem { file: file.to_owned(), line, text };
    if toml.len() > BYTES_MAX {
        return (Vec::new(), vec![problem(None, format!("is larger than {BYTES_MAX} bytes"))]);
    }
    let raw: RawFile = match toml::from_str(toml) {
        Ok(raw) => raw,
        Err(error) => {
            let line = error.span().map(|span| line_of(toml, span.start));
            let text = format!("{}; rules begin with [[rule]]", one_line(error.message()));
            return (Vec::new(), vec![problem(line, text)]);
        }
    };
    let checked = on_large_stack(|| checked(raw, toml, file, is_hint));
    checked.unwrap_or_else(|error| (Vec::new(), vec![problem(None, error)]))
}

/// Checks the rules of a file, each by itself.
fn checked(raw: RawFile, toml: &str, file: &str, is_hint: bool) -> (Vec<Rule>, Vec<Problem>) {
    let problem = |line: Option<usize>, text: String| Problem { file: file.to_owned(), line, text };
    let (mut rules, mut problems) = (Vec::new(), Vec::new());
    if raw.rule.len() > RULES_MAX {
        problems
            .push(problem(None, format!("has more than {RULES_MAX} rules: the rest is left out")));
    }
    for raw in raw.rule.into_iter().take(RULES_MAX) {
        let line = line_of(toml, raw.span().start);
        let table = raw.into_inner();
        let name = table.get("name").and_then(toml::Value::as_str).unwrap_or("?").to_owned();
        match rule(table, format!("{file}:{line}"), is_hint) {
            Ok(rule) => rules.push(rule),
            Err(Wrong { key, text }) => {
                let line = key.and_then(|key| line_of_key(toml, line, key)).unwrap_or(line);
                let at = key.map_or(String::new(), |key| format!("{key}: "));
                problems.push(problem(Some(line), format!("rule {name}: {at}{text}")));
            }
        }
    }
    (rules, problems)
}

/// What is wrong with the value of a key, or with a rule as a whole.
struct Wrong {
    key: Option<&'static str>,
    text: String,
}

fn rule(table: Table, origin: String, is_hint: bool) -> Result<Rule, Wrong> {
    let wrong = |text: String| Wrong { key: None, text };
    let of = |key: &'static str| move |text: String| Wrong { key: Some(key), text };
    let raw: RawRule =
        table.try_into().map_err(|error: toml::de::Error| wrong(one_line(error.message())))?;
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if raw.name.is_empty() || !raw.name.chars().all(is_word) {
        return Err(of("name")(
            "a name has small letters, digits and _, as in small_messages".into(),
        ));
    }
    let scope = Scope::of_word(&raw.scope).ok_or_else(|| of("for")(no_scope(&raw.scope)))?;
    let when = Expression::new(&raw.when, scope, Wanted::Condition).map_err(of("when"))?;
    let is_of_finding = scope == Scope::Finding;
    let gives = |key, has: bool| match (has, is_of_finding) {
        (true, true) => Err(of(key)("a rule for a finding gives advice alone".into())),
        (false, false) => Err(wrong(format!("{key} is missing: a rule for {} has it", raw.scope))),
        _ => Ok(()),
    };
    gives("seconds", raw.seconds.is_some())?;
    gives("text", raw.text.is_some())?;
    let seconds = raw.seconds.map(|text| Expression::new(&text, scope, Wanted::Number));
    let seconds = seconds.transpose().map_err(of("seconds"))?;
    let text = raw.text.map(|text| Template::new(&text, scope));
    let text = text.transpose().map_err(of("text"))?;
    let evidence = raw.evidence.map(|text| Template::new(&text, scope));
    let evidence = evidence.transpose().map_err(of("evidence"))?;
    let certainty = certainty(raw.certainty.as_deref(), is_hint).map_err(of("certainty"))?;
    if evidence.is_some() != is_hint {
        return Err(of("evidence")("is for built-in hints alone: text has the numbers".into()));
    }
    let advice = Template::new(&raw.advice, scope).map_err(of("advice"))?;
    let mut cases = Vec::new();
    for mut table in raw.case {
        let Some(toml::Value::Boolean(holds)) = table.remove("holds") else {
            return Err(wrong("a case has holds = true or false".into()));
        };
        cases.push(Case::new(holds, &table, scope).map_err(wrong)?);
    }
    let (name, source) = (raw.name, raw.source);
    Ok(Rule {
        name,
        scope,
        when,
        seconds,
        text,
        evidence,
        advice,
        certainty,
        source,
        cases,
        origin,
        is_built_in: is_hint,
        is_hint,
    })
}

fn certainty(word: Option<&str>, is_hint: bool) -> Result<Certainty, String> {
    match word {
        None if is_hint => Ok(Certainty::Measured),
        None => Ok(Certainty::AtMost),
        Some("estimated") if is_hint => Ok(Certainty::Estimated),
        Some("at most") if is_hint => Ok(Certainty::AtMost),
        Some(_) => Err("is for built-in hints alone: estimated, or at most".into()),
    }
}

fn no_scope(word: &str) -> String {
    let words = Scope::ALL.map(Scope::word);
    let near = words.iter().map(|known| (changes(word, known), *known));
    match near.filter(|(changed, known)| is_near(*changed, known)).min() {
        Some((_, known)) => format!("there is no {word}; did you mean {known}?"),
        None => format!("there is no {word}; there are {}", words.join(", ")),
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

/// Returns the line of a key in the rule that begins at a line.
fn line_of_key(text: &str, from: usize, key: &str) -> Option<usize> {
    let lines = (1..).zip(text.lines()).skip(from.saturating_sub(1));
    let is_key = |line: &str| {
        line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let mut of_rule = lines
        .enumerate()
        .take_while(|(number, (_, line))| *number == 0 || line.trim() != "[[rule]]");
    of_rule.find(|(_, (_, line))| is_key(line)).map(|(_, (number, _))| number)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &str = r#"
[[rule]]
name = "much_mpi"
for = "run"
when = "run.mpi_share >= 0.5"
seconds = "run.mpi_share * run.seconds"
text = "{run.mpi_share|percent} of the time is MPI"
advice = "Look at tinyprof mpi."
"#;

    fn problem(text: &str) -> String {
        let (_, problems) = parse(text, "my.toml", false);
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_problem_says_where_and_what_to_do() {
        assert_eq!(problem(RIGHT), "");
        let check = |from: &str, to: &str, expected: &str| {
            let found = problem(&RIGHT.replace(from, to));
            assert!(found.starts_with("my.toml:") && found.contains(expected), "{found}");
        };
        check("mpi_share >=", "mpi_shar >=", "my.toml:5: rule much_mpi: when: column");
        check("mpi_share >=", "mpi_shar >=", "did you mean run.mpi_share?");
        check("\"run\"", "\"runs\"", "my.toml:4: rule much_mpi: for: there is no runs");
        check("advice", "advise", "unknown field `advise`");
        check("advice", "#advice", "missing field `advice`");
        check("text =", "#text =", "text is missing: a rule for run has it");
        check("[[rule]]", "[[rules]]", "rules begin with [[rule]]");
        check("name = \"much_mpi\"", "name = much", "my.toml:3: ");
        check("much_mpi", "Much MPI", "small letters");
    }

    #[test]
    fn one_wrong_rule_leaves_the_others() {
        let text = format!("{RIGHT}{}", RIGHT.replace("mpi_share >=", "x >="));
        let (rules, problems) = parse(&text, "my.toml", false);
        assert_eq!((rules.len(), problems.len()), (1, 1));
        assert_eq!(problems[0].line, Some(13), "{problems:?}");
    }
}
